import type { BlobName } from '../inventory-records.ts'
import type { DiscardRequest } from '../record-store.ts'
import { prepareForMany } from './many.ts'
import { prepareRemovalHold } from './removal-hold.ts'
import type { Sql, Steps } from './sql.ts'

const NO_OBJECT = 0

export type DiscardWrites = ReturnType<typeof prepareDiscardWrites>

/** When something is planned, and from when on it may be done. */
export interface DiscardTimes {
  readonly now: number
  /** @default now */
  readonly dueAt?: number
}

/** Statements that decide when bytes in the blob store are needed by nobody. Each runs inside the caller's transaction. */
export function prepareDiscardWrites(db: Sql) {
  // A composed object has no blob of its own; what is found under its digest is left of an upload of the same bytes.
  const isInBlobs = db
    .prepare<[string, string], number>(
      `SELECT 1 FROM objects WHERE sha256 = ? AND place = 'blob' AND put = ?
       AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
    )
    .pluck()
  const claimExists = db
    .prepare<[string, string], number>(
      'SELECT 1 FROM reservations WHERE claimed_sha256 = ? AND claimed_put = ? LIMIT 1',
    )
    .pluck()
  // Of two plans the one that is due sooner counts.
  const insert = db.prepare<[string, string, number, number]>(
    `INSERT INTO discards (sha256, put, created_at, due_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (sha256, put) DO UPDATE SET due_at = excluded.due_at WHERE excluded.due_at < discards.due_at`,
  )
  const insertReleased = prepareForMany<number>(
    db,
    NO_OBJECT,
    (objects) =>
      `INSERT INTO discards (sha256, put, created_at, due_at)
       SELECT sha256, put, ${db.dialect.whole('?')}, ${db.dialect.whole('?')} FROM objects
       WHERE place = 'blob' AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)
         AND (sha256, put) NOT IN (SELECT claimed_sha256, claimed_put FROM reservations WHERE claimed_sha256 IS NOT NULL)
         AND id IN (${objects})
       ON CONFLICT (sha256, put) DO UPDATE SET due_at = excluded.due_at WHERE excluded.due_at < discards.due_at`,
  )
  const insertReplaced = db.prepare<[{ object: number; put: string; now: number; dueAt: number }]>(
    `INSERT INTO discards (sha256, put, created_at, due_at)
     SELECT sha256, put, CAST(:now AS BIGINT), CAST(:dueAt AS BIGINT) FROM objects
     WHERE id = :object AND place = 'blob' AND put <> :put AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)
     ON CONFLICT (sha256, put) DO NOTHING`,
  )
  const insertOrphan = db.prepare<[string, string, number, number]>(
    `INSERT INTO discards (sha256, put, created_at, due_at, is_orphan) VALUES (?, ?, ?, ?, 1)
     ON CONFLICT (sha256, put) DO NOTHING`,
  )
  const postponeAll = db.prepare<[number]>('UPDATE discards SET is_orphan = 1, instance = NULL, due_at = ?')
  const insertClaimed = db.prepare<[{ now: number; dueAt: number }]>(
    `INSERT INTO discards (sha256, put, created_at, due_at, is_orphan)
     SELECT DISTINCT claimed_sha256, claimed_put, CAST(:now AS BIGINT), CAST(:dueAt AS BIGINT), 1 FROM reservations
     WHERE claimed_sha256 IS NOT NULL
     ON CONFLICT (sha256, put) DO NOTHING`,
  )
  const dropClaims = db.prepare<[]>(
    "UPDATE reservations SET claimed_sha256 = NULL, claimed_put = '' WHERE claimed_sha256 IS NOT NULL",
  )
  const dropOrphans = db.prepare<[]>('DELETE FROM discards WHERE is_orphan = 1 AND instance IS NULL')
  const drop = db.prepare<[string, string]>('DELETE FROM discards WHERE sha256 = ? AND put = ?')
  const dropOwn = db.prepare<[string, string, string]>(
    'DELETE FROM discards WHERE sha256 = ? AND put = ? AND instance = ?',
  )
  const planned = db.prepare<[string, string], { readonly instance: string | null; readonly due_at: number }>(
    'SELECT instance, due_at FROM discards WHERE sha256 = ? AND put = ?',
  )
  const take = db.prepare<[string, string, string]>('UPDATE discards SET instance = ? WHERE sha256 = ? AND put = ?')
  const hold = prepareRemovalHold(db)
  const untake = db.prepare<[string]>('UPDATE discards SET instance = NULL WHERE instance = ?')

  function* isNeeded({ sha256, put }: BlobName): Steps<boolean> {
    return (yield* isInBlobs.get(sha256, put)) !== undefined || (yield* claimExists.get(sha256, put)) !== undefined
  }

  return {
    /** True while an object row or a claim needs what was put like this. */
    isNeeded,

    /** Plans the removal of bytes that no object row and no claim needs. */
    *discardUnlessNeeded(blob: BlobName, { now, dueAt = now }: DiscardTimes): Steps<void> {
      if (!(yield* isNeeded(blob))) yield* insert.run(blob.sha256, blob.put, now, dueAt)
    },

    /** Plans the removal of the blobs of objects that need them no more, as far as no claim does. Composed ones have none. */
    *discardReleased(objects: readonly number[], now: number): Steps<void> {
      yield* insertReleased.run(objects, now, now)
    },

    /** Plans the removal of bytes that no record ever named; false when they are needed, or their removal is planned already. */
    *planOrphan(blob: BlobName, { now, dueAt }: Required<DiscardTimes>): Steps<boolean> {
      if (yield* isNeeded(blob)) return false
      return (yield* insertOrphan.run(blob.sha256, blob.put, now, dueAt)).changes > 0
    },

    /** Calls off the removal of all orphans that nobody has begun to remove. */
    *letOrphansBe(): Steps<void> {
      yield* dropOrphans.run()
    },

    /** Postpones all removals, and has what uploads had claimed wait with them. `begin` drops those that an object needs. */
    *keepAsOrphans({ now, dueAt }: Required<DiscardTimes>): Steps<void> {
      yield* postponeAll.run(dueAt)
      yield* insertClaimed.run({ now, dueAt })
      yield* dropClaims.run()
    },

    /** Plans the removal of what an object has in the blob store, since it will be read from another put. */
    *discardReplaced(object: number, put: string, { now, dueAt = now }: DiscardTimes): Steps<void> {
      yield* insertReplaced.run({ object, put, now, dueAt })
    },

    /** Calls off a planned removal; false when the removal has begun and must end first. */
    *cancel({ sha256, put }: BlobName): Steps<boolean> {
      const plan = yield* planned.get(sha256, put)
      if (plan === undefined) return true
      if (plan.instance !== null) return false
      yield* drop.run(sha256, put)
      return true
    },

    *begin({ sha256, put, instanceId, now }: DiscardRequest & { readonly now: number }): Steps<boolean> {
      const plan = yield* planned.get(sha256, put)
      // One that this instance took and could not finish is taken again.
      if (plan === undefined || (plan.instance !== null && plan.instance !== instanceId)) return false
      if (yield* isNeeded({ sha256, put })) {
        yield* drop.run(sha256, put)
        return false
      }
      if (plan.due_at > now || (yield* hold.isHeld(now))) return false
      yield* take.run(instanceId, sha256, put)
      return true
    },

    *finish({ sha256, put, instanceId }: DiscardRequest): Steps<void> {
      yield* dropOwn.run(sha256, put, instanceId)
    },

    *abandonAllOf(instanceId: string): Steps<void> {
      yield* untake.run(instanceId)
    },
  }
}
