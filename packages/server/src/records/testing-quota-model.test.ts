import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { openSqliteRecordStore } from './drivers/sqlite/sqlite-record-store.ts'
import { newDatabase } from './testing-new-database.ts'
import { checkQuotas } from './testing-quota-sequences.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const SEQUENCES = IS_FULL ? 2_000 : 300
const TIME_LIMIT_MS = IS_FULL ? 600_000 : 120_000

describe('quotas against a model', () => {
  test(`${SEQUENCES} sequences of operations leave what the model says after every step`, {
    timeout: 2 * TIME_LIMIT_MS,
  }, async () => {
    let dir = ''
    await checkQuotas({
      async open() {
        dir = mkdtempSync(join(tmpdir(), 'lade-quota-model-'))
        const file = newDatabase(join(dir, 'lade.db'))
        const open = () => openSqliteRecordStore({ file, onFatal: () => {} })
        return [await open(), await open()]
      },
      async discard(stores) {
        for (const store of stores) await store.close()
        rmSync(dir, { recursive: true })
      },
      sequences: SEQUENCES,
      timeLimitMs: TIME_LIMIT_MS,
    })
  })
})
