import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { commitAtOnce, counted, digestOf, times, upload } from '../../conformance/case.ts'
import { openPostgresRecordStore, type PostgresRecordStore } from './postgres-record-store.ts'

const OTHERS = 12

let postgres: Postgres
let stores: readonly PostgresRecordStore[]
let store: PostgresRecordStore
/** A session of another process. */
let peer: Client
let url: string
let content = 0

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

beforeEach(async () => {
  url = await postgres.createDatabase('batches')
  stores = await Promise.all(times(2, () => openPostgresRecordStore({ url })))
  store = stores[0] ?? expect.fail('two stores')
  peer = await connect()
})
afterEach(async () => {
  await peer.end()
  for (const store of stores) await store.close()
  await postgres.dropDatabase('batches')
})

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

function lock(principal: string, client = peer): Promise<unknown> {
  return client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`principal ${principal}`])
}

/** A new file of a principal. */
function send(principal: string, overrides: Parameters<typeof upload>[0] = {}, to = store) {
  content += 1
  return commitAtOnce(to, upload({ content: `${content}`, principal, capBytes: 1e9, ...overrides }))
}

/** Uploads of others, some rounds after each other, all of which are to be recorded. */
async function sendOthers(): Promise<void> {
  for (let round = 0; round < 5; round += 1) {
    expect(counted(await Promise.all(times(OTHERS, (index) => send(`user:${index}`))))).toEqual({ recorded: OTHERS })
  }
}

/** What is seen of a promise without waiting for it. */
function watch(promise: Promise<unknown>): { isPending: boolean } {
  const seen = { isPending: true }
  const end = (): void => {
    seen.isPending = false
  }
  promise.then(end, end)
  return seen
}

describe('uploads of all principals that share a transaction', () => {
  test('need far fewer transactions than there are uploads', async () => {
    await Promise.all(times(160, (index) => send(`user:${index % 16}`)))
    const { committed, conflicts } = store.state().transactions
    expect({ isFew: committed < 20, conflicts }).toEqual({ isFew: true, conflicts: 0 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  test('do not wait for a peer that stands still with the lock of one of them, who gets through after it', async () => {
    await lock('user:frozen')
    const frozen = Promise.all([...times(OTHERS, (index) => send(`user:${index}`)), send('user:frozen')])
    const seen = watch(frozen)
    await sendOthers()
    expect(seen.isPending).toBe(true)
    expect(store.state().transactions.lockTimeouts).toBe(0)
    await peer.query('SELECT pg_advisory_unlock_all()')
    expect(counted(await frozen)).toEqual({ recorded: OTHERS + 1 })
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  test('do not wait for a peer that stands still with the locks of more principals than there are connections', async () => {
    for (let index = 0; index < 40; index += 1) await lock(`user:frozen ${index}`)
    const frozen = Promise.all(times(40, (index) => send(`user:frozen ${index}`)))
    const seen = watch(frozen)
    await sendOthers()
    expect(seen.isPending).toBe(true)
    expect(store.state().transactions.lockTimeouts).toBe(0)
    await peer.query('SELECT pg_advisory_unlock_all()')
    expect(counted(await frozen)).toEqual({ recorded: 40 })
  })

  test('do not wait for long for a peer that stands still in the middle of an upload of the same bytes', async () => {
    await peer.query('BEGIN')
    await peer.query(
      "INSERT INTO objects (sha256, size_bytes, place, put, piece_root) VALUES ($1, 100, 'blob', '', $2)",
      [digestOf('same'), Buffer.from(digestOf('piece of same'), 'hex')],
    )
    const same = Promise.all([
      ...times(OTHERS, (index) => send(`user:${index}`)),
      send('user:same', { content: 'same' }),
    ])
    const seen = watch(same)
    const since = performance.now()
    await sendOthers()
    // The one with these bytes waits for five seconds at a time.
    expect(performance.now() - since).toBeLessThan(4000)
    expect(seen.isPending).toBe(true)
    await peer.query('ROLLBACK')
    expect(counted(await same)).toEqual({ recorded: OTHERS + 1 })
  })

  test('leave nobody behind whose lock is never free', async () => {
    const peers = await Promise.all(times(3, connect))
    let isOver = false
    const locking = peers.map(async (client) => {
      while (!isOver) {
        await lock('user:wanted', client)
        await sleep(5)
        await client.query('SELECT pg_advisory_unlock_all()')
      }
    })
    try {
      for (let round = 0; round < 10; round += 1)
        expect(await send('user:wanted')).toMatchObject({ outcome: 'recorded' })
    } finally {
      isOver = true
      await Promise.all(locking)
      for (const client of peers) await client.end()
    }
  })

  test('are charged or refused each by itself, on two stores at once', async () => {
    const outcomes = await Promise.all(
      times(320, async (index) => {
        const principal = `user:${index % 16}`
        return { principal, ...(await send(principal, { capBytes: 500 }, stores[(index >> 4) % 2])) }
      }),
    )
    for (const ofOne of Map.groupBy(outcomes, ({ principal }) => principal).values()) {
      expect(counted(ofOne)).toEqual({ recorded: 5, over_quota: 15 })
    }
    expect(await store.quotas.checkDrift()).toEqual([])
  })

  test('error: a bad one fails alone', async () => {
    const bad = { contentType: null as never }
    const all = await Promise.allSettled(times(32, (index) => send(`user:${index % 16}`, index === 20 ? bad : {})))
    expect(all.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([20])
    expect(await store.quotas.checkDrift()).toEqual([])
  })
})
