import type { ContentWrites } from './content-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import { prepareForMany } from './many.ts'
import { prepareMemberWrites } from './member-writes.ts'
import type { Sql, Steps } from './sql.ts'

export type ObjectRelease = ReturnType<typeof prepareObjectRelease>

const NO_OBJECT = 0

/** Decides when bytes are needed by no file any more. Runs inside the caller's transaction. */
export function prepareObjectRelease(db: Sql, contents: ContentWrites, discards: DiscardWrites) {
  const { releaseMembers } = prepareMemberWrites(db)
  const unneeded = prepareForMany<number, { readonly id: number }>(
    db,
    NO_OBJECT,
    (objects) =>
      `SELECT id FROM objects WHERE (SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')}
           WHERE files.object = objects.id AND ended_at IS NULL LIMIT 1) IS NULL
         AND (SELECT 1 FROM parts WHERE part = objects.id LIMIT 1) IS NULL
         AND (SELECT 1 FROM members WHERE members.object = objects.id LIMIT 1) IS NULL
         AND (SELECT due_at FROM ended_objects WHERE ended_objects.object = objects.id AND due_at > ?) IS NULL
         AND id IN (${objects})`,
  )
  const partsOf = prepareForMany<number, { readonly part: number }>(
    db,
    NO_OBJECT,
    (wholes) => `SELECT part FROM parts WHERE whole IN (${wholes})`,
  )
  const keepUntil = prepareForMany<number>(
    db,
    NO_OBJECT,
    (objects) =>
      `INSERT INTO ended_objects (object, due_at) SELECT id, ${db.dialect.whole('?')} FROM objects WHERE id IN (${objects})
       ON CONFLICT (object) DO UPDATE SET due_at = excluded.due_at WHERE excluded.due_at > ended_objects.due_at`,
  )
  const due = db
    .prepare<[number, number], number>(
      'SELECT object FROM ended_objects WHERE due_at <= ? ORDER BY due_at, object LIMIT ?',
    )
    .pluck()
  const forget = prepareForMany<number>(
    db,
    NO_OBJECT,
    (objects) => `DELETE FROM ended_objects WHERE object IN (${objects})`,
  )
  const dueNow = db.prepare<[{ object: number; now: number }]>(
    `UPDATE discards SET due_at = :now
     WHERE due_at > :now AND sha256 = (SELECT sha256 FROM objects WHERE id = :object)`,
  )

  /** Lets go of the bytes of objects, and of what they were composed of, as far as nothing else needs them. */
  function* releaseObjects(objects: readonly number[], now: number): Steps<void> {
    for (let left = objects; left.length > 0; ) {
      yield* releaseMembers(left, now)
      const released = (yield* unneeded.all(left, now)).map(({ id }) => id)
      const parts = yield* partsOf.all(released)
      yield* discards.discardReleased(released, now)
      yield* contents.dropBytes(released)
      // Looked at when the wholes that need them are gone.
      left = parts.map(({ part }) => part)
    }
  }

  return {
    releaseObjects,

    /** The same for one object. */
    *releaseObject(object: number, now: number): Steps<void> {
      yield* releaseObjects([object], now)
    },

    /** Lets go of the bytes of an object, as far as nothing else needs them, also where they were to stay for a while. */
    *releaseAtOnce(object: number, now: number): Steps<void> {
      yield* forget.run([object])
      yield* releaseObjects([object], now)
    },

    /** Removes what was put for an object, and is not needed any more, without waiting for its readers. */
    *discardNow(object: number, now: number): Steps<void> {
      yield* dueNow.run({ object, now })
    },

    /** Lets go of the bytes of objects later, unless they are needed then. */
    *releaseLater(objects: readonly number[], dueAt: number): Steps<void> {
      yield* keepUntil.run(objects, dueAt)
    },

    /** Lets go of the bytes whose time is over; answers of how many objects. */
    *releaseEnded({ now, limit }: { now: number; limit: number }): Steps<number> {
      const objects = yield* due.all(now, limit)
      yield* forget.run(objects)
      yield* releaseObjects(objects, now)
      return objects.length
    },
  }
}
