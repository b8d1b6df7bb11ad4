import { randomUUID } from 'node:crypto'
import type { PoolClient } from 'pg'
import { OutcomeUnknown } from '../../outcome-unknown.ts'
import type { AbandonedSessions } from './abandoned-sessions.ts'
import { allOf } from './all-of.ts'
import type { Connections } from './connections.ts'
import { codeOf, isKeyTaken, isUniqueViolation, verdictOf } from './failures.ts'
import type { MutableCounts } from './transaction-counts.ts'

const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 250
/** However often a COMMIT is lost, so many times the timeouts is the end. */
const MAX_TIMEOUTS = 3
/** Something that is still there after so many looks was there before. */
const MAX_RACES = 10

export interface TransactionOptions {
  /** Pipelined ones. */
  readonly connections: Connections
  /** A lock that is held from before the transaction until after it. */
  readonly lock: string | undefined
  /** One that is held like it, at the same time as others who share it, and not while somebody has it as `lock`. */
  readonly sharedLock?: string | undefined
  /** Locks like it of which those are taken that nobody has or waits for. In this order. */
  readonly freeLocks?: readonly string[] | undefined
  /** For how long the transaction is run again and again before its failure is told. */
  readonly timeoutMs: number
  /** Sessions of theirs that are to be ended, since their connection is lost. */
  readonly abandoned: AbandonedSessions
  /** Answers false when the store is being closed: a database that is away is not waited for then. */
  readonly isOpen: () => boolean
  readonly counts: MutableCounts
  /** Told of every attempt that another transaction undid. */
  readonly onConflict?: () => void
  /** Whether to tell the failure of an attempt that others undid, the last of so many. @default while the timeouts leave time, it is not told */
  readonly givesUp?: (error: unknown, undone: number) => boolean
}

/**
 * Runs `body` in one serializable transaction, as often as it takes: it decides from what it reads, so it must have no other effect. It is
 * told which of the `freeLocks` the transaction has.
 *
 * The key of the transaction is its first change. When a connection breaks while a COMMIT is under way, the next attempt inserts the
 * same key: that waits for the old transaction where it is still going on, and fails where it was committed, which is then what this
 * answers. So a transaction takes effect once, and is never told as failed by a broken connection alone while the database is there.
 *
 * @throws what the last attempt threw, when it would fail again or after the timeouts is at an end. Nothing was changed then.
 * @throws {OutcomeUnknown} when a COMMIT was under way and the database could not be asked about it, for as long as the timeouts once
 *   more, and three times it in all. Then, and only then, the transaction may have been made.
 */
export async function transact<Value>(
  options: TransactionOptions,
  body: (client: PoolClient, held: ReadonlySet<string>) => Promise<Value>,
): Promise<Value> {
  const { connections, timeoutMs, isOpen, counts, onConflict, givesUp = () => false } = options
  const key = randomUUID()
  const since = performance.now()
  let giveUpAt = since + timeoutMs
  let inDoubt: { readonly value: Value } | undefined
  let races = 0
  let undone = 0
  for (let attempt = 0; ; attempt += 1) {
    const progress: Progress<Value> = { hasKey: false, committing: undefined }
    try {
      const value = await runOnce({ ...options, key }, body, progress)
      counts.committed += 1
      return value
    } catch (error) {
      if (inDoubt !== undefined && isKeyTaken(error) && (await isConfirmed(connections))) {
        counts.foundCommitted += 1
        return inDoubt.value
      }
      const verdict = verdictOf(error)
      connections.failed(error)
      count(error, counts)
      if (codeOf(error) === '40001') onConflict?.()
      // Whose key could be inserted, the attempts before it were undone.
      if (progress.hasKey) inDoubt = undefined
      if (verdict === 'lost') {
        if (progress.committing !== undefined) {
          inDoubt = progress.committing
          giveUpAt = Math.min(performance.now() + timeoutMs, since + MAX_TIMEOUTS * timeoutMs)
        }
      }
      if (inDoubt === undefined) {
        if (isUniqueViolation(error)) races += 1
        if (verdict === 'again') undone += 1
        const isGivenUp = verdict === 'again' && givesUp(error, undone)
        const isFinal = verdict === 'fault' || verdict === 'full' || races > MAX_RACES || isGivenUp
        if (isFinal || (verdict === 'lost' && !isOpen()) || performance.now() > giveUpAt) throw error
      } else if (performance.now() > giveUpAt) {
        counts.unknown += 1
        throw new OutcomeUnknown(error)
      }
      await rest(attempt)
    }
  }
}

interface Progress<Value> {
  /** Whether the key of the transaction was free. */
  hasKey: boolean
  /** What the transaction answers, from when its COMMIT is sent. */
  committing: { readonly value: Value } | undefined
}

interface Attempt extends TransactionOptions {
  readonly key: string
}

async function runOnce<Value>(
  attempt: Attempt,
  body: (client: PoolClient, held: ReadonlySet<string>) => Promise<Value>,
  progress: Progress<Value>,
): Promise<Value> {
  const { connections, abandoned, lock, sharedLock, freeLocks = [], key } = attempt
  const client = await connections.take()
  const isLocked = lock !== undefined || sharedLock !== undefined || freeLocks.length > 0
  let isSound = false
  let unlocked: Promise<unknown> | undefined
  try {
    // Where they cannot be ended, the waits below are as long as the server lets them live.
    await abandoned.end(client)
    const taking = freeLocks.length === 0 ? undefined : takeFree(client, freeLocks)
    await allOf<unknown>([
      taking,
      // Before the transaction, since that sees the records as they are at its first statement.
      // The shared one last: who waits for its own lock keeps nobody from the other.
      lock === undefined ? undefined : client.query({ name: 'lade-lock', text: LOCK, values: [lock] }),
      sharedLock === undefined ? undefined : client.query({ name: 'lade-share', text: SHARE, values: [sharedLock] }),
      // One message, of which nothing is done after what fails: a key outside of its transaction would be one that is taken.
      client.query(`BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO write_keys (key) VALUES ('${key}')`),
    ])
    progress.hasKey = true
    const value = await body(client, new Set(await taking))
    progress.committing = { value }
    const committed = client.query('COMMIT')
    unlocked = isLocked ? client.query({ name: 'lade-unlock', text: UNLOCK }) : undefined
    // It is waited for below, and may fail before that.
    unlocked?.catch(() => {})
    await committed
    isSound = true
    return value
  } catch (error) {
    isSound = verdictOf(error) !== 'lost' && (await rollBack(client))
    if (isSound && isLocked) unlocked ??= client.query({ name: 'lade-unlock', text: UNLOCK })
    throw error
  } finally {
    giveBack(attempt, client, unlocked, isSound)
  }
}

const LOCK = 'SELECT pg_advisory_lock(hashtextextended($1, 0))'
const SHARE = 'SELECT pg_advisory_lock_shared(hashtextextended($1, 0))'
// Never waits, so that whoever has one of them holds up nobody but those who need it.
const TAKE_FREE = `SELECT name FROM unnest($1::text[]) AS name WHERE pg_try_advisory_lock(hashtextextended(name, 0))`
const UNLOCK = 'SELECT pg_advisory_unlock_all()'

async function takeFree(client: PoolClient, locks: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>({ name: 'lade-take-free', text: TAKE_FREE, values: [locks] })
  return rows.map(({ name }) => name)
}

/**
 * True when what was committed before is as durable as a COMMIT that is answered: a session that is ended while it waits for a standby
 * has committed all the same, and what is committed after it waits for the standby anew.
 */
async function isConfirmed({ pool }: Connections): Promise<boolean> {
  return pool.query('INSERT INTO write_keys (key) VALUES (gen_random_uuid())').then(
    () => true,
    () => false,
  )
}

async function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}

/** Nobody waits for the end of the lock. */
function giveBack(
  options: TransactionOptions,
  client: PoolClient,
  unlocked: Promise<unknown> | undefined,
  isSound: boolean,
): void {
  if (!isSound) {
    abandon(options, client)
  } else if (unlocked === undefined) {
    client.release()
  } else {
    unlocked.then(
      () => client.release(),
      (error: unknown) => {
        options.connections.failed(error)
        abandon(options, client)
        // Those who wait for the lock are in the middle of an attempt, and nobody else may come by.
        void options.abandoned.endNow()
      },
    )
  }
}

/** Closes a connection that is lost, whose session may live on with its locks. */
function abandon({ connections, abandoned }: TransactionOptions, client: PoolClient): void {
  abandoned.add(connections.sessionOf(client))
  client.release(true)
}

function count(error: unknown, counts: MutableCounts): void {
  const code = codeOf(error)
  if (code === '40001') counts.conflicts += 1
  else if (code === '40P01') counts.deadlocks += 1
  else if (code === '55P03') counts.lockTimeouts += 1
  else if (code === '23505') counts.races += 1
  else if (verdictOf(error) === 'lost') counts.lost += 1
}

function rest(attempt: number): Promise<void> {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
