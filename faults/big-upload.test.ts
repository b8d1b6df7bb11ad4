import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, expect, test } from 'vitest'
import { type Caller, tokenCaller } from './caller.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { atRest } from './invariants.ts'
import { PLAN } from './plan.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const MB = 1024 * 1024
const MOST_MEMORY_BYTES = 300 * MB
const BLOCK = newContent(MB).bytes()

/** A body of any size in constant memory: one block again and again, each with its number in front. */
function* bigBody(sizeBytes: number): Generator<Buffer> {
  for (let offset = 0; offset < sizeBytes; offset += BLOCK.length) {
    const block = Buffer.from(BLOCK.subarray(0, sizeBytes - offset))
    block.writeBigUInt64LE(BigInt(offset), 0)
    yield block
  }
}

async function uploadBig(server: ServerProcess, caller: Caller, cid: string, sizeBytes: number): Promise<number> {
  const headers = { ...caller.headers, 'Content-Type': 'application/octet-stream', 'Content-Length': sizeBytes }
  const { hostname, port } = server.url
  const request = http.request({
    hostname,
    port,
    method: 'POST',
    path: `/api/upload?cid=${cid}`,
    headers,
    agent: false,
  })
  const answered = new Promise<number>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
  })
  await pipeline(Readable.from(bigBody(sizeBytes)), request)
  return answered
}

/** The digest of what is served, never holding more than a chunk of it. */
function downloadedSha256(server: ServerProcess, cid: string): Promise<string> {
  const hash = createHash('sha256')
  return new Promise((resolve, reject) => {
    http
      .get(new URL(`/p/${cid}`, server.url), { agent: false }, (response) => {
        response.on('data', (chunk: Buffer) => hash.update(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(hash.digest('hex')))
      })
      .on('error', reject)
  })
}

/** The most memory that a process ever had, as Linux counts it. */
function peakMemoryBytes(pid: number): number {
  const peakKb = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (peakKb === undefined) throw new Error('Linux does not say how much memory the process had.')
  return Number(peakKb) * 1024
}

describe('a very large upload', () => {
  test('is taken and given back whole in less than 300 MiB of memory', async () => {
    const sizeBytes = PLAN.bigUploadBytes
    const hash = createHash('sha256')
    for (const block of bigBody(sizeBytes)) hash.update(block)
    const cid = hash.digest('hex')
    const server = await startServer({ env: { LADE_TOKEN_DAILY_MB: String(sizeBytes / MB) } })
    const user = await tokenCaller(server.url)

    const startedAt = performance.now()
    expect(await uploadBig(server, user, cid, sizeBytes)).toBe(200)
    const uploadedAt = performance.now()
    expect(await downloadedSha256(server, cid)).toBe(cid)
    const downloadedAt = performance.now()
    const peakBytes = peakMemoryBytes(server.pid)
    const rate = (ms: number): string => `${Math.round(sizeBytes / MB / (ms / 1000))} MiB/s`
    process.stderr.write(
      `${sizeBytes / MB} MiB: up ${rate(uploadedAt - startedAt)}, down ${rate(downloadedAt - uploadedAt)}, ` +
        `peak memory ${Math.round(peakBytes / MB)} MiB\n`,
    )
    expect(peakBytes).toBeLessThan(MOST_MEMORY_BYTES)
    const data = readDataDirectory(server.dataDir)
    expect(data.usage.get(user.principal)).toBe(sizeBytes)
    expect(atRest(data)).toEqual([])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})
