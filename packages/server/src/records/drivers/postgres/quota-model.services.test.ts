import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { checkQuotas } from '../../testing-quota-sequences.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const SEQUENCES = IS_FULL ? 1000 : 50
const TIME_LIMIT_MS = IS_FULL ? 1_200_000 : 120_000

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres.discard())

describe('quotas against a model', () => {
  test.each([1, 2])(
    `${SEQUENCES} sequences of operations on %i stores leave what the model says`,
    {
      timeout: 2 * TIME_LIMIT_MS,
    },
    async (count) => {
      let database = 0
      await checkQuotas({
        async open() {
          database += 1
          const url = await postgres.createDatabase(`model${count}_${database}`)
          const first = await openPostgresRecordStore({ url })
          return [first, count === 1 ? first : await openPostgresRecordStore({ url })]
        },
        async discard(stores) {
          for (const store of stores) await store.close()
          await postgres.dropDatabase(`model${count}_${database}`)
        },
        sequences: SEQUENCES,
        timeLimitMs: TIME_LIMIT_MS,
      })
    },
  )
})
