import type { BlobPagesDeps } from '../storage-move/blob-pages.ts'
import { blobPages } from '../storage-move/blob-pages.ts'
import { neededBlobs } from '../storage-move/copy-blobs.ts'
import { type Amount, type BlobProblem, isThere, RunningAmount } from '../storage-move/scan-blobs.ts'
import { sideBySide } from '../storage-move/side-by-side.ts'
import { ByteRateLimit } from '../upkeep/byte-rate-limit.ts'
import { BACKUP_HOLDER, type BackUpOneDeps, backUpOneBlob, type SourceProblem } from './backup-one-blob.ts'
import { BackupRefused } from './backup-refused.ts'

export interface BackUpBlobsDeps extends Omit<BackUpOneDeps, 'onChunk'> {
  /** Of the snapshot that is backed up. */
  readonly inventory: BlobPagesDeps['inventory']
  /** Blobs on their way at a time. */
  readonly jobs: number
  /** Read from the service at most; absent: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined
  readonly onProgress: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
}

/** What became of the blobs of a backup. */
export interface BackedUpBlobs {
  readonly needed: Amount
  readonly copied: Amount
  /** What the backup had already. */
  readonly there: Amount
  /** Copies in the backup that were damaged and are good again, in ascending order of digest. */
  readonly replaced: readonly BlobProblem[]
  readonly problems: readonly SourceProblem[]
}

/**
 * Brings every blob that the snapshot needs into the backup, some side by side. It may end anywhere and be run again.
 *
 * @throws {BackupRefused} when the service has none of the blobs, as where its disk is not mounted.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`, when one of the stores does not answer or the backup's is full.
 * @throws the reason of `signal`.
 */
export async function backUpBlobs(deps: BackUpBlobsDeps): Promise<BackedUpBlobs> {
  const { inventory, source, copy, jobs, signal: outer, bytesPerSecond } = deps
  await copy.sweepPending(BACKUP_HOLDER)
  const pages = { inventory, source, destination: copy }
  const { needed, totalBytes, toCopy } = await lookOver(deps, pages)
  await copy.requireRoom(toCopy)
  const limit = bytesPerSecond === undefined ? undefined : new ByteRateLimit(bytesPerSecond)
  const [copied, there] = [new RunningAmount(), new RunningAmount()]
  const replaced: BlobProblem[] = []
  const problems: SourceProblem[] = []
  let doneBytes = 0
  await sideBySide({ items: neededBlobs(pages), jobs, signal: outer }, async (blob, signal) => {
    const onChunk = async (from: 'source' | 'copy', sizeBytes: number): Promise<void> => {
      doneBytes += sizeBytes
      deps.onProgress({ doneBytes: Math.min(doneBytes, totalBytes), totalBytes })
      if (from === 'source') await limit?.passed(sizeBytes, signal)
    }
    const { sha256, sizeBytes } = blob
    const done = await backUpOneBlob({ ...deps, signal, onChunk }, blob)
    if (done.outcome === 'problem') problems.push(done.problem)
    else if (done.outcome === 'there') there.add(sizeBytes)
    else copied.add(sizeBytes)
    if (done.outcome === 'copied' && done.instead !== undefined) {
      replaced.push({ sha256, sizeBytes, problem: done.instead })
    }
  })
  await copy.sweepPending(BACKUP_HOLDER)
  for (const list of [replaced, problems]) list.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
  return { needed, copied: copied.amount, there: there.amount, replaced, problems }
}

/** How much there is to do, by what both stores list. */
async function lookOver(
  { verify, signal }: BackUpBlobsDeps,
  pages: BlobPagesDeps,
): Promise<{ needed: Amount; totalBytes: number; toCopy: number }> {
  const [needed, toCopy] = [new RunningAmount(), new RunningAmount()]
  let atSource = 0
  for await (const page of blobPages(pages)) {
    signal.throwIfAborted()
    for (const blob of page.needed) {
      needed.add(blob.sizeBytes)
      if (blob.atSource !== undefined) atSource += 1
      if (!isThere(blob)) toCopy.add(blob.sizeBytes)
    }
  }
  if (needed.count > 0 && atSource === 0) {
    throw new BackupRefused(
      `The records need ${needed.count} blobs, but the storage has none of them. Check LADE_STORAGE, and that its disk is mounted.`,
    )
  }
  const reads = { all: 2, copy: 1, new: 0 }[verify]
  const totalBytes = toCopy.bytes + reads * (needed.bytes - toCopy.bytes)
  return { needed: needed.amount, totalBytes, toCopy: toCopy.bytes }
}
