import { DAY_MS } from '@lade/core/time'
import { expect, it } from 'vitest'
import type { RecordStore } from '../records/record-store.ts'
import { oldRecordEraser } from './erase-old-records.ts'

/** Records with this many rows of each kind to erase. */
function recordsWith(rows: number) {
  const left = { files: rows, addresses: rows, tokens: rows }
  const take =
    (kind: keyof typeof left) =>
    async ({ limit }: { limit: number }) => {
      const taken = Math.min(limit, left[kind])
      left[kind] -= taken
      return taken
    }
  const erasure = { oldFiles: take('files'), oldAddresses: take('addresses'), oldTokens: take('tokens') }
  return { left, records: { erasure } as unknown as Pick<RecordStore, 'erasure'> }
}

it('erases a backlog over several rounds, and then rests for ten minutes', async () => {
  const { left, records } = recordsWith(5000)
  let now = 1000 * DAY_MS
  const erase = oldRecordEraser({ records, now: () => now, tombstoneMs: 90 * DAY_MS })
  await erase()
  expect(left).toEqual({ files: 3000, addresses: 4920, tokens: 3000 })
  while (left.addresses > 0) await erase()
  await erase()
  expect(left).toEqual({ files: 0, addresses: 0, tokens: 0 })
  left.files = 1
  await erase()
  expect(left.files).toBe(1)
  now += 600_000
  await erase()
  expect(left.files).toBe(0)
})

it('erases nothing where everything is kept', async () => {
  const { left, records } = recordsWith(1)
  await oldRecordEraser({ records, now: () => 1000 * DAY_MS, tombstoneMs: 0 })()
  expect(left.files).toBe(1)
})
