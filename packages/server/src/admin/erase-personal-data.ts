import type { PersonalDataErased } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import type { Person } from './person.ts'

/** Files that one transaction changes, for which uploads wait. */
const FILES_AT_ONCE = 100

/** What outlives an erasure, and why. */
const KEPT = [
  'The ids, sizes, dates and charges of the files that have ended, under the principal: quotas are checked against them.',
  'The entries of the audit log, which name the principal and no email address: a log that can be changed proves nothing.',
  'That tokens issued before now are revoked.',
  'Opaque ids, which stay bound to the SHA-256 of their bytes.',
  'A block of this caller, until it is unblocked.',
]

export interface ErasePersonalDataDeps {
  readonly records: Pick<RecordStore, 'erasure'>
  readonly now: () => number
  /** Deletes bytes that nobody needs; what cannot be deleted now is tried again later. */
  readonly deleteBytes: (digests: readonly string[]) => Promise<void>
}

/**
 * Erases what is known of a caller: ends its tokens, sessions and files, deletes bytes that nobody else has uploaded, without grace and
 * quarantine, and erases names, types, labels and email addresses. Safe to repeat: a repetition finishes one that was cut off. An upload that
 * is under way may end after it.
 *
 * @param by - the principal of the operator.
 * @throws {LadeError} `storage_failed`, `read_only`.
 */
export async function erasePersonalData(
  { records: { erasure }, now, deleteBytes }: ErasePersonalDataDeps,
  { principal, sub, email }: Person,
  by: string,
): Promise<PersonalDataErased> {
  const { tokens, sessions } = await erasure.signIns({ principal, sub, email, by, now: now() })
  const request = () => ({ principal, now: now(), limit: FILES_AT_ONCE })
  let ended = 0
  for (;;) {
    const some = await erasure.endFiles(request())
    await deleteBytes(some.deleted)
    ended += some.files
    if (some.files < FILES_AT_ONCE) break
  }
  let files = 0
  let after: number | undefined = 0
  while (after !== undefined) {
    const some = await erasure.endedFiles({ ...request(), after })
    await deleteBytes(some.deleted)
    files += some.files
    after = some.last
  }
  return { principal, files, ended, tokens, sessions, kept: KEPT }
}
