import type { BlobStore } from '../blobs/blob-store.ts'
import { ByteRateLimit } from '../upkeep/byte-rate-limit.ts'
import { type BlobPagesDeps, blobPages, type NeededBlob } from './blob-pages.ts'
import { copyOneBlob } from './copy-one-blob.ts'
import { type Amount, type BlobProblem, RunningAmount } from './scan-blobs.ts'
import { sideBySide } from './side-by-side.ts'

/** Whose pending place the destination has for blobs on their way; a move that begins clears it of what another one left. */
export const MOVE_HOLDER = 'storage-move'

export interface CopyBlobsDeps extends BlobPagesDeps {
  readonly source: BlobStore
  readonly destination: BlobStore
  /** Blobs on their way at a time. */
  readonly jobs: number
  /** Reads back whatever the destination has. */
  readonly verify: boolean
  /** Absent: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined
  readonly signal: AbortSignal
  /** Told of bytes that were copied. */
  readonly onBytes: (sizeBytes: number) => void
}

/** What became of the blobs that were to be copied. */
export interface CopiedBlobs {
  readonly copied: Amount
  /** What the destination had already. */
  readonly there: Amount
  readonly problems: readonly BlobProblem[]
}

/**
 * Copies every blob that the records need and the destination lacks, some side by side. Each is hashed as it is read and committed only when its
 * bytes are right, so that the destination never has a wrong or half blob. What cannot be copied is told in the end, after all the rest.
 *
 * It may end anywhere and be run again: what is at the destination is not copied again. The source is only read.
 *
 * @throws {LadeError} `storage_failed`, `insufficient_storage`, when one of the stores does not answer or the destination is full.
 * @throws the reason of `signal`.
 */
export async function copyBlobs(deps: CopyBlobsDeps): Promise<CopiedBlobs> {
  const { destination, jobs, bytesPerSecond } = deps
  await destination.sweepPending(MOVE_HOLDER)
  const limit = bytesPerSecond === undefined ? undefined : new ByteRateLimit(bytesPerSecond)
  const copying = {
    ...deps,
    holder: MOVE_HOLDER,
    async onChunk(sizeBytes: number, signal: AbortSignal) {
      deps.onBytes(sizeBytes)
      await limit?.passed(sizeBytes, signal)
    },
  }
  const [copied, there] = [new RunningAmount(), new RunningAmount()]
  const problems: BlobProblem[] = []
  await sideBySide({ items: neededBlobs(deps), jobs, signal: deps.signal }, async (blob, signal) => {
    const outcome = await copyOneBlob({ ...copying, signal }, blob)
    if (outcome === 'copied') copied.add(blob.sizeBytes)
    else if (outcome === 'there') there.add(blob.sizeBytes)
    else problems.push(outcome)
  })
  await destination.sweepPending(MOVE_HOLDER)
  problems.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
  return { copied: copied.amount, there: there.amount, problems }
}

/** The blobs of all pages, one by one. */
export async function* neededBlobs(deps: BlobPagesDeps): AsyncGenerator<NeededBlob> {
  for await (const { needed } of blobPages(deps)) yield* needed
}
