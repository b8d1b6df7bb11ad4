import type { Connection } from './connection.ts'

export type DiscardWrites = ReturnType<typeof prepareDiscardWrites>

/** Statements that decide when bytes in the blob store are needed by nobody. Each runs inside the caller's transaction. */
export function prepareDiscardWrites(db: Connection) {
  // An object that lives in the metadata needs nothing from the blob store.
  const blobExists = db.prepare<[string], number>('SELECT 1 FROM objects WHERE sha256 = ? AND inline IS NULL').pluck()
  const claimExists = db
    .prepare<[string], number>('SELECT 1 FROM reservations WHERE claimed_sha256 = ? LIMIT 1')
    .pluck()
  const insert = db.prepare<[string, number]>(
    'INSERT INTO discards (sha256, created_at) VALUES (?, ?) ON CONFLICT (sha256) DO NOTHING',
  )
  const drop = db.prepare<[string]>('DELETE FROM discards WHERE sha256 = ?')
  const holder = db.prepare<[string], string | null>('SELECT instance FROM discards WHERE sha256 = ?').pluck()
  const take = db.prepare<[string, string]>('UPDATE discards SET instance = ? WHERE sha256 = ?')
  const untake = db.prepare<[string]>('UPDATE discards SET instance = NULL WHERE instance = ?')

  const isNeeded = (sha256: string): boolean =>
    blobExists.get(sha256) !== undefined || claimExists.get(sha256) !== undefined

  return {
    /** True when the blob store holds these bytes; inline bytes leave with their last file, so nobody may count on them. */
    blobExists: (sha256: string): boolean => blobExists.get(sha256) !== undefined,

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
      if (holder.get(sha256) !== null) return false
      if (isNeeded(sha256)) {
        drop.run(sha256)
        return false
      }
      take.run(instanceId, sha256)
      return true
    },

    finish({ sha256 }: { sha256: string }): void {
      drop.run(sha256)
    },

    abandonAllOf(instanceId: string): void {
      untake.run(instanceId)
    },
  }
}
