import fc from 'fast-check'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { stage, upload } from '../../conformance/case.ts'
import { openPool } from './connections.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'
import { SettledSequences } from './settled-sequences.ts'

const WRITERS = 4
const SEQUENCES = process.env.LADE_TEST_PLAN === 'full' ? 400 : 40

let postgres: Postgres
let url: string
let pool: Pool
let writers: readonly Client[]

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('sequences')
  pool = openPool({ url, max: 4 })
  await pool.query(`CREATE SEQUENCE files_sequence;
    CREATE TABLE files (sequence BIGINT PRIMARY KEY DEFAULT nextval('files_sequence'));
    CREATE TABLE write_keys (key UUID PRIMARY KEY DEFAULT gen_random_uuid())`)
  writers = await Promise.all(Array.from({ length: WRITERS }, connected))
})

afterAll(async () => {
  await pool?.end()
  for (const writer of writers ?? []) await writer.end()
  await postgres.discard()
})

async function connected(): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

/** Transactions that are open side by side, each on a connection of its own, and the sequences that they have taken. */
class Writers {
  readonly #taken = new Map<number, number[]>()
  #last = 0

  /** Begins the transaction of this writer where it has none, and else ends it. */
  async turn(writer: number, isGood: boolean): Promise<void> {
    if (!this.#taken.delete(writer)) {
      this.#taken.set(writer, [])
      await writers[writer]?.query('BEGIN; INSERT INTO write_keys DEFAULT VALUES')
      return
    }
    await writers[writer]?.query(isGood ? 'COMMIT' : 'ROLLBACK')
  }

  /** Adds a file in the transaction of this writer, if it has one. */
  async add(writer: number): Promise<void> {
    const taken = this.#taken.get(writer)
    if (taken === undefined) return
    const { rows = [] } = (await writers[writer]?.query('INSERT INTO files DEFAULT VALUES RETURNING sequence')) ?? {}
    this.#last = Number(rows[0]?.sequence)
    taken.push(this.#last)
  }

  async endAll(): Promise<void> {
    for (const writer of [...this.#taken.keys()]) await this.turn(writer, true)
  }

  /** The highest sequence below which nothing is open. */
  get settled(): number {
    return Math.min(this.#last, ...[...this.#taken.values()].flat().map((sequence) => sequence - 1))
  }

  get last(): number {
    return this.#last
  }
}

describe('SettledSequences', () => {
  beforeEach(() => pool.query('TRUNCATE files, write_keys; ALTER SEQUENCE files_sequence RESTART'))

  test('does not pass a file that has a number already and is not visible yet', async () => {
    const settled = new SettledSequences(pool)
    const open = new Writers()
    // The one that began first takes the later number, so that no later transaction is over.
    for (const writer of [0, 1]) await open.turn(writer, true)
    for (const writer of [1, 0]) await open.add(writer)
    await open.turn(0, true)
    expect(await settled.upTo()).toBe(0)
    expect(await settled.upTo()).toBe(0)
    await open.turn(1, true)
    expect(await settled.upTo()).toBe(2)
  })

  test('never passes what is open, whatever is interleaved, and catches up when nothing is', async () => {
    const writer = fc.integer({ min: 0, max: WRITERS - 1 })
    const step = fc.oneof(
      { arbitrary: fc.record({ do: fc.constant('turn' as const), writer, isGood: fc.boolean() }), weight: 4 },
      { arbitrary: fc.record({ do: fc.constant('add' as const), writer }), weight: 4 },
      { arbitrary: fc.record({ do: fc.constant('look' as const), times: fc.integer({ min: 1, max: 3 }) }), weight: 3 },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 40 }), async (steps) => {
        await pool.query('TRUNCATE files, write_keys; ALTER SEQUENCE files_sequence RESTART')
        const settled = new SettledSequences(pool)
        const open = new Writers()
        let reached = 0
        try {
          for (const one of steps) {
            if (one.do === 'turn') await open.turn(one.writer, one.isGood)
            if (one.do === 'add') await open.add(one.writer)
            if (one.do !== 'look') continue
            const looks = await Promise.all(Array.from({ length: one.times }, () => settled.upTo()))
            for (const upTo of looks) {
              expect(upTo).toBeLessThanOrEqual(open.settled)
              expect(upTo).toBeGreaterThanOrEqual(reached)
            }
            reached = Math.max(...looks)
          }
        } finally {
          await open.endAll()
        }
        expect(await settled.upTo()).toBe(open.last)
      }),
      { numRuns: SEQUENCES, endOnFailure: true },
    )
  })

  test('gets on though something is under way all the time', async () => {
    const settled = new SettledSequences(pool)
    const open = new Writers()
    await open.turn(0, true)
    await open.add(0)
    for (let round = 1; round < 10; round += 1) {
      const [next, before] = [round % 2, (round + 1) % 2]
      await open.turn(next, true)
      await open.add(next)
      await settled.upTo()
      await open.turn(before, true)
      expect(await settled.upTo()).toBeGreaterThanOrEqual(round - 1)
    }
    await open.endAll()
  })
})

test('the records show no file for enrolment while one before it is under way', async () => {
  const database = await postgres.createDatabase('enrolment')
  const store = await openPostgresRecordStore({ url: database })
  const slow = new Client({ connectionString: database })
  await slow.connect()
  try {
    const unenrolled = async () => (await store.placements.unenrolled({ after: 0, limit: 10 })).map(({ file }) => file)
    const first = await stage(store, upload({ content: 'first' }))
    await slow.query('BEGIN; INSERT INTO write_keys (key) VALUES (gen_random_uuid())')
    await slow.query("SELECT nextval('files_sequence')")
    const third = await stage(store, upload({ content: 'third' }))
    expect(third.sequence).toBe(first.sequence + 2)
    expect(await unenrolled()).toEqual([])
    expect(await unenrolled()).toEqual([])
    await slow.query('ROLLBACK')
    expect(await unenrolled()).toEqual([first.sequence, third.sequence])
  } finally {
    await slow.end()
    await store.close()
  }
})
