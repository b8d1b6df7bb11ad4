import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** Folders of which provers are to have other pieces. Each function runs inside the caller's transaction. */
export function prepareFolderEnrolment(db: Sql) {
  const { markUnreconciled } = preparePieceWrites(db)
  const piecesOf = db.prepare<[number], number>('SELECT DISTINCT piece FROM deal_pieces WHERE file = ?').pluck()
  const removeDealPieces = db.prepare<[number]>('DELETE FROM deal_pieces WHERE file = ?')
  const enrolAgain = db.prepare<[number]>('INSERT INTO reenrolments (file) VALUES (?) ON CONFLICT DO NOTHING')
  const foldersOf = db
    .prepare<[number], number>(
      `SELECT files.sequence FROM members JOIN files ON files.object = members.folder
       WHERE members.object = ? AND folder_files IS NOT NULL AND ended_at IS NULL`,
    )
    .pluck()

  /** Has a folder enrolled again; provers let go of pieces that it does not get again. */
  function* enrolFolderAgain(file: number, now: number): Steps<void> {
    const pieces = yield* piecesOf.all(file)
    yield* removeDealPieces.run(file)
    yield* enrolAgain.run(file)
    for (const piece of pieces) yield* markUnreconciled(piece, now)
  }

  return {
    enrolFolderAgain,

    /** The same for all live folders that have an object. */
    *enrolFoldersOf(object: number, now: number): Steps<void> {
      for (const file of yield* foldersOf.all(object)) yield* enrolFolderAgain(file, now)
    },
  }
}
