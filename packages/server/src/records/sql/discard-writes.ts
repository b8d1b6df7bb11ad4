import type { Sql, Steps } from './sql.ts'

export type DiscardWrites = ReturnType<typeof prepareDiscardWrites>

/** Statements that decide when bytes in the blob store are needed by nobody. Each runs inside the caller's transaction. */
export function prepareDiscardWrites(db: Sql) {
  // A composed object has no blob of its own; what is found under its digest is left of an upload of the same bytes.
  const isInBlobs = db
    .prepare<[string], number>(
      `SELECT 1 FROM objects WHERE sha256 = ? AND place = 'blob'
       AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
    )
    .pluck()
  const claimExists = db
    .prepare<[string], number>('SELECT 1 FROM reservations WHERE claimed_sha256 = ? LIMIT 1')
    .pluck()
  const insert = db.prepare<[string, number]>(
    'INSERT INTO discards (sha256, created_at) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING',
  )
  const drop = db.prepare<[string]>('DELETE FROM discards WHERE sha256 = ?')
  const dropOwn = db.prepare<[string, string]>('DELETE FROM discards WHERE sha256 = ? AND instance = ?')
  const holder = db.prepare<[string], string | null>('SELECT instance FROM discards WHERE sha256 = ?').pluck()
  const take = db.prepare<[string, string]>('UPDATE discards SET instance = ? WHERE sha256 = ?')
  const untake = db.prepare<[string]>('UPDATE discards SET instance = NULL WHERE instance = ?')

  function* isNeeded(sha256: string): Steps<boolean> {
    return (yield* isInBlobs.get(sha256)) !== undefined || (yield* claimExists.get(sha256)) !== undefined
  }

  return {
    /** True while an object row or a claim needs the bytes. */
    isNeeded,

    /** Plans the removal of bytes that no object row and no claim needs. */
    *discardUnlessNeeded(sha256: string, now: number): Steps<void> {
      if (!(yield* isNeeded(sha256))) yield* insert.run(sha256, now)
    },

    /** Calls off a planned removal; false when the removal has begun and must end first. */
    *cancel(sha256: string): Steps<boolean> {
      const taken = yield* holder.get(sha256)
      if (taken === undefined) return true
      if (taken !== null) return false
      yield* drop.run(sha256)
      return true
    },

    *begin({ sha256, instanceId }: { sha256: string; instanceId: string }): Steps<boolean> {
      const taken = yield* holder.get(sha256)
      // One that this instance took and could not finish is taken again.
      if (taken === undefined || (taken !== null && taken !== instanceId)) return false
      if (yield* isNeeded(sha256)) {
        yield* drop.run(sha256)
        return false
      }
      yield* take.run(instanceId, sha256)
      return true
    },

    *finish({ sha256, instanceId }: { sha256: string; instanceId: string }): Steps<void> {
      yield* dropOwn.run(sha256, instanceId)
    },

    *abandonAllOf(instanceId: string): Steps<void> {
      yield* untake.run(instanceId)
    },
  }
}
