import { expect } from 'vitest'
import type { BlobStore, ResumableBlob } from '../blob-store.ts'
import { blobOf, type ConformanceCase, expectBytes, expectInvisible, get, listed, put } from './case.ts'
import { seededBytes } from './seeded-bytes.ts'

const UPLOAD = 'open-upload-1'

interface Resuming {
  readonly place?: string
  readonly keptBytes?: number
  readonly sizeBytes?: number
}

async function resumed(store: BlobStore, resuming: Resuming = {}): Promise<ResumableBlob> {
  const blob = await store.resume({ holder: UPLOAD, place: '', keptBytes: 0, sizeBytes: undefined, ...resuming })
  if (blob === undefined) throw new Error('Nothing is there to be resumed.')
  return blob
}

async function readAll(blob: ResumableBlob, range?: { offset: number; length: number }): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.read(range)) chunks.push(Uint8Array.from(chunk))
  return Buffer.concat(chunks)
}

export const RESUMING_CASES: readonly ConformanceCase[] = [
  {
    title: 'resumes an upload again and again, and commits all of it',
    async run({ store, subject }) {
      const boundary = subject.boundaryBytes ?? 4096
      for (const stepBytes of [boundary, boundary / 2 + 11, 2 * boundary + 5]) {
        const whole = blobOf(seededBytes(3 * boundary + 1234, stepBytes))
        let place = ''
        let at = 0
        while (at < whole.bytes.length) {
          const blob = await resumed(store, { place, keptBytes: at, sizeBytes: whole.bytes.length })
          const step = whole.bytes.subarray(at, at + stepBytes)
          await blob.write(step.subarray(0, 77))
          await blob.write(step.subarray(77))
          place = await blob.keep()
          at += step.length
          expectBytes(await readAll(blob), whole.bytes.subarray(0, at))
          await blob.close()
          await expectInvisible(store, whole.sha256)
        }
        const blob = await resumed(store, { place, keptBytes: at, sizeBytes: at })
        await blob.commit(whole.sha256)
        await blob.close()
        expectBytes(await get(store, whole.sha256), whole.bytes)
        expect(await store.sweepPending(UPLOAD)).toBeGreaterThan(0)
        expectBytes(await get(store, whole.sha256), whole.bytes)
        expect(await store.pendingHolders()).not.toContain(UPLOAD)
      }
    },
  },
  {
    title: 'reads any window of what was written',
    async run({ store, subject }) {
      const boundary = subject.boundaryBytes ?? 4096
      const bytes = seededBytes(2 * boundary + 999, 2)
      const blob = await resumed(store)
      await blob.write(bytes)
      for (const [offset, length] of [
        [0, 512],
        [boundary - 3, 7],
        [2 * boundary, 999],
        [5, 0],
      ] as const) {
        expectBytes(await readAll(blob, { offset, length }), bytes.subarray(offset, offset + length))
      }
      await blob.close()
    },
  },
  {
    title: 'forgets what was written behind the bytes that are resumed',
    async run({ store, subject }) {
      const boundary = subject.boundaryBytes ?? 4096
      const bytes = seededBytes(boundary + 500, 3)
      const first = await resumed(store)
      await first.write(bytes.subarray(0, 300))
      const place = await first.keep()
      await first.write(seededBytes(2 * boundary, 4))
      await first.close()
      const again = await resumed(store, { place, keptBytes: 300 })
      await again.write(bytes.subarray(300))
      const { sha256 } = blobOf(bytes)
      await again.commit(sha256)
      await again.close()
      expectBytes(await get(store, sha256), bytes)
    },
  },
  {
    title: 'keeps an upload across a restart, to be found by its holder',
    needs: ['reopen'],
    async run(fixture) {
      const { store, subject } = fixture
      const boundary = subject.boundaryBytes ?? 4096
      const bytes = seededBytes(boundary + 500, 5)
      const blob = await resumed(store)
      await blob.write(bytes.subarray(0, boundary + 100))
      const place = await blob.keep()
      await blob.close()
      const again = (await subject.reopen?.(store)) ?? store
      fixture.store = again
      expect(await again.pendingHolders()).toContain(UPLOAD)
      const other = await resumed(again, { place, keptBytes: boundary + 100 })
      await other.write(bytes.subarray(boundary + 100))
      const { sha256 } = blobOf(bytes)
      await other.commit(sha256)
      await other.close()
      expectBytes(await get(again, sha256), bytes)
    },
  },
  {
    title: 'resumes what was committed, without a change to what is readable',
    async run({ store, subject }) {
      const boundary = subject.boundaryBytes ?? 4096
      const [one, other] = [seededBytes(boundary + 500, 6), seededBytes(boundary + 500, 7)]
      other.set(one.subarray(0, 200))
      const first = await resumed(store)
      await first.write(one.subarray(0, 200))
      const place = await first.keep()
      await first.write(one.subarray(200))
      await first.commit(blobOf(one).sha256)
      await first.close()
      const again = await resumed(store, { place, keptBytes: 200 })
      await again.write(other.subarray(200))
      await again.commit(blobOf(other).sha256)
      await again.close()
      expectBytes(await get(store, blobOf(one).sha256), one)
      expectBytes(await get(store, blobOf(other).sha256), other)
    },
  },
  {
    title: 'commits an upload of bytes that are there already',
    async run({ store }) {
      const blob = blobOf(seededBytes(70_000, 8))
      await put(store, blob)
      const upload = await resumed(store)
      await upload.write(blob.bytes)
      await upload.commit(blob.sha256)
      await upload.close()
      expectBytes(await get(store, blob.sha256), blob.bytes)
      expect(await listed(store)).toEqual([blob.sha256])
    },
  },
  {
    title: 'does not resume what is not there',
    async run({ store }) {
      const missing = { holder: UPLOAD, keptBytes: 10, sizeBytes: 20 }
      for (const place of ['', '0', '../../etc', '{}']) {
        expect(await store.resume({ ...missing, place }), place).toBeUndefined()
      }
      const blob = await resumed(store)
      await blob.write(Buffer.from('0123456789'))
      const place = await blob.keep()
      await blob.close()
      expect(await store.sweepPending(UPLOAD)).toBe(1)
      expect(await store.resume({ ...missing, place })).toBeUndefined()
    },
  },
]
