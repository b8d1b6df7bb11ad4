import { prepareForRows } from './many.ts'
import type { Sql, Steps } from './sql.ts'

/** An object at a place of an aggregate, which is a piece. */
export interface PlacedMember {
  readonly piece: number
  readonly paddedOffsetBytes: number
  readonly object: number
}

/** Runs inside the caller's transaction. */
export function prepareMemberInsert(db: Sql) {
  const insert = prepareForRows(
    db,
    '(?, ?, ?)',
    (rows) => `INSERT INTO aggregate_members (piece, padded_offset_bytes, object) VALUES ${rows}
       ON CONFLICT (piece, padded_offset_bytes) DO UPDATE SET object = excluded.object`,
  )

  return {
    /** Puts objects at places of aggregates. Files of the same bytes share a place. */
    *putMembers(members: readonly PlacedMember[]): Steps<void> {
      // No statement may set a place twice.
      const rows = new Map(
        members.map(({ piece, paddedOffsetBytes, object }) => [
          `${piece} ${paddedOffsetBytes}`,
          [piece, paddedOffsetBytes, object],
        ]),
      )
      yield* insert.run(rows.values())
    },
  }
}
