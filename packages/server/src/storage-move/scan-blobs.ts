import { type BlobPagesDeps, blobPages, type NeededBlob } from './blob-pages.ts'
import { MoveRefused } from './move-refused.ts'

/** How many, and how much. */
export interface Amount {
  readonly count: number
  readonly bytes: number
}

/** A blob that cannot be moved as it is, or was not. */
export interface BlobProblem {
  readonly sha256: string
  readonly sizeBytes: number
  /**
   * `missing`: the source has no such blob. `size`: it has another size there. `wrong`: its bytes have another digest. `unreadable`: the
   * medium does not give them.
   */
  readonly problem: 'missing' | 'size' | 'wrong' | 'unreadable'
  /** The public file that is served from it, where there is one. */
  readonly file?: { readonly cid: string; readonly filename: string | null }
}

/** What a move of blobs would be. */
export interface BlobScan {
  /** What the records need. */
  readonly needed: Amount
  /** What of it the destination has already, with the right size. */
  readonly there: Amount
  readonly toCopy: Amount
  /** What the destination lacks, and the source has not, or with another size. */
  readonly problems: readonly BlobProblem[]
  /** Blobs at the destination that these records do not need. */
  readonly others: number
}

/**
 * Compares what the records need with both stores, by digest and size. Reads no blob and changes nothing.
 *
 * @throws {MoveRefused} when not one of the blobs that are needed is anywhere, as where a disk is not mounted.
 * @throws {LadeError} `storage_failed`; the reason of `signal`.
 */
export async function scanBlobs(deps: BlobPagesDeps, signal: AbortSignal): Promise<BlobScan> {
  const [needed, there, toCopy] = [new RunningAmount(), new RunningAmount(), new RunningAmount()]
  const problems: BlobProblem[] = []
  let others = 0
  for await (const page of blobPages(deps)) {
    signal.throwIfAborted()
    others += page.others
    for (const blob of page.needed) {
      needed.add(blob.sizeBytes)
      const problem = problemOf(blob)
      if (isThere(blob)) there.add(blob.sizeBytes)
      else if (problem === undefined) toCopy.add(blob.sizeBytes)
      else problems.push(problem)
    }
  }
  if (needed.count > 0 && problems.length === needed.count && problems.every(({ problem }) => problem === 'missing')) {
    throw new MoveRefused(
      `The records need ${needed.count} blobs, but the storage has none of them. Check LADE_STORAGE, and that its disk is mounted.`,
    )
  }
  return { needed: needed.amount, there: there.amount, toCopy: toCopy.amount, problems, others }
}

/** True when the destination has a blob of this digest and size. */
export function isThere({ sizeBytes, atDestination }: NeededBlob): boolean {
  return atDestination === sizeBytes
}

/** What is wrong with the blob at the source, as far as can be seen without reading it. */
export function problemOf({ sha256, sizeBytes, atSource }: NeededBlob): BlobProblem | undefined {
  if (atSource === sizeBytes) return undefined
  return { sha256, sizeBytes, problem: atSource === undefined ? 'missing' : 'size' }
}

/** Counts as it goes. */
export class RunningAmount {
  count = 0
  bytes = 0

  add(sizeBytes: number): void {
    this.count += 1
    this.bytes += sizeBytes
  }

  get amount(): Amount {
    return { count: this.count, bytes: this.bytes }
  }
}
