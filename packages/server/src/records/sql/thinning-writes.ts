import type { EndedFilePlace, ThinnedFiles } from '../erasure-records.ts'
import { prepareEndedKeys } from './ended-keys.ts'
import { endOf, type FileRow, keyOfRow } from './file-row.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

type EndedRow = Pick<
  FileRow,
  'sequence' | 'object' | 'principal' | 'name' | 'handle' | 'visibility' | 'end' | 'composed_into' | 'charged_day'
> & { readonly ended_at: number; readonly charged_bytes: number; readonly charged_token: string | null }

interface ThinRequest {
  readonly endedBefore: number
  readonly after: EndedFilePlace | undefined
  readonly limit: number
}

/** True of a deal on the chain of which nothing is in escrow any more, and which no transaction is about. */
const IS_OVER_ONCHAIN = `onchain_deals.state = 'failed' OR (onchain_deals.state = 'final' AND extension_tx IS NULL AND EXISTS (
  SELECT 1 FROM escrows WHERE escrows.contract = onchain_deals.contract AND escrows.onchain_id = onchain_deals.onchain_id
    AND check_at IS NULL AND action_tx IS NULL))`

/** What has ended long ago leaves the records. Each function runs inside the caller's transaction. */
export function prepareThinningWrites(db: Sql) {
  const { keepEnd } = prepareEndedKeys(db)
  const ended = db.prepare<[number, number, number, number], EndedRow>(
    `SELECT files.sequence, object, principal, name, objects.sha256 AS handle, visibility, "end", composed_into, ended_at, charged_day,
       charged_bytes, charged_token
     FROM files JOIN objects ON objects.id = files.object
     WHERE is_thin = 1 AND ended_at IS NOT NULL AND ended_at < ? AND (ended_at, files.sequence) > (?, ?)
     ORDER BY ended_at, files.sequence LIMIT ?`,
  )
  // Its number is that of no other file, ever.
  const newest = db.prepare<[], number>('SELECT MAX(sequence) FROM files').pluck()
  const anyPart = db.prepare<[number], number>('SELECT 1 FROM files WHERE composed_into = ? LIMIT 1').pluck()
  const keptObject = db.prepare<[number], number>('SELECT 1 FROM ended_objects WHERE object = ?').pluck()
  const anyEarlier = db
    .prepare<[number, number], number>('SELECT 1 FROM files WHERE object = ? AND sequence < ? LIMIT 1')
    .pluck()
  const anyLater = db
    .prepare<[number, number], number>('SELECT 1 FROM files WHERE object = ? AND sequence > ? LIMIT 1')
    .pluck()
  const hasBytes = db.prepare<[number], number>("SELECT 1 FROM objects WHERE id = ? AND place <> 'none'").pluck()
  const anyAlias = db.prepare<[string], number>('SELECT 1 FROM aliases WHERE key = ? LIMIT 1').pluck()
  const aliasesOf = db.prepare<[number], string>('SELECT DISTINCT key FROM aliases WHERE object = ?').pluck()

  const piecesOf = db.prepare<[number], number>('SELECT DISTINCT piece FROM deal_pieces WHERE file = ?').pluck()
  const anyOtherDeal = db
    .prepare<[number, number], number>('SELECT 1 FROM deal_pieces WHERE piece = ? AND file <> ? LIMIT 1')
    .pluck()
  const anyBusyCopy = db
    .prepare<[number], number>(
      `SELECT 1 FROM copies WHERE piece = ? AND (ended_at IS NULL OR (to_remove = 1 AND piece_id IS NOT NULL)
         OR EXISTS (SELECT 1 FROM addition_copies WHERE addition_copies.copy = copies.id)
         OR EXISTS (SELECT 1 FROM onchain_deals WHERE onchain_deals.copy = copies.id AND NOT (${IS_OVER_ONCHAIN}))) LIMIT 1`,
    )
    .pluck()
  const ofCopies = 'copy IN (SELECT id FROM copies WHERE piece = ?)'
  const deletionsOfPiece = [
    `DELETE FROM copy_audits WHERE ${ofCopies}`,
    `DELETE FROM audits WHERE ${ofCopies}`,
    `DELETE FROM onchain_deals WHERE ${ofCopies}`,
    'DELETE FROM copies WHERE piece = ?',
    'DELETE FROM aggregate_members WHERE piece = ?',
    'DELETE FROM pieces WHERE id = ?',
  ].map((sql) => db.prepare<[number]>(sql))
  const deleteDealPieces = db.prepare<[number]>('DELETE FROM deal_pieces WHERE file = ?')
  const deletionsOfFile = [
    'DELETE FROM deals WHERE file = ?',
    'DELETE FROM claims WHERE file = ?',
    'DELETE FROM reenrolments WHERE file = ?',
    'DELETE FROM files WHERE sequence = ?',
  ].map((sql) => db.prepare<[number]>(sql))

  const countCharge = db.prepare<[number, string, string]>(
    'UPDATE usage SET thinned_bytes = thinned_bytes + ?, thinned_files = thinned_files + 1 WHERE principal = ? AND day = ?',
  )
  const countTokenCharge = db.prepare<[number, string, string, string]>(
    'UPDATE token_usage SET thinned_bytes = thinned_bytes + ? WHERE principal = ? AND day = ? AND token = ?',
  )

  const withoutBytes = db
    .prepare<[number, number], number>("SELECT id FROM objects WHERE place = 'none' AND id > ? ORDER BY id LIMIT ?")
    .pluck()
  const newestObject = db.prepare<[], number>('SELECT MAX(id) FROM objects').pluck()
  const references = [
    'files WHERE object',
    'names WHERE object',
    'parts WHERE whole',
    'parts WHERE part',
    'members WHERE folder',
    'members WHERE object',
    'dags WHERE object',
    'pieces WHERE object',
    'deal_pieces WHERE object',
    'aggregate_members WHERE object',
    'takedown_objects WHERE object',
    'ended_objects WHERE object',
    'damaged WHERE object',
    'chunk_digests WHERE object',
    'blobs_without_chunks WHERE object',
  ].map((rows) => `NOT EXISTS (SELECT 1 FROM ${rows} = objects.id)`)
  // A CAR that comes again keeps its place among what its root can mean; bytes that are being removed are known until they are gone.
  const isUnneeded = db
    .prepare<[number], number>(
      `SELECT 1 FROM objects WHERE id = ? AND place = 'none' AND ${references.join(' AND ')}
         AND NOT EXISTS (SELECT 1 FROM aliases WHERE aliases.object = objects.id AND view = 'car')
         AND NOT EXISTS (SELECT 1 FROM discards WHERE discards.sha256 = objects.sha256)`,
    )
    .pluck()
  const deletionsOfObject = ['DELETE FROM aliases WHERE object = ?', 'DELETE FROM objects WHERE id = ?'].map((sql) =>
    db.prepare<[number]>(sql),
  )

  /** The pieces that nobody needs without this file; undefined while one of them is at a prover, or has money in escrow. */
  function* ownPieces(file: number): Steps<readonly number[] | undefined> {
    const own: number[] = []
    for (const piece of yield* piecesOf.all(file)) {
      if ((yield* anyOtherDeal.get(piece, file)) !== undefined) continue
      if ((yield* anyBusyCopy.get(piece)) !== undefined) return undefined
      own.push(piece)
    }
    return own
  }

  /** What a name means goes by the first file of each object: that stays as long as there are others, bytes, or other objects of its name. */
  function* isFirst({ object, sequence, handle }: EndedRow): Steps<boolean> {
    if ((yield* anyEarlier.get(object, sequence)) !== undefined) return false
    if ((yield* anyLater.get(object, sequence)) !== undefined) return true
    if ((yield* hasBytes.get(object)) !== undefined) return true
    return (
      (yield* anyAlias.get(`sha256:${handle}`)) !== undefined || (yield* anyAlias.get(`dag-pb:${handle}`)) !== undefined
    )
  }

  function* isNeeded(row: EndedRow): Steps<boolean> {
    if (row.sequence === (yield* newest.get())) return true
    if ((yield* anyPart.get(row.sequence)) !== undefined || (yield* keptObject.get(row.object)) !== undefined)
      return true
    return yield* isFirst(row)
  }

  function* keepNames(row: EndedRow): Steps<void> {
    const keys = [keyOfRow(row), ...(row.name === '' ? yield* aliasesOf.all(row.object) : [])]
    const owner = row.visibility === 'private' ? row.principal : undefined
    const end = endOf(row) ?? 'expired'
    yield* forEach(new Set(keys), (key) => keepEnd(key, end, owner))
  }

  /** False where the file has to stay for now. */
  function* thin(row: EndedRow): Steps<boolean> {
    const { sequence: file, principal, charged_day: day, charged_bytes: bytes, charged_token: token } = row
    if (yield* isNeeded(row)) return false
    const pieces = yield* ownPieces(file)
    if (pieces === undefined) return false
    yield* keepNames(row)
    yield* deleteDealPieces.run(file)
    yield* forEach(pieces, (piece) => forEach(deletionsOfPiece, (deletion) => deletion.run(piece)))
    yield* forEach(deletionsOfFile, (deletion) => deletion.run(file))
    yield* countCharge.run(bytes, principal, day)
    if (token !== null && bytes > 0) yield* countTokenCharge.run(bytes, principal, day, token)
    return true
  }

  return {
    *thinEnded({ endedBefore, after, limit }: ThinRequest): Steps<ThinnedFiles> {
      const rows = yield* ended.all(endedBefore, after?.endedAt ?? -1, after?.sequence ?? -1, limit)
      let files = 0
      for (const row of rows) if (yield* thin(row)) files += 1
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) return { files, last: undefined }
      return { files, last: { endedAt: last.ended_at, sequence: last.sequence } }
    },

    *forgetObjects({ after, limit }: { after: number; limit: number }): Steps<{
      readonly objects: number
      readonly last: number | undefined
    }> {
      const ids = yield* withoutBytes.all(after, limit)
      const newestId = yield* newestObject.get()
      let objects = 0
      for (const id of ids) {
        if (id === newestId || (yield* isUnneeded.get(id)) === undefined) continue
        yield* forEach(deletionsOfObject, (deletion) => deletion.run(id))
        objects += 1
      }
      return { objects, last: ids.length < limit ? undefined : ids.at(-1) }
    },
  }
}
