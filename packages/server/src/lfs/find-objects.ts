import { DAY_MS } from '@lade/core/time'
import type { LfsObject } from '@lade/core/wire'
import type { Moderation } from '../moderation/moderation.ts'
import type { FileEnd, FileRecord, RecordStore } from '../records/record-store.ts'

/** A Git LFS object as the service has it. */
export type FoundObject =
  | { readonly outcome: 'found'; readonly file: FileRecord }
  | { readonly outcome: 'absent' }
  | { readonly outcome: 'ended'; readonly end: FileEnd }
  | { readonly outcome: 'blocked' }
  /** The oid is no SHA-256, or names bytes of another size. */
  | { readonly outcome: 'malformed'; readonly reason: string }

export interface FindObjectsDeps {
  readonly records: Pick<RecordStore, 'files'>
  readonly moderation: Pick<Moderation, 'content'>
  readonly placementJob: { wake(): void }
}

export interface FindObjectsInput {
  readonly objects: readonly LfsObject[]
  /** Whose objects they are; undefined for a caller without a token, who has none. */
  readonly principal: string | undefined
  /** The longest term that files of the caller get from now on; undefined for a caller who may not extend any. */
  readonly renewDays: number | undefined
  readonly now: number
}

const OID = /^[0-9a-f]{64}$/

/** How an object that is uploaded is kept: a file that the caller has already stays what it is, in all but its term. */
export async function keptAs(
  records: FindObjectsDeps['records'],
  { principal, oid, now }: { readonly principal: string; readonly oid: string; readonly now: number },
): Promise<Pick<FileRecord, 'contentType' | 'filename' | 'visibility'> | undefined> {
  const file = await records.files.latest({ principal, key: `sha256:${oid}`, now })
  return file === undefined || file.end !== null ? undefined : file
}

/**
 * What a push sends, and which of it the caller has: only its own files count, since others may end theirs.
 *
 * Files that are found get the longest term from now on, if the caller may extend them.
 *
 * @throws {LadeError} `storage_failed`.
 */
export function findOwnObjects(deps: FindObjectsDeps, input: FindObjectsInput): Promise<readonly FoundObject[]> {
  const { principal, now } = input
  return findAll(deps, input, async (key) => {
    const file = principal === undefined ? undefined : await deps.records.files.latest({ principal, key, now })
    return file === undefined || file.end !== null || file.expiresAt <= now
      ? { outcome: 'absent' }
      : { outcome: 'found', file }
  })
}

/**
 * What a fetch asks for: files of the caller, and public ones. Those of the caller get the longest term from now on, as in
 * {@link findOwnObjects}.
 *
 * @throws {LadeError} `storage_failed`.
 */
export function findVisibleObjects(deps: FindObjectsDeps, input: FindObjectsInput): Promise<readonly FoundObject[]> {
  const { principal, now } = input
  const { content } = deps.moderation
  return findAll(deps, input, async (key) => {
    const serving = await deps.records.files.serving({ key, now, ...(principal !== undefined && { principal }) })
    if (serving.outcome === 'absent') return serving
    if (serving.outcome === 'gone') return { outcome: 'ended', end: serving.end }
    const { file } = serving
    return (await content.ofFile(file)) === undefined ? { outcome: 'found', file } : { outcome: 'blocked' }
  })
}

function findAll(
  deps: FindObjectsDeps,
  input: FindObjectsInput,
  find: (key: string) => Promise<FoundObject>,
): Promise<readonly FoundObject[]> {
  return Promise.all(
    input.objects.map(async ({ oid, size }) => {
      if (!OID.test(oid)) return malformed('The oid must be a SHA-256 as 64 lower-case hex digits.')
      if (!Number.isSafeInteger(size) || size < 0) return malformed('The size must be a number of bytes.')
      const found = await find(`sha256:${oid}`)
      if (found.outcome !== 'found') return found
      const { file } = found
      if (file.sizeBytes !== size) return malformed(`The object has ${file.sizeBytes} bytes, not ${size}.`)
      return { outcome: 'found', file: await renewed(deps, file, input) }
    }),
  )
}

/** The file with the longest term from now on, where it is the caller's. One that ends meanwhile stays as it was found. */
async function renewed(
  { records, placementJob }: FindObjectsDeps,
  file: FileRecord,
  { principal, renewDays, now }: FindObjectsInput,
): Promise<FileRecord> {
  if (renewDays === undefined || file.principal !== principal) return file
  const termDays = Math.ceil((now - file.uploadedAt) / DAY_MS) + renewDays
  if (termDays <= file.termDays) return file
  // The longest term of the service counts from the upload; that of these files counts from their last use.
  const outcome = await records.files.change({ file: file.sequence, now, maxTermDays: termDays, term: { termDays } })
  if (outcome.outcome !== 'changed') return file
  placementJob.wake()
  return outcome.file
}

function malformed(reason: string): FoundObject {
  return { outcome: 'malformed', reason }
}
