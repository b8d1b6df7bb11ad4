import { LadeError } from '@lade/core/errors'
import { describe, expect, test } from 'vitest'
import type { ConformanceCase } from './conformance/case.ts'
import { type BlobStoreSubject, describeBlobStore, runCase, runGap } from './conformance.ts'
import { openMemoryBlobStore } from './drivers/memory/memory-blob-store.ts'

const passing: ConformanceCase = { title: 'passes', run: async () => {} }
const failing: ConformanceCase = {
  title: 'fails',
  run: async () => {
    throw new Error('as it must')
  },
}

function subject(): BlobStoreSubject & { discarded: number } {
  return {
    discarded: 0,
    open: async () => openMemoryBlobStore(),
    async discard() {
      this.discarded += 1
    },
  }
}

describe('runCase', () => {
  test('discards the store when the case passes and when it fails', async () => {
    const counted = subject()
    await runCase(passing, counted)
    await expect(runCase(failing, counted)).rejects.toThrow('as it must')
    expect(counted.discarded).toBe(2)
  })

  test('says what the medium said, which reports leave out', async () => {
    const item: ConformanceCase = {
      title: 'fails',
      run: async () => {
        throw new LadeError('storage_failed', { retryAfterSeconds: 10 }, { cause: new Error('PutObject: ETIMEDOUT') })
      },
    }
    await expect(runCase(item, subject())).rejects.toThrow('storage_failed: PutObject: ETIMEDOUT')
  })
})

describe('runGap', () => {
  test('takes a failing case for what was admitted', async () => {
    await expect(runGap(failing, subject())).resolves.toBeUndefined()
  })

  test('refuses a gap that passes', async () => {
    await expect(runGap(passing, subject())).rejects.toThrow('it is no gap any more')
  })
})

describe('describeBlobStore', () => {
  test('refuses a gap that names no case', () => {
    const gaps = [{ test: 'no such title', because: 'a typing error' }]
    expect(() => describeBlobStore('mistyped', { ...subject(), gaps })).toThrow(TypeError)
  })
})
