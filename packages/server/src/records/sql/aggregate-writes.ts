import { prepareMemberInsert } from './aggregate-members.ts'
import type { CopyWrites } from './copy-writes.ts'
import { prepareFolderEnrolment } from './folder-enrolment.ts'
import { prepareForMany, prepareForRows } from './many.ts'
import { preparePieceReads } from './piece-reads.ts'
import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'

export interface AggregateRequest {
  readonly now: number
  readonly pieceRoot: string
  readonly sizeBytes: number
  readonly members: readonly { readonly file: number; readonly paddedOffsetBytes: number }[]
}

const NO_FILE = 0

export type AggregateWrites = ReturnType<typeof prepareAggregateWrites>

/** Aggregates of small files. Each function runs inside the caller's transaction. */
export function prepareAggregateWrites(db: Sql, { releaseAll, reconciled }: CopyWrites) {
  const { isNeeded } = preparePieceReads(db)
  const { markUnreconciled, putPiece, restate, restateDealsOf } = preparePieceWrites(db)
  const objectsOfWaiting = prepareForMany<number, { readonly file: number; readonly object: number }>(
    db,
    NO_FILE,
    (files) => `SELECT deals.file, object FROM deals JOIN files ON sequence = deals.file
       WHERE waits = 1 AND closed_at IS NULL AND deals.file IN (${files})`,
  )
  const { putMembers } = prepareMemberInsert(db)
  const { enrolFolderAgain } = prepareFolderEnrolment(db)
  const insertDealPieces = prepareForRows(
    db,
    '(?, 0, ?, ?)',
    (rows) => `INSERT INTO deal_pieces (file, position, piece, padded_offset_bytes) VALUES ${rows}`,
  )
  const waitNoMore = prepareForMany<number>(
    db,
    NO_FILE,
    (files) => `UPDATE deals SET waits = 0 WHERE file IN (${files})`,
  )
  const openMembers = db.prepare<[number], { readonly file: number; readonly memberBytes: number }>(
    `SELECT deals.file, member_bytes AS "memberBytes" FROM deal_pieces JOIN deals ON deals.file = deal_pieces.file
       JOIN files ON files.sequence = deals.file
     WHERE piece = ? AND padded_offset_bytes IS NOT NULL AND closed_at IS NULL`,
  )
  const removeDealPiece = db.prepare<[number, number]>('DELETE FROM deal_pieces WHERE file = ? AND piece = ?')
  const waitAgain = db.prepare<[{ file: number; now: number }]>(
    `UPDATE deals SET waits = 1, status_at = CASE status WHEN 'staged' THEN status_at ELSE :now END,
       status = 'staged', cause = NULL WHERE file = :file`,
  )
  const anyMember = db.prepare<[number], number>('SELECT 1 FROM aggregate_members WHERE piece = ? LIMIT 1').pluck()
  const removeMembers = db.prepare<[number]>('DELETE FROM aggregate_members WHERE piece = ?')

  return {
    *aggregate({ now, pieceRoot, sizeBytes, members }: AggregateRequest): Steps<boolean> {
      const files = new Set(members.map(({ file }) => file))
      const objects = new Map((yield* objectsOfWaiting.all(files)).map(({ file, object }) => [file, object]))
      if (objects.size < members.length) return false
      const piece = yield* putPiece({ pieceRoot, sizeBytes, object: null, offsetBytes: 0 }, now)
      yield* putMembers(
        members.map(({ file, paddedOffsetBytes }) => ({ piece, paddedOffsetBytes, object: objects.get(file) ?? 0 })),
      )
      yield* insertDealPieces.run(members.map(({ file, paddedOffsetBytes }) => [file, piece, paddedOffsetBytes]))
      yield* waitNoMore.run(files)
      yield* restateDealsOf(piece, now)
      return true
    },

    *dissolve({ piece, now }: { piece: number; now: number }): Steps<void> {
      if ((yield* anyMember.get(piece)) === undefined) return
      for (const { file, memberBytes } of yield* openMembers.all(piece)) {
        if (memberBytes > 0) {
          yield* enrolFolderAgain(file, now)
          continue
        }
        yield* removeDealPiece.run(file, piece)
        yield* waitAgain.run({ file, now })
      }
      yield* removeMembers.run(piece)
      // A file of the aggregate's own bytes needs it still.
      if (yield* isNeeded(piece)) {
        yield* markUnreconciled(piece, now)
        return
      }
      yield* releaseAll(piece, now)
      yield* reconciled(piece, null)
      yield* restate(piece, now, null)
    },
  }
}
