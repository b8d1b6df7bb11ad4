import { type Client, Client as PgClient, type PoolClient } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres, throughPort } from '../../../../../../services/postgres.ts'
import { until } from '../../../../../../services/until.ts'
import { commitAtOnce, counted, times, upload } from '../../conformance/case.ts'
import { AbandonedSessions } from './abandoned-sessions.ts'
import { Connections } from './connections.ts'
import { verdictOf } from './failures.ts'
import { openPostgresRecordStore, type PostgresRecordStore } from './postgres-record-store.ts'
import { startFreezingRelay } from './testing-freezing-relay.ts'
import { noCounts } from './transaction-counts.ts'
import { type TransactionOptions, transact } from './transactions.ts'

const TIMEOUT_MS = 1000

let postgres: Postgres
let url: string
let connections: Connections
let abandoned: AbandonedSessions
let other: Client
let counts = noCounts()

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('transactions')
  const session = { url, application: 'tested', lockMs: 300, silenceMs: 5000 }
  connections = new Connections({ ...session, max: 8, isPipelined: true })
  abandoned = new AbandonedSessions(session)
  other = new PgClient({ connectionString: url })
  await other.connect()
  await other.query(`CREATE TABLE write_keys (key UUID PRIMARY KEY);
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL CHECK (value >= 0));
    CREATE TABLE notes (text TEXT PRIMARY KEY)`)
})

afterAll(async () => {
  await connections?.pool.end()
  await other?.end()
  await postgres.discard()
})

beforeEach(async () => {
  counts = noCounts()
  await other.query("TRUNCATE write_keys, counters, notes; INSERT INTO counters VALUES ('a', 0), ('b', 0)")
})

function run<Value>(body: (client: PoolClient) => Promise<Value>, options: Partial<TransactionOptions> = {}) {
  const usual = { connections, abandoned, lock: undefined, timeoutMs: TIMEOUT_MS, isOpen: () => true, counts }
  return transact({ ...usual, ...options }, (client) => body(client))
}

async function valueIn(client: Client | PoolClient, name: string): Promise<number> {
  const { rows } = await client.query<{ value: number }>('SELECT value FROM counters WHERE name = $1', [name])
  return rows[0]?.value ?? -1
}

async function increment(client: PoolClient, name = 'a'): Promise<number> {
  const value = (await valueIn(client, name)) + 1
  await client.query('UPDATE counters SET value = $2 WHERE name = $1', [name, value])
  return value
}

async function keys(): Promise<number> {
  const { rows } = await other.query<{ count: string }>('SELECT count(*) FROM write_keys')
  return Number(rows[0]?.count)
}

/** Locks of sessions that anybody has. */
async function locks(): Promise<number> {
  const { rows } = await other.query<{ count: string }>("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
  return Number(rows[0]?.count)
}

describe('transact', () => {
  test('runs those that undo each other again until each was made once', async () => {
    const values = await Promise.all(times(24, () => run(increment)))
    expect(values.toSorted((one, two) => one - two)).toEqual(times(24, (index) => index + 1))
    expect(await valueIn(other, 'a')).toBe(24)
    expect(counts).toMatchObject({ committed: 24, lost: 0, unknown: 0 })
    expect(counts.conflicts).toBeGreaterThan(0)
    expect(await keys()).toBe(24)
  })

  test('lets those of one lock follow each other, so that none is undone, and lets go of the lock', async () => {
    const values = await Promise.all(times(24, () => run(increment, { lock: 'one' })))
    expect(values).toHaveLength(24)
    expect(counts).toMatchObject({ committed: 24, conflicts: 0 })
    await until('the lock is free', 1000, async () => (await locks()) === 0)
  })

  test('tells apart what undoes only by reading what the other writes', async () => {
    // Each sees the other's counter before it changes: one of the two has to see it changed.
    const both = (mine: string, theirs: string) =>
      run(async (client) => {
        const value = await valueIn(client, theirs)
        await client.query('UPDATE counters SET value = $2 WHERE name = $1', [mine, value + 1])
        return value
      })
    await Promise.all([both('a', 'b'), both('b', 'a')])
    expect([await valueIn(other, 'a'), await valueIn(other, 'b')].toSorted()).toEqual([1, 2])
  })

  test('runs one of two again that wait for each other', async () => {
    const inOrder = (first: string, second: string) =>
      run(async (client) => {
        await client.query('UPDATE counters SET value = value + 1 WHERE name = $1', [first])
        await client.query('SELECT pg_sleep(0.05)')
        await client.query("SET LOCAL deadlock_timeout = '20ms'")
        await client.query('UPDATE counters SET value = value + 1 WHERE name = $1', [second])
      })
    await Promise.all([inOrder('a', 'b'), inOrder('b', 'a')])
    expect([await valueIn(other, 'a'), await valueIn(other, 'b')]).toEqual([2, 2])
    expect(counts.deadlocks + counts.conflicts + counts.lockTimeouts).toBeGreaterThan(0)
  })

  test('runs again what met the row of another, and lets it see that', async () => {
    const note = () =>
      run(async (client) => {
        const { rowCount } = await client.query("SELECT 1 FROM notes WHERE text = 'x'")
        if (rowCount === 1) return 'found'
        await client.query("INSERT INTO notes VALUES ('x')")
        return 'made'
      })
    const outcomes = await Promise.all(times(8, async () => ({ outcome: await note() })))
    expect(counted(outcomes)).toEqual({ made: 1, found: 7 })
  })

  test('error: a row that is there whenever it is looked for is soon told', async () => {
    await other.query("INSERT INTO notes VALUES ('x')")
    let attempts = 0
    const inserted = run(async (client) => {
      attempts += 1
      await client.query("INSERT INTO notes VALUES ('x')")
    })
    await expect(inserted).rejects.toMatchObject({ code: '23505' })
    expect(attempts).toBe(11)
    expect(await keys()).toBe(0)
  })

  test.each([
    ['a change that a table refuses', "UPDATE counters SET value = -1 WHERE name = 'a'", '23514'],
    ['a statement that is wrong', 'SELECT nothing', '42703'],
  ])('error: %s is told at once, and changes nothing', async (_, statement, code) => {
    let attempts = 0
    const failing = run(async (client) => {
      attempts += 1
      await increment(client)
      await client.query(statement)
    })
    await expect(failing).rejects.toMatchObject({ code })
    expect(attempts).toBe(1)
    expect(await valueIn(other, 'a')).toBe(0)
    expect(await keys()).toBe(0)
    expect(await run(increment)).toBe(1)
  })

  test('error: a lock that another session keeps is told within the timeouts and one wait more', async () => {
    await other.query("SELECT pg_advisory_lock(hashtextextended('kept', 0))")
    try {
      const since = performance.now()
      await expect(run(increment, { lock: 'kept' })).rejects.toMatchObject({ code: '55P03' })
      expect(performance.now() - since).toBeLessThan(TIMEOUT_MS + 1000)
      expect(counts.lockTimeouts).toBeGreaterThan(1)
    } finally {
      await other.query('SELECT pg_advisory_unlock_all()')
    }
    expect(await run(increment, { lock: 'kept' })).toBe(1)
    expect(await keys()).toBe(1)
  })

  test('runs again what lost its connection before its COMMIT', async () => {
    let attempts = 0
    const value = await run(async (client) => {
      attempts += 1
      const made = await increment(client)
      if (attempts < 3) await other.query('SELECT pg_terminate_backend($1)', [await pidOf(client)])
      return made
    })
    expect([value, attempts]).toEqual([1, 3])
    expect(counts).toMatchObject({ committed: 1, lost: 2, foundCommitted: 0 })
  })

  test('error: one whose COMMIT is lost again and again is told in bounded time as one of which nobody knows', async () => {
    const since = performance.now()
    const cut = run(async (client) => {
      await increment(client)
      await other.query('SELECT pg_terminate_backend($1)', [await pidOf(client)])
    })
    await expect(cut).rejects.toMatchObject({ name: 'OutcomeUnknown' })
    expect(performance.now() - since).toBeLessThan(3 * TIMEOUT_MS + 1000)
    expect(counts).toMatchObject({ committed: 0, foundCommitted: 0, unknown: 1 })
    expect([await valueIn(other, 'a'), await keys()]).toEqual([0, 0])
  })

  test('lets go of the lock of a session that stands still behind its COMMIT, although the server hears of no end', async () => {
    const relay = await startFreezingRelay(postgres.port)
    const through = throughPort(url, relay.port)
    const session = { url: through, application: 'tested', lockMs: 5000, silenceMs: 1000 }
    const pipelined = { connections: new Connections({ ...session, max: 2, isPipelined: true }) }
    const timeouts = { lock: 'one', timeoutMs: 10 * TIMEOUT_MS }
    try {
      relay.freezeAfterCommit()
      await run(increment, { ...timeouts, ...pipelined, abandoned: new AbandonedSessions(session) })
      expect(await locks()).toBe(1)
      // Somebody on another machine, who knows nothing of that session and waits for its lock already.
      await run(increment, timeouts)
      expect(await valueIn(other, 'a')).toBe(2)
      await until('the lock is free', 1000, async () => (await locks()) === 0)
    } finally {
      await pipelined.connections.pool.end()
      await relay.discard()
    }
  })

  test('error: a store that is being closed waits for no database that is away, and still for other transactions', async () => {
    const isOpen = () => false
    const lost = run(
      async (client) => {
        await other.query('SELECT pg_terminate_backend($1)', [await pidOf(client)])
        await increment(client)
      },
      { isOpen },
    )
    await expect(lost).rejects.toSatisfy((error) => verdictOf(error) === 'lost')
    expect(counts).toMatchObject({ lost: 1, unknown: 0 })
    await Promise.all(times(8, () => run(increment, { isOpen })))
    expect(await valueIn(other, 'a')).toBe(8)
  })
})

async function pidOf(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid ?? 0
}

describe('stores side by side', () => {
  let stores: readonly PostgresRecordStore[]
  beforeEach(async () => {
    const database = await postgres.createDatabase('stores')
    stores = await Promise.all(times(3, () => openPostgresRecordStore({ url: database, maxConnections: 8 })))
  })
  afterEach(async () => {
    for (const store of stores) await store.close()
    await postgres.dropDatabase('stores')
  })

  test('record the same new bytes of many principals as one object', async () => {
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.all(
        times(12, (index) => {
          const store = stores[index % 3] ?? expect.fail('three stores')
          return commitAtOnce(store, upload({ content: `round ${round}`, principal: `user:${index}` }))
        }),
      )
      expect(counted(outcomes)).toEqual({ recorded: 12 })
      const objects = new Set(outcomes.map((outcome) => 'file' in outcome && outcome.file.object))
      expect(objects.size).toBe(1)
    }
    expect(await stores[0]?.quotas.checkDrift()).toEqual([])
  })

  test('charge one principal once for what all of them bring at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const one = upload({ content: `round ${round}`, capBytes: 100_000 })
      const outcomes = await Promise.all(times(12, (index) => commitAtOnce(stores[index % 3] ?? expect.fail(), one)))
      expect(counted(outcomes)).toEqual({ recorded: 1, retry: 11 })
    }
    expect(await stores[0]?.quotas.checkDrift()).toEqual([])
  })

  test('take turns while small data makes everybody meet, and tell so', async () => {
    let wasContended = false
    const looking = setInterval(() => {
      wasContended ||= stores.some((store) => store.state().isContended)
    }, 5)
    await Promise.all(
      times(240, (index) =>
        commitAtOnce(
          stores[index % 3] ?? expect.fail(),
          upload({ content: `${index}`, principal: `user:${index % 40}`, capBytes: 1_000_000 }),
        ),
      ),
    )
    clearInterval(looking)
    const states = stores.map((store) => store.state())
    expect(states.reduce((sum, { transactions }) => sum + transactions.conflicts, 0)).toBeGreaterThan(0)
    expect(wasContended).toBe(true)
    expect(states.map(({ queues }) => queues)).toEqual([0, 0, 0])
    expect(await stores[0]?.quotas.checkDrift()).toEqual([])
  })
})
