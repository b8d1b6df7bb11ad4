import { randomUUID } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import type { Pool, PoolClient } from 'pg'
import type { DatabaseState, PoolState } from '../../database-state.ts'
import type { RecordStore } from '../../record-store.ts'
import { prepareLeaseFence } from '../../sql/lease-fence.ts'
import { prepareReads, type ReadInput, type ReadName, type ReadOutput, SNAPSHOT_READS } from '../../sql/reads.ts'
import { recordsOver } from '../../sql/records-over.ts'
import type { Steps } from '../../sql/sql.ts'
import { prepareWrites, type WriteName } from '../../sql/writes.ts'
import { AbandonedSessions } from './abandoned-sessions.ts'
import { APPLICATION, askOn, Connections, createClient } from './connections.ts'
import { Contention } from './contention.ts'
import { isLockTimeout, translatedFailure, verdictOf } from './failures.ts'
import { forgetOldKeys } from './forget-old-keys.ts'
import { MIGRATION_MS, migrate } from './migrate.ts'
import { type Ask, oneByOne, postgresSql, runOn } from './postgres-sql.ts'
import { askInSets } from './query-sets.ts'
import { requireDurable } from './require-durable.ts'
import { SettledSequences } from './settled-sequences.ts'
import { TIMEOUTS, type Timeouts } from './timeouts.ts'
import { noCounts } from './transaction-counts.ts'
import { transact } from './transactions.ts'
import { LOCKED } from './upload-batches.ts'
import type { WriteCall } from './write-call.ts'
import { CONTENTION, meetsContention, queueNameOf } from './write-queue-names.ts'
import { WriteQueues } from './write-queues.ts'
import { sideBySide, stagesOf } from './write-strands.ts'

/** Which database, how many connections, and who is told about problems. */
export interface PostgresRecordStoreOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `sslmode`. */
  readonly url: string
  /** How many connections this store opens at most. @default 16 */
  readonly maxConnections?: number
  /** Told what the operator should know, such as that the server does not write durably. */
  readonly onWarning?: (sentence: string) => void
  /** As that of `openSqliteRecordStore`. */
  readonly beforeUpgrade?: (instances: readonly string[]) => Promise<void>
  /** How long things are waited for, where it is not the usual. `writeMs` and `readMs` are looked at each time. */
  readonly timeouts?: Partial<Timeouts>
}

/** Records, and how their database fares. */
export interface PostgresRecordStore extends RecordStore {
  state(): DatabaseState
}

/** Why a write ends when another one of its transaction has failed. Nobody is told. */
class Undone extends Error {}

const READ_REST_MS = 200
/** How long a batch of uploads waits for the row of somebody else, and how often it is undone, before its uploads are made one by one. */
const BATCH_LOCK_MS = 250
const MAX_BATCH_ATTEMPTS = 2
const CLOCK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS at'

/**
 * Records in a PostgreSQL database (15 or later), for any number of processes on any number of machines.
 *
 * Writes are serializable transactions that are run again when they meet another one; those that are known to meet (of one principal,
 * say) follow each other and share a COMMIT, and so do small uploads of all principals of a process. A COMMIT whose answer was lost is found out about. While the database is away, reads and
 * writes wait for some ten seconds, and then fail with `storage_failed`.
 *
 * Locks of sessions are used, so a pooler in between has to keep sessions (PgBouncer: `pool_mode = session`).
 *
 * @throws {Error} when the database cannot be reached, or is newer than this program.
 *
 * @example
 * const records = await openPostgresRecordStore({ url: 'postgres://lade:secret@127.0.0.1/lade' })
 * records.traits.engine // 'postgres'
 */
export async function openPostgresRecordStore(options: PostgresRecordStoreOptions): Promise<PostgresRecordStore> {
  const { url, maxConnections = 16, onWarning = () => {} } = options
  const timeoutsNow = (): Timeouts => ({ ...TIMEOUTS, ...options.timeouts })
  const timeouts = timeoutsNow()
  // Sessions of this store, and no others.
  const application = `${APPLICATION} ${randomUUID().slice(0, 8)}`
  const session = { ...timeouts, url, application }
  const starting = createClient({ ...session, statementMs: MIGRATION_MS, silenceMs: MIGRATION_MS })
  await starting.connect()
  try {
    await requireDurable(starting, onWarning)
    await migrate(starting, undefined, options.beforeUpgrade)
  } finally {
    await starting.end().catch(() => {})
  }

  // Every write finds its rows by an index. Reading a small table as a whole instead, as joins may too, would make it meet every other write.
  const maxWriters = Math.max(1, Math.ceil(maxConnections / 2))
  const writing = {
    ...session,
    statementMs: timeouts.writeStatementMs,
    silenceMs: timeouts.writeSilenceMs,
    isPipelined: true,
    session: { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off', synchronous_commit: 'on' },
  }
  const writers = new Connections({ ...writing, max: Math.max(1, maxWriters - 1) })
  // One of their own, which those who wait for locks cannot take from them.
  const batching = maxWriters === 1 ? writers : new Connections({ ...writing, max: 1, lockMs: BATCH_LOCK_MS })
  const readers = new Connections({
    ...session,
    statementMs: timeouts.readStatementMs,
    silenceMs: timeouts.readSilenceMs,
    max: Math.max(1, Math.floor(maxConnections / 2)),
  })
  const reads: Record<ReadName, (input: never) => Steps<unknown>> = prepareReads(postgresSql())
  const sql = postgresSql()
  const writes: Record<WriteName, (input: never) => Steps<unknown>> = prepareWrites(sql)
  const leaseFence = prepareLeaseFence(sql)
  const settled = new SettledSequences(readers.pool)
  let isOpen = true

  const counts = noCounts()
  const contention = new Contention()

  async function runCall(ask: Ask, { name, input, fence }: WriteCall, hasFailed: () => boolean): Promise<unknown> {
    // No statement is sent behind the end of the transaction.
    const askUnlessFailed: Ask = (query) => (hasFailed() ? Promise.reject(new Undone()) : ask(query))
    if (fence !== undefined) await runOn(askUnlessFailed, leaseFence.require(fence))
    return runOn(askUnlessFailed, writes[name](input))
  }

  async function runStrand(
    ask: Ask,
    strand: readonly WriteCall[],
    hasFailed: () => boolean,
  ): Promise<readonly unknown[]> {
    const [first] = strand
    if (first === undefined) return []
    if (strand.length === 1) return [await runCall(ask, first, hasFailed)]
    // Only uploads follow each other in a strand.
    const uploads = strand.map(({ input }) => input) as never
    const made = await runCall(ask, { name: 'quotas.commitEach', input: uploads, fence: undefined }, hasFailed)
    return made as readonly unknown[]
  }

  async function runCalls(client: PoolClient, calls: readonly WriteCall[]): Promise<readonly unknown[]> {
    const askOne = askOn(client)
    const outputs: unknown[] = []
    for (const strands of stagesOf(calls)) {
      const ask = strands.length === 1 ? askOne : askInSets(askOne)
      await sideBySide(
        strands.map((strand) => async (hasFailed) => {
          const made = await runStrand(
            ask,
            strand.flatMap((place) => calls[place] ?? []),
            hasFailed,
          )
          for (const [index, place] of strand.entries()) outputs[place] = made[index]
        }),
      )
    }
    return outputs
  }

  async function runWrites(calls: readonly WriteCall[], lock: string | undefined): Promise<readonly unknown[]> {
    const sharedLock = lock !== CONTENTION && calls.some(({ name }) => meetsContention(name)) ? CONTENTION : undefined
    const timeoutMs = timeoutsNow().writeMs
    const outputs = await transact({ ...transactions, timeoutMs, lock, sharedLock }, (client) =>
      runCalls(client, calls),
    )
    contention.note('made')
    return outputs
  }

  async function runBatch(calls: readonly WriteCall[]): Promise<readonly unknown[]> {
    const locks = calls.map(({ name, input }) => queueNameOf(name, input) ?? '')
    const options = {
      ...transactions,
      connections: batching,
      timeoutMs: timeoutsNow().writeMs,
      lock: undefined,
      freeLocks: [...new Set(locks)].toSorted(),
      sharedLock: CONTENTION,
      givesUp: (error: unknown, undone: number) =>
        calls.length === 1 || undone >= MAX_BATCH_ATTEMPTS || isLockTimeout(error),
    }
    const outputs = await transact<readonly unknown[]>(options, async (client, held) => {
      const outputs: unknown[] = calls.map(() => LOCKED)
      const places = [...calls.keys()].filter((place) => held.has(locks[place] ?? ''))
      const made = await runCalls(
        client,
        places.flatMap((place) => calls[place] ?? []),
      )
      for (const [index, place] of places.entries()) outputs[place] = made[index]
      return outputs
    })
    contention.note('made')
    return outputs
  }

  const transactions = {
    connections: writers,
    abandoned: new AbandonedSessions(session),
    isOpen: () => isOpen,
    counts,
    onConflict: () => contention.note('undone'),
  }
  const isContended = (): boolean => contention.isContended
  const queues = new WriteQueues({ run: runWrites, runBatch, timeoutMs: timeouts.writeMs, isContended })
  const underWay = new Set<Promise<unknown>>()
  const stopForgetting = forgetOldKeys(writers.pool)

  async function read<Name extends ReadName>(name: Name, input: ReadInput<Name>): Promise<ReadOutput<Name>> {
    const giveUpAt = performance.now() + timeoutsNow().readMs
    for (;;) {
      try {
        const bound = name === 'placements.unenrolled' ? { ...(input as object), upTo: await settled.upTo() } : input
        const steps = reads[name](bound as never)
        return (await runRead(readers, steps, SNAPSHOT_READS.has(name))) as ReadOutput<Name>
      } catch (error) {
        if (verdictOf(error) !== 'lost' || !isOpen || performance.now() > giveUpAt) throw translatedFailure(error)
        await new Promise((resolve) => setTimeout(resolve, READ_REST_MS))
      }
    }
  }

  let closing: Promise<void> | undefined
  async function end(): Promise<void> {
    isOpen = false
    stopForgetting()
    await Promise.allSettled(underWay)
    await Promise.all([...new Set([writers, batching, readers])].map(({ pool }) => pool.end()))
  }

  const records = recordsOver(
    {
      read,
      async write(name, input, fence) {
        if (!isOpen) throw translatedFailure(new Error('The records are closed.'))
        const written = queues.write(name, input, fence)
        underWay.add(written)
        try {
          return await written
        } catch (error) {
          throw translatedFailure(error)
        } finally {
          underWay.delete(written)
        }
      },
    },
    {
      traits: { engine: 'postgres' },
      async time() {
        try {
          const { rows } = await readers.pool.query<{ at: string }>(CLOCK)
          return Number(rows[0]?.at)
        } catch (error) {
          throw translatedFailure(error)
        }
      },
      async check() {
        try {
          const { rows } = await readers.pool.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
          if (rows[0]?.standby === true) throw new LadeError('read_only', { retryAfterSeconds: 5 })
        } catch (error) {
          throw translatedFailure(error)
        }
      },
      close() {
        closing ??= end()
        return closing
      },
    },
  )
  return {
    ...records,
    state: () => ({
      transactions: { ...counts },
      isContended: isContended(),
      queues: queues.size,
      writers: stateOf(writers.pool, ...(batching === writers ? [] : [batching.pool])),
      readers: stateOf(readers.pool),
    }),
  }
}

function stateOf(...pools: readonly Pool[]): PoolState {
  const sumOf = (count: (pool: Pool) => number): number => pools.reduce((sum, pool) => sum + count(pool), 0)
  return {
    open: sumOf(({ totalCount }) => totalCount),
    idle: sumOf(({ idleCount }) => idleCount),
    waiting: sumOf(({ waitingCount }) => waitingCount),
  }
}

async function runRead(connections: Connections, steps: Steps<unknown>, needsSnapshot: boolean): Promise<unknown> {
  const client = await connections.take()
  let failure: Error | undefined
  try {
    if (needsSnapshot) await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const value = await runOn(oneByOne(askOn(client)), steps)
    if (needsSnapshot) await client.query('COMMIT')
    return value
  } catch (error) {
    connections.failed(error)
    failure = error instanceof Error ? error : new Error(String(error))
    throw error
  } finally {
    // One that failed may be in a transaction still.
    client.release(failure)
  }
}
