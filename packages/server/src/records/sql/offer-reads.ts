import type { NewPiece } from '../record-store.ts'
import { HAS_PIECE_ROOT } from './content-reads.ts'
import type { Sql, Steps } from './sql.ts'

export interface FindOfferRequest {
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly now: number
}

type Offered = Pick<NewPiece, 'object' | 'offsetBytes'>

/** Reads of offers. */
export function prepareOfferReads(db: Sql) {
  const open = db.prepare<[{ root: Buffer; sizeBytes: number; now: number }], Offered>(
    `SELECT object, offset_bytes AS "offsetBytes" FROM offers WHERE ${HAS_PIECE_ROOT} AND size_bytes = :sizeBytes AND until > :now
     ORDER BY until DESC LIMIT 1`,
  )
  return {
    find: ({ pieceRoot, sizeBytes, now }: FindOfferRequest): Steps<Offered | undefined> =>
      open.get({ root: Buffer.from(pieceRoot, 'hex'), sizeBytes, now }),
  }
}
