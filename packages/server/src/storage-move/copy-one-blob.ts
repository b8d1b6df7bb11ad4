import { LadeError } from '@lade/core/errors'
import { hexOf } from '@lade/node/hashing/hex'
import { sha256 as sha256Function } from '@lade/node/hashing/sha256'
import type { BlobBody, BlobStore, PendingBlob } from '../blobs/blob-store.ts'
import { digestOfBlob } from '../upkeep/digest-of-blob.ts'
import type { NeededBlob } from './blob-pages.ts'
import { type BlobProblem, isThere, problemOf } from './scan-blobs.ts'

export interface CopyOneDeps {
  readonly source: BlobStore
  readonly destination: BlobStore
  readonly holder: string
  readonly verify: boolean
  readonly signal: AbortSignal
  /** Called after each chunk; what it waits for holds the copying up, and what it throws ends it. */
  readonly onChunk: (sizeBytes: number, signal: AbortSignal) => Promise<void>
}

/**
 * Copies one blob, unless the destination has it.
 *
 * @returns the problem when the source does not have it as the records need it; the destination is as it was then.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; the reason of `signal`.
 */
export async function copyOneBlob(deps: CopyOneDeps, blob: NeededBlob): Promise<'copied' | 'there' | BlobProblem> {
  if (isThere(blob) && (!deps.verify || (await isRightAtDestination(deps, blob)))) return 'there'
  const { sha256, sizeBytes } = blob
  const seen = problemOf(blob)
  if (seen !== undefined) return seen
  try {
    const problem = await copyBytes(deps, blob)
    if (problem !== undefined) return { sha256, sizeBytes, problem }
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error
    // A store that is down says nothing of this blob.
    await deps.source.check()
    return { sha256, sizeBytes, problem: 'unreadable' }
  }
  if (deps.verify && !(await isRightAtDestination(deps, blob))) {
    throw new LadeError(
      'storage_failed',
      { retryAfterSeconds: 60 },
      { cause: new Error(`The new storage returned different bytes for ${sha256} than were written to it.`) },
    )
  }
  return 'copied'
}

/** A failure of the medium that is read from, told from those of the one that is written to. */
class SourceFailure extends Error {}

async function copyBytes(deps: CopyOneDeps, blob: NeededBlob): Promise<BlobProblem['problem'] | undefined> {
  const { source, destination, holder } = deps
  const { sha256, sizeBytes } = blob
  const body = await ofSource(() => source.open(sha256))
  if (body === undefined) return 'missing'
  try {
    if (body.sizeBytes !== sizeBytes) return 'size'
    const pending = await destination.begin({ holder, sizeBytes, expected: sha256, put: blob.put })
    try {
      const actual = await pump(deps, body, pending)
      if (actual === sha256) await pending.flush()
      else await pending.abort()
      if (actual !== sha256) return 'wrong'
      await pending.commit(sha256)
      return undefined
    } catch (error) {
      // What is left is swept when a move begins.
      await pending.abort().catch(() => {})
      throw error
    }
  } finally {
    await body.close()
  }
}

/** Writes the whole body; answers its digest. */
async function pump({ signal, onChunk }: CopyOneDeps, body: BlobBody, pending: PendingBlob): Promise<string> {
  const digest = sha256Function.create()
  const chunks = body.chunks()[Symbol.asyncIterator]()
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await ofSource(() => chunks.next())
      if (next.done === true) return hexOf(digest.digest())
      digest.update(next.value)
      await pending.write(next.value)
      await onChunk(next.value.length, signal)
    }
  } finally {
    await chunks.return?.()
  }
}

async function ofSource<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    throw new SourceFailure('the source did not give a blob', { cause: error })
  }
}

async function isRightAtDestination(
  { destination, signal }: CopyOneDeps,
  { sha256, sizeBytes }: NeededBlob,
): Promise<boolean> {
  const seen = await digestOfBlob(destination, sha256, () => signal.throwIfAborted())
  return seen?.actual === sha256 && seen.sizeBytes === sizeBytes
}
