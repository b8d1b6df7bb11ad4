import { LadeError } from '@lade/core/errors'
import type { Scope } from '@lade/core/wire'
import type { FileChange, FileRecord, RecordStore, Visibility } from '../records/record-store.ts'
import { requireScope } from '../tokens/authorize.ts'
import { requireVerified } from '../tokens/verified-account.ts'

/** What the owner of a file asks for; absent fields stay as they are. */
export interface WantedFile {
  readonly visibility?: Visibility | undefined
  readonly contentType?: string | undefined
  readonly filename?: string | null | undefined
  /** The whole term, from the upload. */
  readonly termDays?: number | undefined
}

/** What a caller may change of its files. */
export interface ChangeRights {
  readonly scopes: readonly Scope[]
  /** False for an account that somebody else could claim. */
  readonly isVerified: boolean
}

export interface ChangeFileInput {
  /** Live, and the caller's own. */
  readonly file: FileRecord
  readonly wanted: WantedFile
  readonly rights: ChangeRights
  readonly maxTermDays: number
  readonly now: number
}

/**
 * Changes what the owner of a file decided when it was staged. Nothing is charged. All of it is changed, or nothing.
 *
 * The caller has seen to the scope `put`. A longer term needs `pin` as well, and private to public `get`. A shorter term is not applied.
 *
 * @returns the file as it is now.
 * @throws {LadeError} `insufficient_scope`, `unverified_account`, `invalid_term`, `private_entries`, `gone`.
 */
export async function changeFile(records: RecordStore, input: ChangeFileInput): Promise<FileRecord> {
  const { file, rights, maxTermDays, now } = input
  const change = differenceOf(file, input.wanted)
  if (change === undefined) return file
  if (change.term !== undefined) requireScope(rights, 'pin')
  if (change.visibility === 'public') requireScope(rights, 'get')
  if (change.visibility === 'private') requireVerified(rights)
  const outcome = await records.files.change({ file: file.sequence, now, maxTermDays, ...change })
  switch (outcome.outcome) {
    case 'changed':
      return outcome.file
    case 'too_long':
      throw termTooLong(outcome.termDays, maxTermDays)
    case 'private_members':
      throw new LadeError('private_entries', { entries: outcome.objects, count: outcome.objects.length })
    case 'ended':
    case 'key_reused':
      // It ended between the two; there was no key.
      throw new LadeError('gone', { reason: 'expired' })
  }
}

/** @param termDays - the term that the file has. */
export function termTooLong(termDays: number, maxTermDays: number): LadeError<'invalid_term'> {
  const left = Math.max(0, maxTermDays - termDays)
  return new LadeError('invalid_term', {
    reason: `The term is ${termDays} days and the maximum is ${maxTermDays}, so at most ${left} can be added.`,
  })
}

/** What is to be changed of the file; undefined when it has all that is wanted. */
function differenceOf(file: FileRecord, wanted: WantedFile): FileChange | undefined {
  const { visibility, contentType, filename, termDays } = wanted
  const change: FileChange = {
    ...(visibility !== undefined && visibility !== file.visibility && { visibility }),
    ...(contentType !== undefined && contentType !== file.contentType && { contentType }),
    ...(filename !== undefined && filename !== file.filename && { filename }),
    ...(termDays !== undefined && termDays > file.termDays && { term: { termDays } }),
  }
  return Object.keys(change).length === 0 ? undefined : change
}
