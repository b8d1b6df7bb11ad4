import type { Client, Pool } from 'pg'
import type { HeldLock, InstanceLocks } from '../../instance-locks.ts'
import { createClient, openPool } from './connections.ts'
import { translatedFailure } from './failures.ts'

/** The first half of the locks of instances, which tells them from other locks. */
const KIND = 1_818_321_765
const RECONNECT_MS = 500
/**
 * A lock that is not there has to be missing for this long before its instance counts as dead: all of them are gone when the database has
 * been started again, until each instance has taken its own.
 */
const GRACE_MS = 10_000

/**
 * Locks on connections to the database, which lets go of them when the process or its machine is gone: at once for a process that ends,
 * within some fifteen seconds for a machine that falls silent.
 */
export function openPostgresInstanceLocks({
  url,
}: {
  readonly url: string
}): InstanceLocks & { close(): Promise<void> } {
  const pool: Pool = openPool({ url, max: 1 })
  const missingSince = new Map<string, number>()

  return {
    hold: (instanceId) => hold(url, instanceId),

    async isHeld(instanceId) {
      const { rowCount } = await pool
        .query(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1::bigint::oid
             AND objid = (hashtext($2)::bigint & 4294967295)::oid AND objsubid = 2
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`,
          [KIND, instanceId],
        )
        .catch((error: unknown) => {
          throw translatedFailure(error)
        })
      if (rowCount !== 0) {
        missingSince.delete(instanceId)
        return true
      }
      const now = performance.now()
      const since = missingSince.get(instanceId) ?? now
      missingSince.set(instanceId, since)
      if (now - since < GRACE_MS) return true
      missingSince.delete(instanceId)
      return false
    },

    close: () => pool.end(),
  }
}

/** Takes the lock, and takes it again on a new connection whenever the one that has it breaks. */
async function hold(url: string, instanceId: string): Promise<HeldLock> {
  let isReleased = false
  let client: Client | undefined
  let retry: NodeJS.Timeout | undefined

  async function take(): Promise<void> {
    const taken = createClient({ url, session: { idle_session_timeout: 0 } })
    taken.once('end', again)
    try {
      await taken.connect()
      await taken.query('SELECT pg_advisory_lock($1, hashtext($2))', [KIND, instanceId])
    } catch (error) {
      taken.off('end', again)
      await taken.end().catch(() => {})
      throw error
    }
    client = taken
  }

  function again(): void {
    client = undefined
    if (isReleased) return
    retry = setTimeout(() => {
      take().catch(again)
    }, RECONNECT_MS)
    retry.unref()
  }

  await take()
  return {
    async release() {
      isReleased = true
      clearTimeout(retry)
      await client?.end().catch(() => {})
    },
  }
}
