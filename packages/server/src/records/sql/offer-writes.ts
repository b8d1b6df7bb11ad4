import type { NewPiece, ObjectHandle } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** An offer, as it is opened. */
export interface NewOffer extends NewPiece {
  readonly id: string
  readonly until: number
}

/** Offers. Each function runs inside the caller's transaction. */
export function prepareOfferWrites(db: Sql) {
  const insert = db.prepare<[string, Buffer, number, ObjectHandle, number, number]>(
    `INSERT INTO offers (id, piece_root, size_bytes, object, offset_bytes, until) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET piece_root = excluded.piece_root, size_bytes = excluded.size_bytes,
       object = excluded.object, offset_bytes = excluded.offset_bytes, until = excluded.until`,
  )
  const remove = db.prepare<[string]>('DELETE FROM offers WHERE id = ?')
  const removeExpired = db.prepare<[number]>('DELETE FROM offers WHERE until <= ?')

  return {
    *open({ id, pieceRoot, sizeBytes, object, offsetBytes, until }: NewOffer): Steps<void> {
      yield* insert.run(id, Buffer.from(pieceRoot, 'hex'), sizeBytes, object, offsetBytes, until)
    },

    *close(id: string): Steps<void> {
      yield* remove.run(id)
    },

    *expire({ now }: { now: number }): Steps<void> {
      yield* removeExpired.run(now)
    },
  }
}
