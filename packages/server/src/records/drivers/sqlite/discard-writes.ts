import type { Connection } from './connection.ts'

export type DiscardWrites = ReturnType<typeof prepareDiscardWrites>

/** Statements that decide when bytes in the blob store are needed by nobody. Each runs inside the caller's transaction. */
export function prepareDiscardWrites(db: Connection) {
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

  const isNeeded = (sha256: string): boolean =>
    isInBlobs.get(sha256) !== undefined || claimExists.get(sha256) !== undefined

  return {
    /** Plans the removal of bytes that no object row and no claim needs. */
    discardUnlessNeeded(sha256: string, now: number): void {
      if (!isNeeded(sha256)) insert.run(sha256, now)
    },

    /** Calls off a planned removal; false when the removal has begun and must end first. */
    cancel(sha256: string): boolean {
      const taken = holder.get(sha256)
      if (taken === undefined) return true
      if (taken !== null) return false
      drop.run(sha256)
      return true
    },

    begin({ sha256, instanceId }: { sha256: string; instanceId: string }): boolean {
      const taken = holder.get(sha256)
      // One that this instance took and could not finish is taken again.
      if (taken === undefined || (taken !== null && taken !== instanceId)) return false
      if (isNeeded(sha256)) {
        drop.run(sha256)
        return false
      }
      take.run(instanceId, sha256)
      return true
    },

    finish({ sha256, instanceId }: { sha256: string; instanceId: string }): void {
      dropOwn.run(sha256, instanceId)
    },

    abandonAllOf(instanceId: string): void {
      untake.run(instanceId)
    },
  }
}
