import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { pieceCidV2 } from '@lade/core/piece'
import { describe, expect, test } from 'vitest'
import { LevelHasher } from './pieces/level-hasher.ts'
import { pieceOf, temporaryDir } from './testing/harness.ts'
import { startProverProcess } from './testing/prover-process.ts'
import { synapseClient } from './testing/synapse-client.ts'

const isFull = process.env.LADE_TEST_PLAN === 'full'
const KILLS = isFull ? 50 : 5
const MiB = 1024 * 1024

/** Opens an upload and sends as many bytes of it as are given, leaving it open. */
async function sendSome(url: string, pieceCid: string, totalBytes: number, bytes: Uint8Array) {
  const created = await fetch(`${url}/pdp/piece`, { method: 'POST', body: JSON.stringify({ pieceCid }) })
  const put = request(new URL(created.headers.get('location') ?? '', url), {
    method: 'PUT',
    headers: { 'content-length': totalBytes },
  })
  const { promise: answered, resolve } = Promise.withResolvers<number | undefined>()
  put.on('response', ({ statusCode }) => resolve(statusCode))
  put.on('error', () => resolve(undefined))
  put.write(bytes)
  return { put, answered }
}

describe('the prover as a process', () => {
  test('says where it is in one line, and drains on SIGTERM', async () => {
    const dir = await temporaryDir()
    const prover = await startProverProcess(dir)
    expect(prover.line).toBe(`The prover is ready at ${prover.url} (data in ${dir})`)
    const piece = pieceOf(100_000)
    const { put, answered } = await sendSome(prover.url, piece.pieceCid, 100_000, piece.bytes.subarray(0, 50_000))
    await expect.poll(() => readdir(join(dir, 'pending'))).toHaveLength(1)
    const asked = performance.now()
    const ended = prover.end('SIGTERM')
    put.end(piece.bytes.subarray(50_000))
    expect(await answered).toBe(204)
    expect(await ended).toBe(0)
    expect(performance.now() - asked).toBeLessThan(5000)
    expect(await readdir(join(dir, 'pieces'))).toEqual([piece.pieceCid])
  })

  test('has after kill -9 every piece that it answered for, and nothing half', { timeout: 300_000 }, async () => {
    const dir = await temporaryDir()
    const acknowledged: string[] = []
    for (let kill = 0; kill < KILLS; kill += 1) {
      const prover = await startProverProcess(dir)
      expect(await readdir(join(dir, 'pending'))).toEqual([])
      const client = synapseClient(prover.url)
      for (const pieceCid of acknowledged) expect(await client.findPiece(pieceCid)).toBe(pieceCid)
      const half = pieceOf(500_000, 1000 + kill)
      const { answered } = await sendSome(prover.url, half.pieceCid, 500_000, half.bytes.subarray(0, 300_000))
      const before = acknowledged.length
      const uploads = Array.from({ length: 20 }, async (_, index) => {
        const piece = pieceOf(70_000 + index, 100 * kill + index + 1)
        await client.uploadPiece(piece.pieceCid, piece.bytes)
        acknowledged.push(piece.pieceCid)
      })
      const settled = Promise.allSettled(uploads)
      await expect.poll(() => acknowledged.length, { interval: 1 }).toBeGreaterThan(before + (kill % 10))
      expect(await prover.end('SIGKILL')).toBe(null)
      await settled
      expect(await answered).toBeUndefined()
    }
    const prover = await startProverProcess(dir)
    const held = await readdir(join(dir, 'pieces'))
    expect(held).toEqual(expect.arrayContaining(acknowledged))
    for (const pieceCid of held) {
      const hasher = new LevelHasher()
      hasher.update(await synapseClient(prover.url).download(pieceCid))
      expect(pieceCidV2(hasher.finish())).toBe(pieceCid)
    }
  })

  test.runIf(isFull)(
    'holds, proves and gives back 300 MiB in bounded memory',
    { timeout: 300_000, meta: { skippedBecause: 'only the full plan has it: npm run test:full' } },
    async () => {
      const prover = await startProverProcess(await temporaryDir())
      const block = Buffer.from(pieceOf(MiB).bytes)
      const hasher = new LevelHasher()
      const sent = createHash('sha256')
      for (let count = 0; count < 300; count += 1) {
        hasher.update(block)
        sent.update(block)
      }
      const pieceCid = pieceCidV2(hasher.finish())
      const idleBytes = prover.peakBytes()
      const { put, answered } = await sendSome(prover.url, pieceCid, 300 * MiB, block)
      for (let count = 1; count < 300; count += 1) {
        if (!put.write(block)) await new Promise((resolve) => put.once('drain', resolve))
      }
      put.end()
      expect(await answered).toBe(204)

      const body = JSON.stringify({ seed: `0x${'07'.repeat(32)}`, count: 20, pieceCid })
      expect((await fetch(`${prover.url}/pdp/prove`, { method: 'POST', body })).status).toBe(200)
      const received = createHash('sha256')
      const answer = await fetch(`${prover.url}/piece/${pieceCid}`)
      for await (const chunk of answer.body ?? []) received.update(chunk)
      expect(received.digest('hex')).toBe(sent.digest('hex'))
      expect(prover.peakBytes() - idleBytes).toBeLessThan(100 * MiB)
    },
  )
})
