import { prepareForRows, type StatementOfMany } from './many.ts'
import type { Sql, SqlValue } from './sql.ts'

/** Puts objects at places of aggregates: rows of the piece, the padded offset and the object. No place is in two rows. */
export function prepareMemberInsert(db: Sql): StatementOfMany<readonly SqlValue[], unknown> {
  return prepareForRows(
    db,
    '(?, ?, ?)',
    (rows) => `INSERT INTO aggregate_members (piece, padded_offset_bytes, object) VALUES ${rows}
       ON CONFLICT (piece, padded_offset_bytes) DO UPDATE SET object = excluded.object`,
  )
}
