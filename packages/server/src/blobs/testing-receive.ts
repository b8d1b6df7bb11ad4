import { parseContentId } from '@lade/core/content'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { expect } from 'vitest'
import type { BlobStore, PendingBlob } from './blob-store.ts'
import { blobOf, expectInvisible, HOLDER, type SampleBlob } from './conformance/case.ts'
import { seededBytes } from './conformance/seeded-bytes.ts'
import { openMemoryBlobStore } from './drivers/memory/memory-blob-store.ts'
import type { SizedReceiveOptions } from './receive.ts'
import { PushedBody } from './testing-pushed-body.ts'

export const BLOB = blobOf(seededBytes(100_000, 1))
export const idOf = (text: string) => parseContentId(text, sha256Hex)

export function bodyOf(bytes: Uint8Array, chunkBytes = 16_384): PushedBody {
  const body = new PushedBody()
  for (let offset = 0; offset < bytes.length; offset += chunkBytes)
    body.push(bytes.subarray(offset, offset + chunkBytes))
  return body.end()
}

export function optionsFor(blob: SampleBlob, more: Partial<SizedReceiveOptions> = {}): SizedReceiveOptions {
  return { sizeBytes: blob.bytes.length, id: idOf(blob.sha256), bufferBytes: 10_000, ...more }
}

/** A memory store of which some steps of pending blobs are replaced. */
export function storeWith(change: (pending: PendingBlob) => Partial<PendingBlob>): BlobStore {
  const store = openMemoryBlobStore()
  const begin = store.begin.bind(store)
  store.begin = async (options) => {
    const pending = await begin(options)
    const steps: PendingBlob = {
      put: pending.put,
      write: (chunk) => pending.write(chunk),
      flush: () => pending.flush(),
      commit: (sha256) => pending.commit(sha256),
      abort: () => pending.abort(),
    }
    return { ...steps, ...change(pending) }
  }
  return store
}

export async function expectNothingLeft(store: BlobStore, blob: SampleBlob): Promise<void> {
  await expectInvisible(store, blob.sha256)
  expect(await store.sweepPending(HOLDER)).toBe(0)
}
