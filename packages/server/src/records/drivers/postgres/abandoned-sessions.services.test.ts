import { Client } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres, throughPort } from '../../../../../../services/postgres.ts'
import { AbandonedSessions } from './abandoned-sessions.ts'

const LOCK = 7

let postgres: Postgres
let url: string
let abandoned: AbandonedSessions

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('abandoned')
})
afterAll(() => postgres.discard())
beforeEach(() => {
  abandoned = new AbandonedSessions({ url, application: 'mine' })
})

/** Runs `use` with a session that holds the lock, and answers whether it lived. */
async function outlives(application: string, use: (pid: number, openedAt: number) => Promise<void>): Promise<boolean> {
  const client = new Client({ connectionString: url, application_name: application })
  let hasEnded = false
  client.on('error', () => {
    hasEnded = true
  })
  await client.connect()
  const openedAt = performance.now()
  const { rows } = await client.query<{ pid: number }>('SELECT pg_advisory_lock($1), pg_backend_pid() AS pid', [LOCK])
  await use(rows[0]?.pid ?? expect.fail('a session has a number'), openedAt)
  await client.query('SELECT 1').catch(() => {
    hasEnded = true
  })
  await client.end().catch(() => {})
  return !hasEnded
}

async function endOn(application: string): Promise<void> {
  const client = new Client({ connectionString: url, application_name: application })
  await client.connect()
  await abandoned.end(client)
  await client.end()
}

describe('abandoned sessions', () => {
  test('are ended over a connection of somebody, or over one of their own', async () => {
    for (const end of [() => endOn('mine'), () => abandoned.endNow()]) {
      const lived = await outlives('mine', async (pid, openedAt) => {
        abandoned.add({ pid, openedAt })
        await end()
      })
      expect(lived).toBe(false)
    }
  })

  test('are ended all at once, also where some are gone already', async () => {
    const lived = await outlives('mine', async (pid, openedAt) => {
      abandoned.add({ pid: 2 ** 31 - 1, openedAt: performance.now() })
      abandoned.add({ pid, openedAt })
      await endOn('mine')
    })
    expect(lived).toBe(false)
  })

  test('are told from a session of another service, and from a younger one that was given the same number', async () => {
    const isOther = await outlives('of another service', async (pid, openedAt) => {
      abandoned.add({ pid, openedAt })
      await abandoned.endNow()
    })
    const isYounger = await outlives('mine', async (pid, openedAt) => {
      abandoned.add({ pid, openedAt: openedAt - 60_000 })
      await abandoned.endNow()
    })
    expect([isOther, isYounger]).toEqual([true, true])
  })

  test('wait for the next who asks, where the database is away', async () => {
    const lived = await outlives('mine', async (pid, openedAt) => {
      abandoned.add({ pid, openedAt })
      const broken = new Client({ connectionString: url, application_name: 'mine' })
      await broken.connect()
      await broken.end()
      await abandoned.end(broken)
      await abandoned.endNow()
    })
    expect(lived).toBe(false)
  })

  test('error: a database that is away is no failure of who would end them', async () => {
    const nowhere = new AbandonedSessions({ url: throughPort(url, 1), application: 'mine' })
    nowhere.add({ pid: 1, openedAt: 0 })
    await nowhere.endNow()
  })
})
