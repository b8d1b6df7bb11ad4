import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { commitAtOnce, times, upload } from '../../conformance/case.ts'
import { POSTGRES_MIGRATIONS } from '../../migrations/postgres.ts'
import { beforeCopyAudits, expectMovedAudits, OLD_AUDITS } from '../../testing-old-audits.ts'
import { beforeNamedDeals, expectNamedDeals, OLD_ONCHAIN_DEALS } from '../../testing-old-onchain-deals.ts'
import { createClient } from './connections.ts'
import { MIGRATION_MS, migrate } from './migrate.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'

const STORES = 8

let postgres: Postgres
let url: string
let client: Client

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

beforeEach(async () => {
  url = await postgres.createDatabase('migrations')
  client = await connected()
})
afterEach(async () => {
  await client.end()
  await postgres.dropDatabase('migrations')
})

async function connected(): Promise<Client> {
  const made = createClient({ url, statementMs: MIGRATION_MS, silenceMs: MIGRATION_MS })
  await made.connect()
  return made
}

async function versions(): Promise<number[]> {
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version')
  return rows.map(({ version }) => version)
}

async function tables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version' ORDER BY 1`,
  )
  return rows.map(({ name }) => name)
}

/** Everything that a schema is made of. */
async function schema(): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT table_name, column_name, data_type, column_default, is_nullable FROM information_schema.columns
     WHERE table_schema = 'public' UNION ALL SELECT tablename, indexname, indexdef, NULL, NULL FROM pg_indexes
     WHERE schemaname = 'public' ORDER BY 1, 2, 3`,
  )
  return rows
}

describe('migrate', () => {
  test('brings an empty database to the newest version, and changes nothing the second time', async () => {
    await migrate(client)
    const first = await schema()
    await migrate(client)
    expect(await schema()).toEqual(first)
    expect(await versions()).toEqual([POSTGRES_MIGRATIONS.length])
  })

  test(`runs once when ${STORES} stores open an empty database at the same moment, and all of them work`, async () => {
    const stores = await Promise.all(times(STORES, () => openPostgresRecordStore({ url, maxConnections: 2 })))
    try {
      const outcomes = await Promise.all(
        stores.map((store, index) => commitAtOnce(store, upload({ content: `${index}`, principal: `user:${index}` }))),
      )
      expect(outcomes.map(({ outcome }) => outcome)).toEqual(times(STORES, () => 'recorded'))
      expect(await versions()).toEqual([POSTGRES_MIGRATIONS.length])
    } finally {
      for (const store of stores) await store.close()
    }
  })

  // From each version that there was to the newest: what comes out is what a new database has.
  test.each(POSTGRES_MIGRATIONS.map((_, version) => version))('goes on from version %i', async (version) => {
    await migrate(client)
    const newest = await schema()
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public')
    await migrate(client, POSTGRES_MIGRATIONS.slice(0, version))
    await migrate(client)
    expect(await schema()).toEqual(newest)
    expect(await versions()).toEqual([POSTGRES_MIGRATIONS.length])
  })

  test('goes on from the version that the data has, and keeps the data', async () => {
    const steps = ['CREATE TABLE one (a INTEGER)', 'CREATE TABLE two AS SELECT a + 1 AS b FROM one']
    await migrate(client, steps.slice(0, 1))
    await client.query('INSERT INTO one VALUES (6)')
    await migrate(client, steps)
    expect((await client.query('SELECT b FROM two')).rows).toEqual([{ b: 7 }])
    expect(await versions()).toEqual([2])
  })

  test('gives deals on the chain of an older version the names of their contracts', async () => {
    await migrate(client, beforeNamedDeals(POSTGRES_MIGRATIONS))
    await client.query(OLD_ONCHAIN_DEALS.replaceAll('ROOT', `'\\x${'ab'.repeat(32)}'`))
    const store = await openPostgresRecordStore({ url })
    await expectNamedDeals(store)
    await store.close()
  })

  test('shows and moves audits of an older version', async () => {
    await migrate(client, beforeCopyAudits(POSTGRES_MIGRATIONS))
    await client.query(OLD_AUDITS.replaceAll('ROOT', `'\\x${'ab'.repeat(32)}'`))
    const store = await openPostgresRecordStore({ url })
    await expectMovedAudits(store)
    await store.close()
  })

  test('error: a step that fails leaves the version before, and the next try goes on from there', async () => {
    const good = 'CREATE TABLE one (a INTEGER)'
    const bad = 'CREATE TABLE two (a INTEGER); CREATE TABLE one (a INTEGER)'
    await expect(migrate(client, [good, bad])).rejects.toMatchObject({ code: '42P07' })
    await client.end()
    client = await connected()
    expect(await tables()).toEqual(['one'])
    expect(await versions()).toEqual([1])
    await migrate(client, [good, 'CREATE TABLE two (a INTEGER)'])
    expect(await tables()).toEqual(['one', 'two'])
  })

  test('error: data of a newer program is refused, and left as it is', async () => {
    await migrate(client)
    await client.query('UPDATE schema_version SET version = version + 1')
    const newer = await schema()
    await expect(openPostgresRecordStore({ url })).rejects.toThrow(/schema version \d+; this Lade knows versions up to/)
    expect(await schema()).toEqual(newer)
    const { rows } = await client.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'lade %'")
    expect(rows).toEqual([])
  })

  test('waits for another that migrates, for longer than any statement of a store may take', async () => {
    const other = await connected()
    await other.query('SELECT pg_advisory_lock(4711, 1), pg_advisory_lock(47112026)')
    const short = { readStatementMs: 100, readSilenceMs: 150, writeStatementMs: 100, writeSilenceMs: 150, lockMs: 50 }
    const opening = openPostgresRecordStore({ url, timeouts: short })
    await sleep(600)
    expect(await tables()).toEqual([])
    await other.end()
    const store = await opening
    expect(await versions()).toEqual([POSTGRES_MIGRATIONS.length])
    await store.close()
  })
})
