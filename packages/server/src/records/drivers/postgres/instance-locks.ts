import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import type { HeldLock, InstanceLocks } from '../../instance-locks.ts'
import { type ConnectionOptions, createClient, openPool } from './connections.ts'
import { translatedFailure } from './failures.ts'

/** The first half of the locks of instances, which tells them from other locks. */
const KIND = 1_818_321_765
const RECONNECT_MS = 500
const END_MS = 1000

/** Which database the locks are in. */
export interface PostgresInstanceLocksOptions {
  readonly url: string
  /**
   * A lock that is not there has to be missing for this long, and the database has to be up for this long, before its instance counts
   * as dead: all of them are gone when the database has been started again, until each instance has taken its own. @default 10000
   */
  readonly graceMs?: number
  /** How often the connection of a lock is tried, and how long its answer is waited for. @default 2000 */
  readonly heartbeatMs?: number
}

/**
 * Locks on connections to the database, which lets go of them when the process or its machine is gone: at once for a process that ends,
 * within some ten seconds for a machine that falls silent.
 *
 * `isHeld` fails with `storage_failed` while the database is away: nobody can tell then.
 */
export function openPostgresInstanceLocks(
  options: PostgresInstanceLocksOptions,
): InstanceLocks & { close(): Promise<void> } {
  const { url, graceMs = 10_000, heartbeatMs = 2000 } = options
  const session: ConnectionOptions = { url, application: 'lade locks' }
  const pool = openPool({ ...session, max: 1 })
  const missingSince = new Map<string, number>()

  return {
    hold: (instanceId) => hold({ ...session, silenceMs: heartbeatMs }, heartbeatMs, instanceId),

    async isHeld(instanceId) {
      const { rows } = await pool
        .query<{ held: boolean; upMs: number }>(FIND_LOCK, [KIND, instanceId])
        .catch((error: unknown) => {
          throw translatedFailure(error)
        })
      const { held = true, upMs = 0 } = rows[0] ?? {}
      if (held || upMs < graceMs) {
        missingSince.delete(instanceId)
        return true
      }
      const now = performance.now()
      const since = missingSince.get(instanceId) ?? now
      missingSince.set(instanceId, since)
      if (now - since < graceMs) return true
      missingSince.delete(instanceId)
      return false
    },

    close: () => pool.end(),
  }
}

/** The number of a lock is in two columns of 32 bits. */
const FIND_LOCK = `SELECT
    EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = $1::bigint::oid
      AND objid = (hashtext($2)::bigint & 4294967295)::oid AND objsubid = 2
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held,
    (extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) * 1000)::float8 AS "upMs"`

/** Shared, so that it is taken again at once where the server has not yet noticed that the connection before is gone. */
const TAKE_LOCK = 'SELECT pg_advisory_lock_shared($1, hashtext($2))'

/** Takes the lock, and takes it again on a new connection whenever the one that has it breaks or falls silent. */
async function hold(session: ConnectionOptions, heartbeatMs: number, instanceId: string): Promise<HeldLock> {
  let isReleased = false
  let client: Client | undefined
  let timer: NodeJS.Timeout | undefined

  async function take(): Promise<void> {
    const taken = createClient({ ...session, session: { idle_session_timeout: 0 } })
    try {
      await taken.connect()
      await taken.query(TAKE_LOCK, [KIND, instanceId])
    } catch (error) {
      await end(taken)
      throw error
    }
    if (isReleased) return end(taken)
    client = taken
    // Its end may have been there before.
    taken.once('end', takeAgainSoon)
    later(heartbeatMs, () => beat(taken))
  }

  async function beat(held: Client): Promise<void> {
    try {
      await held.query('SELECT 1')
      later(heartbeatMs, () => beat(held))
    } catch {
      held.off('end', takeAgainSoon)
      void end(held)
      takeAgainSoon()
    }
  }

  function takeAgainSoon(): void {
    client = undefined
    later(RECONNECT_MS, () => take().catch(takeAgainSoon))
  }

  function later(ms: number, run: () => unknown): void {
    clearTimeout(timer)
    if (isReleased) return
    timer = setTimeout(run, ms)
    timer.unref()
  }

  await take()
  return {
    async release() {
      isReleased = true
      clearTimeout(timer)
      if (client !== undefined) await end(client)
    },
  }
}

/** One that does not answer is not waited for, and keeps no process from its end. */
async function end(client: Client): Promise<void> {
  const waiting = new AbortController()
  const ended = client.end().catch(() => {})
  await Promise.race([ended, sleep(END_MS, undefined, { signal: waiting.signal }).catch(() => {})])
  waiting.abort()
  const { unref }: { unref?(): void } = client as object
  unref?.call(client)
}
