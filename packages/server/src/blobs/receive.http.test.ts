import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { blobOf, expectBytes, get, HOLDER, listed } from './conformance/case.ts'
import { seededBytes } from './conformance/seeded-bytes.ts'
import { openTempStore, type TempStore } from './drivers/fs/testing-temp-store.ts'
import { receiveBlob, receiveInline } from './receive.ts'

const id = parseContentId('whatever', sha256Hex)

/** What the server made of a body: a digest, or the error it met. */
type Outcome = { sha256: string } | { error: unknown }

let home: TempStore
let server: Server
let port: number
let outcomes: Outcome[]
let take: (incoming: IncomingMessage, sizeBytes: number) => Promise<string>

async function takeIntoStore(incoming: IncomingMessage, sizeBytes: number): Promise<string> {
  const blob = await receiveBlob(home.store, HOLDER, incoming, { sizeBytes, id })
  await blob.commit()
  return blob.digests.sha256
}

beforeEach(async () => {
  home = await openTempStore()
  outcomes = []
  take = takeIntoStore
  server = createServer((incoming, response) => {
    take(incoming, Number(incoming.headers['content-length'])).then(
      (sha256) => {
        outcomes.push({ sha256 })
        response.end(sha256)
      },
      (error: unknown) => {
        outcomes.push({ error })
        response.destroy()
      },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await home.remove()
})

/** Sends `chunks` as one body and answers what the server said. */
function send(chunks: readonly Uint8Array[]): Promise<string> {
  const sizeBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': sizeBytes } })
    outgoing.on('error', reject)
    outgoing.on('response', (response) => {
      let answer = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => {
        answer += text
      })
      response.on('end', () => resolve(answer))
    })
    for (const chunk of chunks) outgoing.write(chunk)
    outgoing.end()
  })
}

describe('receiveBlob, from an HTTP request onto disk', () => {
  test('stores what was sent, however it was cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 90_000 }), { minLength: 1, maxLength: 25 }),
        fc.integer(),
        async (lengths, seed) => {
          const chunks = lengths.map((length, index) => seededBytes(length, seed + index))
          const whole = blobOf(Buffer.concat(chunks))
          expect(await send(chunks)).toBe(whole.sha256)
          expectBytes(await get(home.store, whole.sha256), whole.bytes)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('stores several big bodies at once on a disk that is slower than the network', async () => {
    const { write } = home.watched.files
    home.watched.files.write = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return write(...args)
    }
    const blobs = Array.from({ length: 4 }, (_, index) => blobOf(seededBytes(5_000_000 + index, index)))
    const answers = await Promise.all(blobs.map(({ bytes }) => send([bytes])))
    expect(answers).toEqual(blobs.map(({ sha256 }) => sha256))
    for (const blob of blobs) expectBytes(await get(home.store, blob.sha256), blob.bytes)
  })

  test('misses nothing of a body that arrives while the store is still making room', async () => {
    const { open } = home.watched.files
    home.watched.files.open = async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 30))
      return open(...args)
    }
    const blob = blobOf(seededBytes(700_000, 1))
    expect(await send([blob.bytes])).toBe(blob.sha256)
  })

  test('refuses the body of a client that hangs up, and leaves nothing', async () => {
    for (const sentBytes of [0, 1_000, 3_000_000]) {
      outcomes = []
      const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': 5_000_000 } })
      outgoing.on('error', () => {}) // its own hanging up
      outgoing.flushHeaders()
      await new Promise<unknown>((resolve) => outgoing.write(Buffer.alloc(sentBytes), resolve))
      await new Promise((resolve) => setTimeout(resolve, 30))
      outgoing.destroy()
      await expect.poll(() => outcomes).toHaveLength(1)
      const [outcome] = outcomes
      const error = outcome !== undefined && 'error' in outcome ? outcome.error : undefined
      expect(LadeError.has(error, 'incomplete_body') && error.evidence.expectedBytes).toBe(5_000_000)
      expect(await home.store.sweepPending(HOLDER)).toBe(0)
      expect(await listed(home.store)).toEqual([])
      expect(home.watched.openPaths.size).toBe(0)
    }
  })

  test('gives back the LadeError that the request was destroyed with', async () => {
    const timeout = new LadeError('body_timeout', { receivedBytes: 0 })
    take = async (incoming, sizeBytes) => {
      setTimeout(() => incoming.destroy(timeout), 20)
      return takeIntoStore(incoming, sizeBytes)
    }
    const outgoing = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': 10 } })
    outgoing.on('error', () => {}) // the server hangs up on it
    outgoing.flushHeaders()
    await expect.poll(() => outcomes).toEqual([{ error: timeout }])
    outgoing.destroy()
  })

  test('error: a full disk in the middle of a body ends it, and leaves nothing', async () => {
    home.watched.failNext('write', 'ENOSPC', 1)
    await expect(send([seededBytes(4_000_000, 2)])).rejects.toThrow()
    const [outcome] = outcomes
    expect(LadeError.has(outcome !== undefined && 'error' in outcome && outcome.error, 'insufficient_storage')).toBe(
      true,
    )
    expect(await home.store.sweepPending(HOLDER)).toBe(0)
  })
})

describe('receiveInline, from an HTTP request', () => {
  test('collects what was sent', async () => {
    take = async (incoming, sizeBytes) => (await receiveInline(incoming, { sizeBytes, id })).digests.sha256
    for (const sizeBytes of [1, 4_096, 100_000]) {
      const blob = blobOf(seededBytes(sizeBytes, 3))
      expect(await send([blob.bytes.subarray(0, 1), blob.bytes.subarray(1)])).toBe(blob.sha256)
    }
  })
})
