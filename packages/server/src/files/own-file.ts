import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { FileRecord, RecordStore } from '../records/record-store.ts'

export interface OwnFileInput {
  readonly principal: string
  readonly cid: ContentId
  readonly now: number
}

/**
 * The principal's live file under this cid, else the latest that has ended.
 *
 * @throws {LadeError} `not_found` for a file that the principal never had, whoever else has one.
 */
export async function ownFile(records: RecordStore, input: OwnFileInput): Promise<FileRecord> {
  const file = await records.files.latest({ principal: input.principal, key: input.cid.key, now: input.now })
  if (file === undefined)
    throw new LadeError('not_found', { reason: `You have no file ${input.cid.text}. GET /api/files lists yours.` })
  return file
}

/**
 * The principal's live file under this cid.
 *
 * @throws {LadeError} `not_found`, `gone`.
 */
export async function ownLiveFile(records: RecordStore, input: OwnFileInput): Promise<FileRecord> {
  const file = await ownFile(records, input)
  if (file.end !== null) throw new LadeError('gone', { reason: file.end })
  if (file.expiresAt <= input.now) throw new LadeError('gone', { reason: 'expired' })
  return file
}
