import { isAddressId } from '../../quota-rule/address-as-token.ts'
import type { FolderFacts, NewFile } from '../record-store.ts'
import { prepareFileExpiry } from './file-expiry.ts'
import { type FileRow, opaqueNameOf } from './file-row.ts'
import { prepareServingMark } from './serving-mark.ts'
import { type Sql, type SqlValue, type Steps, together } from './sql.ts'
import { type Charge, endedFileOf, prepareUsageWrites } from './usage-writes.ts'

/** The object of a file, and whether this transaction has added it. */
export interface FiledObject {
  readonly object: number
  readonly isNew: boolean
}

/** Adds rows of files, and charges them. Runs inside the caller's transaction. */
export function prepareFileInserts(db: Sql) {
  const { endAsExpired } = prepareFileExpiry(db)
  const { fileAdded } = prepareUsageWrites(db)
  const servingChanged = prepareServingMark(db)
  const insert = db.prepareInsertion<SqlValue[]>(
    'sequence',
    `INSERT INTO files (object, principal, name, cid, content_type, filename, visibility, owner, sponsored,
       verified, term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes, charged_token,
       folder_files, folder_bytes, member_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const keepClaim = db.prepare<[number, string]>('INSERT INTO claims (file, digest) VALUES (?, ?)')

  return {
    /** Ends a file whose term is over, so that another one can take its place. */
    *endAsExpired(row: FileRow, now: number): Steps<void> {
      yield* endAsExpired([{ sequence: row.sequence, ...endedFileOf(row) }], now)
    },

    /** Answers the sequence of the new file. */
    *insertFile({ object, isNew }: FiledObject, file: NewFile, charge: Charge, folder?: FolderFacts): Steps<number> {
      const inserted = insert(
        object,
        file.principal,
        opaqueNameOf(file.key),
        file.cid,
        file.contentType,
        file.filename,
        file.visibility,
        file.owner,
        file.sponsored ? 1 : 0,
        file.verified ? 1 : 0,
        file.termDays,
        file.uploadedAt,
        file.expiresAt,
        file.dealId,
        charge.day,
        charge.bytes,
        // Where a file came from is nothing that is kept of it.
        charge.token === undefined || isAddressId(charge.token) ? null : charge.token,
        folder?.files ?? null,
        folder?.bytes ?? null,
        folder?.memberBytes ?? 0,
      )
      const [sequence] = yield* together(
        inserted,
        fileAdded(file.principal, charge, file.sizeBytes + (folder?.memberBytes ?? 0)),
      )
      // Under a key of new bytes, nothing was found before.
      if (!isNew) yield* servingChanged()
      if (file.claimDigest !== undefined) yield* keepClaim.run(sequence, file.claimDigest)
      return sequence
    },
  }
}
