/**
 * Bare server: receives a body over node:http, hashes it on the main thread, writes it, and answers once it is
 * durable. The shortest loop that does what an upload must do, and the first of two baselines. One upload at a time.
 *
 * Argument: `{"dir": "…"}`. Prints its address; answers `{"sha256": "…"}`.
 */
import { createHash } from 'node:crypto'
import { coalesce } from './coalesce.ts'
import { DurableFile } from './durable-file.ts'
import { serveBare } from './serve-bare.ts'

const BUFFER_BYTES = 1024 * 1024
/** One that fills, one that is hashed and written, one in reserve. */
const BUFFERS = 3

const { dir }: { dir: string } = JSON.parse(process.argv[2] ?? '')
const free = Array.from({ length: BUFFERS }, () => Buffer.allocUnsafeSlow(BUFFER_BYTES))
let uploads = 0

serveBare(async (request) => {
  const file = await DurableFile.create(`${dir}/bare-${uploads++}`)
  const hash = createHash('sha256')
  await coalesce(request, free, (bytes, release) => {
    // The write starts first, so that the thread pool copies while this thread hashes.
    file.append(bytes, release)
    hash.update(bytes)
  })
  await file.finish()
  return JSON.stringify({ sha256: hash.digest('hex') })
})
