import type { ObjectHandle } from '../record-store.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { prepareMemberWrites } from './member-writes.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

export type ObjectRelease = ReturnType<typeof prepareObjectRelease>

interface KeptRow {
  readonly handle: ObjectHandle
  readonly place: 'inline' | 'blob' | 'none'
  readonly put: string
}

/** Decides when bytes are needed by no file any more. Runs inside the caller's transaction. */
export function prepareObjectRelease(db: Sql, contents: ContentWrites, discards: DiscardWrites) {
  const anyLive = db
    .prepare<[number], number>(
      `SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')} WHERE object = ? AND ended_at IS NULL LIMIT 1`,
    )
    .pluck()
  const { releaseMembers } = prepareMemberWrites(db)
  const anyFolder = db.prepare<[number], number>('SELECT 1 FROM members WHERE object = ? LIMIT 1').pluck()
  const anyWhole = db.prepare<[number], number>('SELECT 1 FROM parts WHERE part = ? LIMIT 1').pluck()
  // What is behind inline bytes is not read.
  const keptOf = db.prepare<[number], KeptRow>(
    `SELECT sha256 AS handle, place, CASE WHEN place = 'blob' THEN put ELSE '' END AS put FROM objects WHERE id = ?`,
  )
  const partsOf = db.prepare<[number], number>('SELECT DISTINCT part FROM parts WHERE whole = ?').pluck()

  const keepUntil = db.prepare<[number, number]>(
    `INSERT INTO ended_objects (object, due_at) VALUES (?, ?)
     ON CONFLICT (object) DO UPDATE SET due_at = excluded.due_at WHERE excluded.due_at > ended_objects.due_at`,
  )
  const isKept = db
    .prepare<[number, number], number>('SELECT 1 FROM ended_objects WHERE object = ? AND due_at > ?')
    .pluck()
  const due = db
    .prepare<[number, number], number>(
      'SELECT object FROM ended_objects WHERE due_at <= ? ORDER BY due_at, object LIMIT ?',
    )
    .pluck()
  const forget = db.prepare<[number]>('DELETE FROM ended_objects WHERE object = ?')
  const dueNow = db.prepare<[{ object: number; now: number }]>(
    `UPDATE discards SET due_at = :now
     WHERE due_at > :now AND sha256 = (SELECT sha256 FROM objects WHERE id = :object)`,
  )

  /** Lets go of the bytes of an object, and of what it was composed of, as far as nothing else needs them. */
  function* releaseObject(object: number, now: number): Steps<void> {
    if ((yield* isKept.get(object, now)) !== undefined) return
    yield* releaseMembers(object, now)
    if ((yield* anyLive.get(object)) !== undefined || (yield* anyWhole.get(object)) !== undefined) return
    if ((yield* anyFolder.get(object)) !== undefined) return
    const kept = yield* keptOf.get(object)
    if (kept === undefined) return
    const parts = yield* partsOf.all(object)
    yield* contents.dropBytes(object)
    for (const part of parts) yield* releaseObject(part, now)
    if (kept.place !== 'blob' || parts.length > 0) return
    yield* discards.discardUnlessNeeded({ sha256: kept.handle, put: kept.put }, { now })
  }

  return {
    releaseObject,

    /** Lets go of the bytes of an object, as far as nothing else needs them, also where they were to stay for a while. */
    *releaseAtOnce(object: number, now: number): Steps<void> {
      yield* forget.run(object)
      yield* releaseObject(object, now)
    },

    /** Removes what was put for an object, and is not needed any more, without waiting for its readers. */
    *discardNow(object: number, now: number): Steps<void> {
      yield* dueNow.run({ object, now })
    },

    /** Lets go of the bytes of an object later, unless they are needed then. */
    *releaseLater(object: number, dueAt: number): Steps<void> {
      yield* keepUntil.run(object, dueAt)
    },

    /** Lets go of the bytes whose time is over; answers of how many objects. */
    *releaseEnded({ now, limit }: { now: number; limit: number }): Steps<number> {
      const objects = yield* due.all(now, limit)
      yield* forEach(objects, function* (object) {
        yield* forget.run(object)
        yield* releaseObject(object, now)
      })
      return objects.length
    },
  }
}
