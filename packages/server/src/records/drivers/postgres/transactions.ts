import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { isKeyTaken, verdictOf } from './failures.ts'

/** How long a transaction is run again and again before its failure is told. */
const PATIENCE_MS = 12_000
const FIRST_WAIT_MS = 5
const LONGEST_WAIT_MS = 500

export interface TransactionOptions {
  readonly pool: Pool
  /** A lock that is held from before the transaction until after it. */
  readonly lock: string | undefined
  /** Answers false when the store is being closed: nothing is tried again then. */
  readonly isOpen: () => boolean
}

/**
 * Runs `body` in one serializable transaction, as often as it takes: it decides from what it reads, so it must have no other effect.
 *
 * The key of the transaction is its first change. When a connection breaks while a COMMIT is under way, the next attempt inserts the
 * same key: that waits for the old transaction where it is still going on, and fails where it was committed, which is then what this
 * answers. So a transaction takes effect once, and is never told as failed by a broken connection alone while the database is there.
 *
 * @throws what the last attempt threw, when it would fail again or after about twelve seconds. Then, and only then, a transaction whose
 *   COMMIT was under way may have been made.
 */
export async function transact<Value>(
  { pool, lock, isOpen }: TransactionOptions,
  body: (client: PoolClient) => Promise<Value>,
): Promise<Value> {
  const key = randomUUID()
  const giveUpAt = performance.now() + PATIENCE_MS
  let inDoubt: { readonly value: Value } | undefined
  for (let attempt = 0; ; attempt += 1) {
    const progress: Progress<Value> = { committing: undefined }
    try {
      return await runOnce({ pool, lock, key }, body, progress)
    } catch (error) {
      if (inDoubt !== undefined && isKeyTaken(error)) return inDoubt.value
      const verdict = verdictOf(error)
      if (verdict === 'lost' && progress.committing !== undefined) inDoubt = progress.committing
      const isFinal = verdict === 'fault' || verdict === 'full'
      if (isFinal || !isOpen() || performance.now() > giveUpAt) throw error
      await rest(attempt)
    }
  }
}

interface Progress<Value> {
  /** What the transaction answers, from when its COMMIT is sent. */
  committing: { readonly value: Value } | undefined
}

interface Attempt {
  readonly pool: Pool
  readonly lock: string | undefined
  readonly key: string
}

async function runOnce<Value>(
  { pool, lock, key }: Attempt,
  body: (client: PoolClient) => Promise<Value>,
  progress: Progress<Value>,
): Promise<Value> {
  const client = await pool.connect()
  let isSound = false
  try {
    // Before the transaction, since that sees the records as they are at its first statement.
    if (lock !== undefined) await client.query(LOCK, [lock])
    await client.query(`BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO write_keys (key) VALUES ('${key}')`)
    const value = await body(client)
    progress.committing = { value }
    await client.query('COMMIT')
    isSound = true
    return value
  } catch (error) {
    isSound = verdictOf(error) !== 'lost' && (await rollBack(client))
    throw error
  } finally {
    giveBack(client, lock, isSound)
  }
}

const LOCK = 'SELECT pg_advisory_lock(hashtextextended($1, 0))'
const UNLOCK = 'SELECT pg_advisory_unlock_all()'

async function rollBack(client: PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  )
}

/** Nobody waits for the end of the lock; a connection that cannot let go of it is closed, which does. */
function giveBack(client: PoolClient, lock: string | undefined, isSound: boolean): void {
  if (!isSound || lock === undefined) {
    client.release(!isSound)
    return
  }
  client.query(UNLOCK).then(
    () => client.release(),
    () => client.release(true),
  )
}

function rest(attempt: number): Promise<void> {
  const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt)
  return new Promise((resolve) => setTimeout(resolve, Math.random() * longest))
}
