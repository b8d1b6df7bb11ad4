import type { NewFile } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareDealClosing } from './deal-closing.ts'
import { opaqueNameOf } from './file-row.ts'

/** What a file costs, and whom: the principal's day. */
export interface Charge {
  readonly day: string
  readonly bytes: number
}

/** Adds rows of files. Runs inside the caller's transaction, which keeps the counters of usage. */
export function prepareFileInserts(db: Connection) {
  const { closeDeal } = prepareDealClosing(db)
  const insert = db.prepare(
    `INSERT INTO files (object, principal, name, cid, content_type, filename, visibility, owner, sponsored,
       verified, term_days, uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const endAsExpired = db.prepare<[number]>(
    "UPDATE files SET ended_at = expires_at, end = 'expired' WHERE sequence = ?",
  )

  return {
    /** Ends a file whose term is over, so that another one can take its place. */
    endAsExpired(sequence: number, now: number): void {
      endAsExpired.run(sequence)
      closeDeal(sequence, now)
    },

    /** Answers the sequence of the new file. */
    insertFile(object: number, file: NewFile, charge: Charge): number {
      const { lastInsertRowid } = insert.run(
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
      )
      return Number(lastInsertRowid)
    },
  }
}
