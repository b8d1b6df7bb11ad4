import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type CommitCut, startCommitRelay } from '../../../../../../services/commit-relay.ts'
import { type Postgres, startPostgres, throughPort } from '../../../../../../services/postgres.ts'
import { startTcpRelay } from '../../../../../../services/tcp-relay.ts'
import { commitAtOnce, counted, HOUR, NOW, times, upload } from '../../conformance/case.ts'
import type { RecordStore } from '../../record-store.ts'
import { openPostgresRecordStore, type PostgresRecordStore } from './postgres-record-store.ts'
import { startFreezingRelay } from './testing-freezing-relay.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const CUTS = IS_FULL ? 1000 : 100
const STOPS = IS_FULL ? 50 : 8
const STANDSTILLS = IS_FULL ? 200 : 5
const SIDE_BY_SIDE = 6
const ADDRESS = '203.0.113.7'

let postgres: Postgres
let database = 0
let url: string
let admin: Client

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

beforeEach(async () => {
  database += 1
  url = await postgres.createDatabase(`commits${database}`)
  admin = await connected()
})
afterEach(() => admin.end())

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Writes of which each says by its answer whether it was made once: twice would be a retry, or a number too high. */
class Ledger {
  #files = 0
  #signups = 0
  /** Writes of which nobody could say what became of them. */
  unknown = 0

  async write(store: RecordStore): Promise<void> {
    this.#files += 1
    const content = `file ${this.#files}`
    const one = upload({ content, principal: `user:${this.#files % 4}`, capBytes: 1e9, maxInFlight: 1e6 })
    const answered = await this.#answerOf(commitAtOnce(store, one))
    if (answered !== undefined) expect(answered.outcome).toBe('recorded')
    // Whether it was made or not, it is there once when it is asked for again.
    else expect(['recorded', 'retry']).toContain((await commitAtOnce(store, one)).outcome)
  }

  async signUp(store: RecordStore): Promise<void> {
    this.#signups += 1
    const token = { sub: 'alice', email: 'alice@example.org', label: 'x', scopes: [], quotaMb: 1 }
    const times = { issuedAt: NOW, expiresAt: NOW + HOUR, lastUsedAt: null, revokedAt: null }
    const jti = `token ${this.#signups}`
    const signUp = { token: { ...token, ...times, jti }, address: ADDRESS, hour: 1, limit: Number.MAX_SAFE_INTEGER }
    const answered = await this.#answerOf(store.tokens.signUp(signUp))
    if (answered !== undefined) expect(answered.outcome).toBe('issued')
  }

  async #answerOf<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await answer
    } catch (error) {
      expect(error).toMatchObject({ code: 'storage_failed', cause: { name: 'OutcomeUnknown' } })
      this.unknown += 1
      return undefined
    }
  }

  /** What is in the database is what was answered. */
  async check(store: RecordStore): Promise<void> {
    expect(await store.quotas.checkDrift()).toEqual([])
    const { rows } = await admin.query(`SELECT (SELECT count(*)::int FROM files) AS files,
      (SELECT count(DISTINCT object)::int FROM files) AS objects, (SELECT sum(bytes)::int FROM usage) AS bytes,
      (SELECT count(*)::int FROM tokens) AS tokens, (SELECT sum(count)::int FROM signups) AS signups`)
    const { tokens, signups, ...staged } = rows[0]
    expect(staged).toEqual({ files: this.#files, objects: this.#files, bytes: 100 * this.#files })
    // Each token is counted in the transaction that records it.
    expect(signups).toBe(tokens)
    expect(this.#signups - tokens).toBeLessThanOrEqual(this.unknown)
  }
}

describe('a COMMIT whose answer is lost', () => {
  test.each<CommitCut>(['before', 'after'])(
    'is answered truly when the connection is cut %s it',
    {
      timeout: 300_000,
    },
    async (cut) => {
      const relay = await startCommitRelay(postgres.port)
      const store = await openPostgresRecordStore({ url: throughPort(url, relay.port) })
      const ledger = new Ledger()
      try {
        for (let round = 0; round < CUTS; round += 1) {
          const isCut = relay.cutNext(cut)
          await Promise.all([
            ...times(round % 4, () => ledger.write(store)),
            round % 3 === 0 ? ledger.signUp(store) : ledger.write(store),
          ])
          await isCut
        }
        expect(ledger.unknown).toBe(0)
        await ledger.check(store)
        const { transactions } = store.state()
        expect(transactions.lost).toBeGreaterThanOrEqual(CUTS)
        if (cut === 'before') expect(transactions.foundCommitted).toBe(0)
        // Some of the COMMITs that were cut had been refused, because of another transaction.
        else expect(transactions.foundCommitted).toBeGreaterThan(0.9 * CUTS)
      } finally {
        await store.close()
        await relay.discard()
      }
    },
  )

  test(`is answered truly when the server stops ${STOPS} times without a word, and nothing is left behind`, {
    timeout: 600_000,
  }, async () => {
    const stores = await Promise.all(times(2, () => openPostgresRecordStore({ url, maxConnections: 8 })))
    const ledger = new Ledger()
    let isOver = false
    async function writeOn(store: PostgresRecordStore, caller: number): Promise<void> {
      while (!isOver) await (caller === 0 ? ledger.signUp(store) : ledger.write(store))
    }
    try {
      const writing = Promise.all(stores.flatMap((store) => times(SIDE_BY_SIDE, (caller) => writeOn(store, caller))))
      for (let round = 0; round < STOPS; round += 1) {
        await sleep(50 + Math.random() * 150)
        await postgres.stopImmediately()
        await postgres.start()
      }
      isOver = true
      await writing
      await admin.end()
      admin = await connected()
      for (const store of stores) {
        expect(store.state().transactions).toMatchObject({ unknown: 0 })
        expect(store.state().transactions.lost).toBeGreaterThan(0)
        const { writers, readers } = store.state()
        expect(writers.waiting + readers.waiting).toBe(0)
        expect(writers.open + readers.open).toBeLessThanOrEqual(8)
      }
      expect(ledger.unknown).toBe(0)
      await ledger.check(stores[0] ?? expect.fail('two stores'))
      const { rows } = await admin.query<{ sessions: number; locks: number }>(
        `SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE application_name LIKE 'lade %') AS sessions,
           (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory') AS locks`,
      )
      expect(rows[0]?.sessions).toBeLessThanOrEqual(16)
      expect(rows[0]?.locks).toBe(0)
    } finally {
      isOver = true
      for (const store of stores) await store.close()
    }
  })

  test.each(['to server', 'to client'] as const)(
    'is answered truly when its connection stands still %s',
    {
      timeout: 300_000,
    },
    async (direction) => {
      const relay = await startFreezingRelay(postgres.port)
      // A connection that was being made when the others froze is waited for as long.
      const timeouts = { writeSilenceMs: 250, connectMs: 1000 }
      const store = await openPostgresRecordStore({ url: throughPort(url, relay.port), timeouts })
      const ledger = new Ledger()
      try {
        for (let round = 0; round < STANDSTILLS; round += 1) {
          const writes = times(SIDE_BY_SIDE, (caller) => (caller === 0 ? ledger.signUp(store) : ledger.write(store)))
          await sleep(Math.random() * 12)
          relay.freeze(direction)
          await Promise.all(writes)
        }
        expect(ledger.unknown).toBe(0)
        await ledger.check(store)
      } finally {
        await store.close()
        await relay.discard()
      }
    },
  )

  test('is told as a failure, in bounded time, when nobody can be asked; and nothing is made twice after that', {
    timeout: 60_000,
  }, async () => {
    const relay = await startTcpRelay(postgres.port)
    const timeouts = { writeSilenceMs: 200, connectMs: 200, writeMs: 400, readSilenceMs: 300, readMs: 300 }
    const store = await openPostgresRecordStore({ url: throughPort(url, relay.port), timeouts })
    const ledger = new Ledger()
    try {
      for (let round = 0; round < 6; round += 1) {
        await ledger.write(store)
        const since = performance.now()
        const writes = Promise.allSettled(times(SIDE_BY_SIDE, (index) => tryFile(store, `hung ${round} ${index}`)))
        await sleep(Math.random() * 12)
        relay.swallow()
        const answers = await writes
        expect(performance.now() - since).toBeLessThan(5000)
        relay.reopen()
        const again = await Promise.all(times(SIDE_BY_SIDE, (index) => tryFile(store, `hung ${round} ${index}`)))
        for (const [index, answer] of answers.entries()) {
          if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'storage_failed' })
          // What was answered is there; what was not is there or not, and once.
          else expect([answer.value.outcome, again[index]?.outcome]).toEqual(['recorded', 'retry'])
        }
        expect(Object.keys(counted(again)).filter((outcome) => !['recorded', 'retry'].includes(outcome))).toEqual([])
      }
      const { rows } = await admin.query("SELECT count(*)::int AS files FROM files WHERE principal = 'user:hung'")
      expect(rows[0]).toEqual({ files: 6 * SIDE_BY_SIDE })
      expect(await store.quotas.checkDrift()).toEqual([])
    } finally {
      await store.close()
      await relay.discard()
    }
  })
})

function tryFile(store: RecordStore, content: string) {
  return commitAtOnce(store, upload({ content, principal: 'user:hung', capBytes: 1e9, maxInFlight: 1e6 }))
}
