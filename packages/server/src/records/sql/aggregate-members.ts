import type { Sql, Statement } from './sql.ts'

/** Puts an object at a place of an aggregate. */
export function prepareMemberInsert(
  db: Sql,
): Statement<[piece: number, paddedOffsetBytes: number, object: number], unknown> {
  return db.prepare<[number, number, number]>(
    `INSERT INTO aggregate_members (piece, padded_offset_bytes, object) VALUES (?, ?, ?)
     ON CONFLICT (piece, padded_offset_bytes) DO UPDATE SET object = excluded.object`,
  )
}
