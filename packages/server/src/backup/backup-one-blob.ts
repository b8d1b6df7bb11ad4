import { LadeError } from '@lade/core/errors'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { NeededBlob } from '../storage-move/blob-pages.ts'
import { copyOneBlob } from '../storage-move/copy-one-blob.ts'
import type { BlobProblem } from '../storage-move/scan-blobs.ts'
import { digestOfBlob } from '../upkeep/digest-of-blob.ts'

/** Whose pending place the backup has for blobs on their way. */
export const BACKUP_HOLDER = 'backup'

/**
 * What is read beside what is copied. `all`: every blob, at the service and in the backup. `copy`: every blob in the backup. `new`: none
 * that the backup has with the right size.
 */
export type VerifyScope = 'all' | 'copy' | 'new'

type Fault = BlobProblem['problem']

/** A blob that the service does not have as its records need it. */
export interface SourceProblem extends BlobProblem {
  /** What the backup has of it. */
  readonly copy: 'good' | Fault
  /** True when the service has got the bytes of the backup. */
  readonly healed: boolean
}

export type BackedUpBlob =
  | { readonly outcome: 'there' }
  /** `instead`: what was wrong with the copy that the backup had. */
  | { readonly outcome: 'copied'; readonly instead: Exclude<Fault, 'missing'> | undefined }
  | { readonly outcome: 'problem'; readonly problem: SourceProblem }

export interface BackUpOneDeps {
  readonly source: BlobStore
  readonly copy: BlobStore
  readonly verify: VerifyScope
  /**
   * Puts good bytes back where those of the service are not, under this holder, whose lock is held: a service removes what is pending for
   * others. Absent: nothing is put back.
   */
  readonly healAs: string | undefined
  readonly signal: AbortSignal
  /** Called after each chunk that was read; what it waits for holds the reading up, and what it throws ends it. */
  readonly onChunk: (from: 'source' | 'copy', sizeBytes: number) => Promise<void>
}

/**
 * Brings one blob into the backup. Bytes that are wrong never take the place of others, on neither side.
 *
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; the reason of `signal`.
 */
export async function backUpOneBlob(deps: BackUpOneDeps, blob: NeededBlob): Promise<BackedUpBlob> {
  const { source, copy, verify, signal, onChunk } = deps
  const { sha256, put, sizeBytes } = blob
  const wasWrong = await faultIn(deps, 'copy', { ...blob, seen: blob.atDestination, isRead: verify !== 'new' })
  if (wasWrong !== undefined) {
    const brought = await copyOneBlob(
      {
        source,
        destination: copy,
        holder: BACKUP_HOLDER,
        verify: true,
        signal,
        onChunk: (chunkBytes) => onChunk('source', chunkBytes),
      },
      { sha256, put, sizeBytes, atSource: sizeBytes, atDestination: undefined },
    )
    if (typeof brought === 'object') return problem(brought.problem, wasWrong)
    return { outcome: 'copied', instead: wasWrong === 'missing' ? undefined : wasWrong }
  }
  const fault = await faultIn(deps, 'source', { ...blob, seen: blob.atSource, isRead: verify === 'all' })
  if (fault === undefined) return { outcome: 'there' }
  return (await isHealed(deps, blob)) ? problem(fault, 'good', true) : problem(fault, 'good')

  function problem(found: Fault, atCopy: 'good' | Fault, healed = false): BackedUpBlob {
    return { outcome: 'problem', problem: { sha256, sizeBytes, problem: found, copy: atCopy, healed } }
  }
}

/** What is wrong with a blob on one side; undefined when nothing is, as far as it was read. */
async function faultIn(
  deps: BackUpOneDeps,
  side: 'source' | 'copy',
  blob: {
    readonly sha256: string
    readonly sizeBytes: number
    readonly seen: number | undefined
    readonly isRead: boolean
  },
): Promise<Fault | undefined> {
  const store = deps[side]
  if (blob.seen === undefined && side === 'copy') return 'missing'
  if (blob.seen === blob.sizeBytes && !blob.isRead) return undefined
  try {
    const read = await digestOfBlob(store, blob.sha256, (sizeBytes) => {
      deps.signal.throwIfAborted()
      return deps.onChunk(side, sizeBytes)
    })
    if (read === undefined) return 'missing'
    if (read.sizeBytes !== blob.sizeBytes) return 'size'
    return read.actual === blob.sha256 ? undefined : 'wrong'
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    // A store that is down says nothing of this blob.
    await store.check()
    return 'unreadable'
  }
}

async function isHealed(
  { source, copy, healAs, signal }: BackUpOneDeps,
  { sha256, put, sizeBytes }: NeededBlob,
): Promise<boolean> {
  if (healAs === undefined) return false
  const outcome = await copyOneBlob(
    { source: copy, destination: source, holder: healAs, verify: true, signal, onChunk: async () => {} },
    { sha256, put, sizeBytes, atSource: sizeBytes, atDestination: undefined },
  )
  return outcome === 'copied'
}
