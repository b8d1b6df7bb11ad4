import { importer } from 'ipfs-unixfs-importer'
import { expect, test } from 'vitest'
import { expectUnharmed, LEAST_P99_MS, measureAttack } from './attack.ts'
import { send } from './caller.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { startServer } from './server-process.ts'

const MIB = 1024 * 1024
const MOST_FACTOR = 3

/** One caller that uploads a body of so many blocks of 1 MiB under its id, again and again. */
const UPLOADS = `
  const http = require('node:http')
  const [port, cid, blocks] = process.argv.slice(1)
  const block = Buffer.alloc(1048576)
  const put = () => {
    const headers = { 'content-type': 'application/octet-stream', 'content-length': blocks * block.length }
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/api/upload?cid=' + cid, headers, localAddress: '127.0.1.1' }
    const request = http.request(options, (response) => {
      response.resume()
      response.on('end', put)
    })
    request.on('error', () => setTimeout(put, 50))
    let sent = 0
    const send = () => {
      while (sent < blocks) {
        sent += 1
        if (!request.write(Buffer.alloc(block.length, sent & 255))) return request.once('drain', send)
      }
      request.end()
    }
    send()
  }
  put()`

/** The CID of that body under the profile that the service tries first. */
async function cidOf(blocks: number): Promise<string> {
  const content = (function* () {
    for (let sent = 1; sent <= blocks; sent += 1) yield Buffer.alloc(MIB, sent & 255)
  })()
  const nowhere = { put: async (cid: unknown) => cid as never }
  for await (const { cid } of importer([{ content }], nowhere as never, { profile: 'unixfs-v1-2025' })) {
    return cid.toString()
  }
  throw new Error('the importer gave no root')
}

test(`one caller that uploads ${PLAN.sharedUploadBytes / MIB} MiB under a UnixFS id leaves others their small uploads`, async () => {
  const blocks = PLAN.sharedUploadBytes / MIB
  const server = await startServer({ env: { ...BOUNDLESS_QUOTAS, LADE_SPONSORED_FILE_MB: String(blocks) } })
  const small = { headers: { 'content-type': 'application/octet-stream' }, body: Buffer.alloc(MIB, 1) }
  expect((await send(server.url, 'POST', `/api/upload?cid=${await cidOf(1)}`, small)).status).toBe(200)
  const args = [await cidOf(blocks), String(blocks)]
  const seen = await measureAttack({ server, script: UPLOADS, args, forMs: PLAN.attackMs })
  if (PLAN.isFull) {
    const mostMs = MOST_FACTOR * Math.max(seen.quiet.smallP99Ms, LEAST_P99_MS)
    expect(seen.attacked.smallP99Ms, JSON.stringify(seen)).toBeLessThan(mostMs)
  }
  await expectUnharmed(server, 'big uploads under a UnixFS id', seen)
}, 300_000)
