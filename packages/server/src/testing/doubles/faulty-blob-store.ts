import { LadeError } from '@lade/core/errors'
import type { BlobStore, OpenBlob, PendingBlob, ResumableBlob } from '../../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../../blobs/drivers/memory/memory-blob-store.ts'

/** Where a store can be made to fail. `after-commit` makes the blob readable and then fails. */
export type BlobFault =
  | 'begin'
  | 'write'
  | 'flush'
  | 'commit'
  | 'after-commit'
  | 'abort'
  | 'open'
  | 'delete'
  | 'quarantine'
  | 'sweep'

/** A blob store in memory whose next calls fail on demand, and which can be watched and held up. */
export interface FaultyBlobStore extends BlobStore {
  /** Makes the next `times` calls fail with `storage_failed`. */
  fail(fault: BlobFault, times?: number): void
  /** Runs before a delete is carried out; its promise holds the delete up. */
  beforeDelete: (sha256: string) => Promise<void> | void
  /** Runs before a commit is carried out; its promise holds the commit up. */
  beforeCommit: (sha256: string) => Promise<void> | void
  /** What can be read now, in ascending order. */
  digests(): Promise<readonly string[]>
}

export function openFaultyBlobStore(): FaultyBlobStore {
  const inner = openMemoryBlobStore()
  const left = new Map<BlobFault, number>()
  const meet = (fault: BlobFault): void => {
    const times = left.get(fault) ?? 0
    if (times === 0) return
    left.set(fault, times - 1)
    throw new LadeError('storage_failed', { retryAfterSeconds: 1 }, { cause: new Error(`injected: ${fault}`) })
  }
  const store: FaultyBlobStore = {
    ...inner,
    fail: (fault, times = 1) => void left.set(fault, times),
    beforeDelete: () => {},
    beforeCommit: () => {},
    async digests() {
      const digests: string[] = []
      for await (const { sha256 } of inner.list()) digests.push(sha256)
      return digests
    },
    async begin(options) {
      meet('begin')
      const pending = await inner.begin(options)
      return faultyPending(pending, meet, (sha256) => store.beforeCommit(sha256))
    },
    async resume(options) {
      const blob = await inner.resume(options)
      return blob && faultyResumable(blob, meet, (sha256) => store.beforeCommit(sha256))
    },
    async open(sha256) {
      meet('open')
      const blob = await inner.open(sha256)
      return blob && faultyBlob(blob, meet)
    },
    async delete(blob, options) {
      await store.beforeDelete(blob.sha256)
      meet('delete')
      return inner.delete(blob, options)
    },
    async sweepPending(holder) {
      meet('sweep')
      return inner.sweepPending(holder)
    },
  }
  return store
}

type Meet = (fault: BlobFault) => void
type BeforeCommit = FaultyBlobStore['beforeCommit']

function faultyResumable(blob: ResumableBlob, meet: Meet, beforeCommit: BeforeCommit): ResumableBlob {
  return {
    ...blob,
    ...faultyWriting(blob, meet, beforeCommit),
    async keep() {
      meet('flush')
      return blob.keep()
    },
  }
}

function faultyBlob(blob: OpenBlob, meet: Meet): OpenBlob {
  return {
    ...blob,
    async quarantine() {
      meet('quarantine')
      return blob.quarantine()
    },
  }
}

function faultyPending(pending: PendingBlob, meet: Meet, beforeCommit: BeforeCommit): PendingBlob {
  return {
    put: pending.put,
    ...faultyWriting(pending, meet, beforeCommit),
    async flush() {
      meet('flush')
      return pending.flush()
    },
    async abort() {
      await pending.abort()
      meet('abort')
    },
  }
}

function faultyWriting(
  blob: Pick<PendingBlob, 'write' | 'commit'>,
  meet: Meet,
  beforeCommit: BeforeCommit,
): Pick<PendingBlob, 'write' | 'commit'> {
  return {
    async write(chunk) {
      meet('write')
      return blob.write(chunk)
    },
    async commit(sha256) {
      await beforeCommit(sha256)
      meet('commit')
      await blob.commit(sha256)
      meet('after-commit')
    },
  }
}
