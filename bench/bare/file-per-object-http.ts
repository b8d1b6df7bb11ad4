/**
 * Bare server: the file operations of `file-per-object.ts` behind node:http, for information: what HTTP alone costs.
 *
 * Argument: `{"dir": "…"}`. Prints its address.
 */
import { openSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { storeDurably } from './durable-object.ts'
import { serveBare } from './serve-bare.ts'

const { dir }: { dir: string } = JSON.parse(process.argv[2] ?? '')
const directory = openSync(dir, 'r')
let stored = 0

serveBare(async (request) => {
  await storeDurably(dir, directory, String(stored++), await readWhole(request))
  return '{}'
})

function readWhole(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', reject)
  })
}
