import { Client, type PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { until } from '../../../../../../services/until.ts'
import { ALICE, BOB, commitAtOnce, times, upload } from '../../conformance/case.ts'
import { askOn, Connections, openPool } from './connections.ts'
import { openPostgresRecordStore, type PostgresRecordStore } from './postgres-record-store.ts'
import { postgresSql, runOn } from './postgres-sql.ts'
import { queueNameOf } from './write-queue-names.ts'

let postgres: Postgres
let url: string
let admin: Client

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('sessions')
  admin = new Client({ connectionString: url })
  await admin.connect()
})
afterAll(async () => {
  await admin?.end()
  await postgres.discard()
})

async function withClient(
  limits: { readonly statementMs?: number; readonly lockMs?: number; readonly idleInTransactionMs?: number },
  use: (client: PoolClient) => Promise<void>,
): Promise<void> {
  const pool = openPool({ url, max: 1, ...limits })
  const client = await pool.connect()
  try {
    await use(client)
  } finally {
    client.release(true)
    await pool.end()
  }
}

describe('a session', () => {
  test('has limits for whatever could hang, from either side', async () => {
    await withClient({}, async (client) => {
      const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'tcp_user_timeout']
      names.push('tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count')
      const { rows } = await client.query<{ name: string; setting: string }>(
        'SELECT name, setting FROM pg_settings WHERE name = ANY($1)',
        [names],
      )
      expect(Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)]))).toEqual({
        statement_timeout: 20_000,
        lock_timeout: 5000,
        idle_in_transaction_session_timeout: 10_000,
        tcp_user_timeout: 10_000,
        tcp_keepalives_idle: 4,
        tcp_keepalives_interval: 2,
        tcp_keepalives_count: 3,
      })
    })
  })

  test('error: a statement, a wait for a lock and an idle transaction end when they are to', async () => {
    await withClient({ statementMs: 50 }, (client) =>
      expect(client.query('SELECT pg_sleep(5)')).rejects.toMatchObject({ code: '57014' }),
    )
    await admin.query('SELECT pg_advisory_lock(1)')
    await withClient({ lockMs: 50 }, (client) =>
      expect(client.query('SELECT pg_advisory_lock(1)')).rejects.toMatchObject({ code: '55P03' }),
    )
    await admin.query('SELECT pg_advisory_unlock(1)')
    await withClient({ idleInTransactionMs: 50 }, async (client) => {
      const ended = new Promise<Error>((resolve) => client.once('error', resolve))
      await client.query('BEGIN')
      expect(await ended).toMatchObject({ code: '25P03' })
    })
  })

  test('prepares each statement once, and plans it once when it is asked often', async () => {
    const connections = new Connections({ url, max: 1, isPipelined: true })
    await admin.query('CREATE TABLE numbers AS SELECT n FROM generate_series(1, 100) AS n')
    const find = postgresSql().prepare<[number], { n: number }>('SELECT n FROM numbers WHERE n = ?')
    const client = await connections.take()
    for (const n of times(20, (index) => index + 1)) {
      expect(await runOn(askOn(client), find.get(n))).toEqual({ n })
    }
    const { rows } = await client.query('SELECT custom_plans::int, generic_plans::int FROM pg_prepared_statements')
    expect(rows).toEqual([{ custom_plans: 5, generic_plans: 15 }])
    client.release()
    await connections.pool.end()
  })
})

describe('a store', () => {
  const timeouts = { writeMs: 300, lockMs: 150 }
  const opened = async (use: (store: PostgresRecordStore) => Promise<void>, maxConnections = 8): Promise<void> => {
    const store = await openPostgresRecordStore({ url, timeouts, maxConnections })
    try {
      await use(store)
    } finally {
      await store.close()
    }
  }

  test('error: who waits behind a queue that somebody keeps is told in bounded time; others go on', () =>
    opened(async (store) => {
      const queueName = queueNameOf('files.remove', { principal: ALICE, key: '', now: 0 })
      await admin.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [queueName])
      const since = performance.now()
      const waiting = times(200, (index) => commitAtOnce(store, upload({ content: `alice ${index}`, capBytes: 1e9 })))
      const answers = Promise.allSettled(waiting)
      expect((await commitAtOnce(store, upload({ principal: BOB }))).outcome).toBe('recorded')
      for (const answer of await answers) {
        expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'storage_failed' } })
      }
      // Writes are 64 to a group, and no group waits for those before it for longer than it would be tried itself.
      expect(performance.now() - since).toBeLessThan(3000)
      await admin.query('SELECT pg_advisory_unlock_all()')
      expect((await commitAtOnce(store, upload())).outcome).toBe('recorded')
      expect(store.state().queues).toBe(0)
    }))

  test('error: who waits for a row that somebody keeps is told in bounded time', () =>
    opened(async (store) => {
      await commitAtOnce(store, upload({ content: 'before' }))
      await admin.query('BEGIN')
      await admin.query('UPDATE usage SET files = files WHERE principal = $1', [ALICE])
      const since = performance.now()
      await expect(commitAtOnce(store, upload({ content: 'kept' }))).rejects.toMatchObject({ code: 'storage_failed' })
      expect(performance.now() - since).toBeLessThan(2000)
      await admin.query('ROLLBACK')
      expect((await commitAtOnce(store, upload({ content: 'kept' }))).outcome).toBe('recorded')
    }))

  test('survives it when all of its sessions are ended, whether they are in use or not', () =>
    opened(async (store) => {
      Object.assign(timeouts, { writeMs: 12_000 })
      for (let round = 0; round < 10; round += 1) {
        const writes = times(20, (index) =>
          commitAtOnce(store, upload({ content: `round ${round} ${index}`, principal: `user:${index}` })),
        )
        await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'lade %'")
        expect((await Promise.all(writes)).map(({ outcome }) => outcome)).toEqual(times(20, () => 'recorded'))
        await store.check()
      }
      expect(store.state().writers.open).toBeLessThanOrEqual(4)
      expect(await store.quotas.checkDrift()).toEqual([])
    }))

  test('closes its connections, and no others', async () => {
    await opened(async (store) => {
      await commitAtOnce(store, upload({ content: 'last' }))
      await store.check()
    })
    await until('its sessions are gone', 2000, async () => {
      const { rowCount } = await admin.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'lade %'")
      return rowCount === 0
    })
  })
})
