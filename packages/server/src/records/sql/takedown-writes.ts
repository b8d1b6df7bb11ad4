import type { BlockContentOutcome, BlockContentRequest, TakedownRecord } from '../record-store.ts'
import type { AggregateWrites } from './aggregate-writes.ts'
import type { AuditLogWrites } from './audit-log-writes.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow } from './file-row.ts'
import type { FileWithdrawal } from './file-withdrawal.ts'
import type { FileWrites } from './file-writes.ts'
import { prepareFolderEnrolment } from './folder-enrolment.ts'
import type { ObjectRelease } from './object-release.ts'
import { preparePieceReads } from './piece-reads.ts'
import { prepareRevisions } from './revisions.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareTakedownReach, type Reach } from './takedown-reach.ts'
import { prepareTakedownReads, type TakedownRow, takedownFromRow } from './takedown-reads.ts'

interface TakedownDeps {
  readonly files: FileWrites
  readonly withdrawal: FileWithdrawal
  readonly aggregates: AggregateWrites
  readonly release: ObjectRelease
  readonly audit: AuditLogWrites
}

/** Takedowns. Each function runs inside the caller's transaction. */
export function prepareTakedownWrites(db: Sql, { files, withdrawal, aggregates, release, audit }: TakedownDeps) {
  const reads = prepareTakedownReads(db)
  const { reachOf } = prepareTakedownReach(db)
  const { isNeeded } = preparePieceReads(db)
  const { nextRevision } = prepareRevisions(db, 'takedowns')
  const insert = db.prepareInsertion<[string, string, string, number, string, number, number]>(
    'id',
    `INSERT INTO takedowns (name, cid, reason, blocked_at, blocked_by, deletes, revision)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  )
  const renew = db.prepare<[{ id: number; reason: string; deletes: number; revision: number }]>(
    `UPDATE takedowns SET reason = :reason, revision = :revision,
       deletes = ${db.dialect.greatest('takedowns.deletes', db.dialect.whole(':deletes'))} WHERE id = :id`,
  )
  const end = db.prepare<[number, string, number, number]>(
    'UPDATE takedowns SET lifted_at = ?, lifted_by = ?, revision = ? WHERE id = ?',
  )
  const byId = db.prepare<[number], TakedownRow>('SELECT * FROM takedowns WHERE id = ?')
  const insertName = db.prepare<[number, string]>(
    'INSERT INTO takedown_names (takedown, name) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
  const insertObject = db.prepare<[number, number, number]>(
    `INSERT INTO takedown_objects (takedown, object, is_whole) VALUES (?, ?, ?)
     ON CONFLICT (takedown, object) DO UPDATE SET is_whole = excluded.is_whole WHERE excluded.is_whole = 1`,
  )
  const dropNames = db.prepare<[number]>('DELETE FROM takedown_names WHERE takedown = ?')
  const objectsOf = db.prepare<[number], number>('SELECT object FROM takedown_objects WHERE takedown = ?').pluck()
  const dropObjects = db.prepare<[number]>('DELETE FROM takedown_objects WHERE takedown = ?')
  const isBlocked = db.prepare<[number], number>('SELECT 1 FROM takedown_objects WHERE object = ? LIMIT 1').pluck()
  const openFiles = db.prepare<[number], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS} WHERE files.object = ? AND ended_at IS NULL ORDER BY sponsored, sequence`,
  )
  const aggregatesOf = db
    .prepare<[number], number>('SELECT DISTINCT piece FROM aggregate_members WHERE object = ?')
    .pluck()
  const { enrolFoldersOf } = prepareFolderEnrolment(db)
  // A folder goes on without what is blocked.
  const takeFromFolders = db.prepare<[number]>('DELETE FROM members WHERE object = ?')
  const piecesOf = db.prepare<[number], number>('SELECT DISTINCT piece FROM deal_pieces WHERE file = ?').pluck()
  const nameOfPiece = db.prepare<[number], { readonly piece_root: Buffer; readonly size_bytes: number }>(
    'SELECT piece_root, size_bytes FROM pieces WHERE id = ?',
  )
  const handleOf = db.prepare<[number], string>('SELECT sha256 FROM objects WHERE id = ?').pluck()

  /** The number of the takedown, which has this reason from now on. */
  function* put(request: BlockContentRequest): Steps<number> {
    const { name, cid, reason, by, now, deletes } = request
    const revision = yield* nextRevision()
    const held = yield* reads.byName(name)
    if (held !== undefined) {
      yield* renew.run({ id: held.id, reason, deletes: deletes ? 1 : 0, revision })
      return held.id
    }
    return yield* insert(name, cid, reason, now, by, deletes ? 1 : 0, revision)
  }

  /** What is left of the piece at provers is no more to be had here. */
  function* blockPiece(takedown: number, piece: number): Steps<void> {
    if (yield* isNeeded(piece)) return
    const named = yield* nameOfPiece.get(piece)
    if (named !== undefined)
      yield* insertName.run(takedown, `piece:${named.piece_root.toString('hex')}:${named.size_bytes}`)
  }

  /** Provers let go of the files of an object; aggregates that it is in go on without it. Answers its live files. */
  function* withdrawObject(takedown: number, object: number, now: number): Steps<FileRow[]> {
    const pieces = new Set(yield* aggregatesOf.all(object))
    for (const piece of pieces) yield* aggregates.dissolve({ piece, now })
    yield* enrolFoldersOf(object, now)
    const open = yield* openFiles.all(object)
    for (const file of open) {
      yield* withdrawal.withdraw(file.sequence, now)
      for (const piece of yield* piecesOf.all(file.sequence)) pieces.add(piece)
    }
    for (const piece of pieces) yield* blockPiece(takedown, piece)
    return open
  }

  /** Ends the files, and lets go of the bytes without waiting for anything. Wholes come before their parts. */
  function* deleteBytes(whole: ReadonlySet<number>, rows: readonly FileRow[], now: number): Steps<string[]> {
    for (const row of rows) yield* files.end(row, now, 'removed', now)
    for (const object of [...whole].reverse()) {
      yield* takeFromFolders.run(object)
      yield* release.releaseAtOnce(object, now)
    }
    const deleted: string[] = []
    for (const object of whole) {
      yield* release.discardNow(object, now)
      const handle = yield* handleOf.get(object)
      if (handle !== undefined && !handle.startsWith('piece:')) deleted.push(handle)
    }
    return deleted
  }

  function* note(takedown: number, { names, whole, touched }: Reach): Steps<void> {
    for (const name of names) yield* insertName.run(takedown, name)
    for (const object of whole) yield* insertObject.run(takedown, object, 1)
    for (const object of touched) yield* insertObject.run(takedown, object, 0)
  }

  function* recordOf(id: number): Steps<TakedownRecord> {
    const row = yield* byId.get(id)
    if (row === undefined) throw new TypeError(`there is no takedown ${id}`)
    return takedownFromRow(row)
  }

  return {
    *block(request: BlockContentRequest): Steps<BlockContentOutcome> {
      const { name, cid, reason, by, now, deletes } = request
      const id = yield* put(request)
      const reach = yield* reachOf(name)
      yield* note(id, reach)
      const own: FileRow[] = []
      const containing: FileRow[] = []
      for (const object of reach.whole) own.push(...(yield* withdrawObject(id, object, now)))
      for (const object of reach.touched) containing.push(...(yield* withdrawObject(id, object, now)))
      const deleted = deletes ? yield* deleteBytes(reach.whole, own, now) : []
      const detail = { reason, name, files: own.length, ended: deletes ? own.length : 0 }
      yield* audit.append({ at: now, actor: by, action: 'content.blocked', subject: `content:${cid}`, detail })
      return {
        takedown: yield* recordOf(id),
        files: own.length,
        ended: deletes ? own.length : 0,
        deleted,
        containing: [...new Set(containing.map(({ cid }) => cid))],
      }
    },

    *lift({ name, by, now }: { name: string; by: string; now: number }): Steps<TakedownRecord | undefined> {
      const row = yield* reads.byName(name)
      if (row === undefined) return undefined
      const objects = yield* objectsOf.all(row.id)
      yield* end.run(now, by, yield* nextRevision(), row.id)
      yield* dropNames.run(row.id)
      yield* dropObjects.run(row.id)
      for (const object of objects) {
        if ((yield* isBlocked.get(object)) !== undefined) continue
        for (const file of yield* openFiles.all(object)) {
          if (file.visibility === 'public') yield* withdrawal.offer(file.sequence, now)
        }
        yield* enrolFoldersOf(object, now)
      }
      yield* audit.append({
        at: now,
        actor: by,
        action: 'content.unblocked',
        subject: `content:${row.cid}`,
        detail: { name },
      })
      return yield* recordOf(row.id)
    },
  }
}
