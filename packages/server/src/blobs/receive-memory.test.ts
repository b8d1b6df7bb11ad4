import { LadeError } from '@lade/core/errors'
import type { ContentHashers } from '@lade/node/hashing/content-hasher'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { describe, expect, test } from 'vitest'
import { blobOf, expectBytes, get, HOLDER } from './conformance/case.ts'
import { seededBytes } from './conformance/seeded-bytes.ts'
import { openMemoryBlobStore } from './drivers/memory/memory-blob-store.ts'
import { receiveBlob } from './receive.ts'
import { PushedBody } from './testing-pushed-body.ts'
import { BLOB, bodyOf, expectNothingLeft, idOf, optionsFor, storeWith } from './testing-receive.ts'

const MIB = 1024 * 1024

/** What so many big bodies have sent in the end while the store takes nothing: this much at the least. */
async function heldMiBWhileStalled(count: number, leastMiB: number): Promise<number> {
  const chunk = Buffer.alloc(MIB / 4)
  const bytes = Buffer.alloc(14 * MIB)
  let goOn = (): void => {}
  const stands = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const store = storeWith((pending) => ({
    async write(block) {
      await stands
      await pending.write(block)
    },
  }))
  const bodies = Array.from({ length: count }, () => new PushedBody())
  const options = { sizeBytes: bytes.length, id: idOf(sha256Hex(bytes)) }
  const receiving = bodies.map((body) => receiveBlob(store, HOLDER, body, options))
  for (let offset = 0; offset < bytes.length; offset += chunk.length) for (const body of bodies) body.push(chunk)
  for (const body of bodies) body.end()
  const heldMiB = () => bodies.reduce((sum, { deliveredBytes }) => sum + deliveredBytes, 0) / MIB
  await expect.poll(heldMiB).toBeGreaterThanOrEqual(leastMiB)
  // Whatever more they could send comes in this time.
  await new Promise((resolve) => setTimeout(resolve, 100))
  const mostMiB = heldMiB()
  goOn()
  for (const received of await Promise.all(receiving)) await received.abort()
  return mostMiB
}

describe('the memory of receiveBlob', () => {
  test('reuses its shared buffers without mixing bodies received at once', async () => {
    const store = openMemoryBlobStore()
    const blobs = Array.from({ length: 6 }, (_, index) => blobOf(seededBytes(3_300_000 + index, index)))
    for (let round = 0; round < 2; round++) {
      const received = await Promise.all(
        blobs.map(({ bytes, sha256 }) =>
          receiveBlob(store, HOLDER, bodyOf(bytes, 70_001), { sizeBytes: bytes.length, id: idOf(sha256) }),
        ),
      )
      for (const blob of received) await blob.commit()
    }
    for (const blob of blobs) expectBytes(await get(store, blob.sha256), blob.bytes)
  })

  test('holds four buffers and one chunk at most, and pauses the source meanwhile', async () => {
    const chunkBytes = 1_000
    let writtenBytes = 0
    let mostHeldBytes = 0
    const body = new PushedBody()
    const store = storeWith((pending) => ({
      async write(chunk) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        mostHeldBytes = Math.max(mostHeldBytes, body.deliveredBytes - writtenBytes)
        await pending.write(chunk)
        writtenBytes += chunk.length
      },
    }))
    const receiving = receiveBlob(store, HOLDER, body, optionsFor(BLOB))
    for (let offset = 0; offset < BLOB.bytes.length; offset += chunkBytes) {
      body.push(BLOB.bytes.subarray(offset, offset + chunkBytes))
    }
    body.end()
    await (await receiving).commit()
    expect(body.pauseCount).toBeGreaterThan(5)
    expect(mostHeldBytes).toBeGreaterThan(10_000) // it did receive while it wrote
    expect(mostHeldBytes).toBeLessThanOrEqual(40_000 + chunkBytes)
  })

  test.each([
    ['one body', 1, 5, 12],
    ['fourteen bodies', 14, 20, 24 + 4 * 14],
  ])('holds no more of %s while the store stands still than there is room for', async (_, count, leastMiB, mostMiB) => {
    const heldMiB = await heldMiBWhileStalled(count, leastMiB)
    // Four for each, of 64 KiB when twenty-four are in use, and what is spare; one chunk of each body may wait for a block.
    expect(heldMiB).toBeLessThanOrEqual(mostMiB + count / 4)
  })

  test('gives back the blocks of bodies that a store or a hasher failed', async () => {
    const bytes = Buffer.alloc(14 * MIB)
    const options = { sizeBytes: bytes.length, id: idOf(sha256Hex(bytes)) }
    const fail = async () => {
      throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
    }
    const failing: ContentHashers = () => ({ ready: async () => {}, update: fail, digests: fail, discard: () => {} })
    for (let round = 0; round < 12; round += 1) {
      const store = storeWith(() => (round % 2 === 0 ? { write: fail } : {}))
      const hashers = round % 2 === 0 ? {} : { hashers: failing }
      await expect(receiveBlob(store, HOLDER, bodyOf(bytes, MIB), { ...options, ...hashers })).rejects.toThrow()
    }
    // Four blocks and one chunk is all that a body gets when there is none to spare.
    await heldMiBWhileStalled(1, 5)
  })

  test('error: a failing hasher leaves no write under way behind', async () => {
    let isWriting = false
    const store = storeWith((pending) => ({
      async write(block) {
        isWriting = true
        await new Promise((resolve) => setTimeout(resolve, 20))
        await pending.write(block)
        isWriting = false
      },
      async abort() {
        expect(isWriting).toBe(false)
        await pending.abort()
      },
    }))
    const failure = new Error('a worker that died')
    const failing: ContentHashers = () => ({
      ready: async () => {},
      update: () => Promise.reject(failure),
      digests: () => Promise.reject(failure),
      discard: () => {},
    })
    const receiving = receiveBlob(store, HOLDER, bodyOf(BLOB.bytes), optionsFor(BLOB, { hashers: failing }))
    await expect(receiving).rejects.toBe(failure)
    await expectNothingLeft(store, BLOB)
  })

  test('gives the memory of chunks back when they are its own, and leaves those of others alone', async () => {
    const chunksOf = () => Array.from({ length: 40 }, (_, index) => new Uint8Array(5_000).fill(index))
    for (const ownsChunks of [true, false]) {
      const chunks = chunksOf()
      const { bytes, sha256 } = blobOf(Buffer.concat(chunks))
      const store = openMemoryBlobStore()
      const body = new PushedBody()
      const options = { sizeBytes: bytes.length, id: idOf(sha256), bufferBytes: 17_000, ownsChunks }
      const receiving = receiveBlob(store, HOLDER, body, options)
      for (const chunk of chunks) body.push(chunk)
      body.end()
      await (await receiving).commit()
      expectBytes(await get(store, sha256), bytes)
      expect(chunks.every((chunk) => chunk.length === (ownsChunks ? 0 : 5_000))).toBe(true)
    }
  })

  test('takes no more memory than a small body has', async () => {
    let bufferBytes = 0
    const store = storeWith((pending) => ({
      write: (chunk) => {
        bufferBytes = chunk.buffer.byteLength
        return pending.write(chunk)
      },
    }))
    await receiveBlob(store, HOLDER, bodyOf(Buffer.from('tiny')), { sizeBytes: 4, id: idOf('whatever') })
    expect(bufferBytes).toBe(4)
  })
})
