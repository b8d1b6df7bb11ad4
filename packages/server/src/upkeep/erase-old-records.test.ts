import { DAY_MS } from '@lade/core/time'
import { expect, it } from 'vitest'
import type { EndedFilePlace } from '../records/erasure-records.ts'
import type { RecordStore } from '../records/record-store.ts'
import { oldRecordEraser } from './erase-old-records.ts'

/** Records with this many rows of each kind to erase. */
function recordsWith(rows: number) {
  const left = { files: rows, addresses: rows, tokens: rows, thinned: rows, objects: rows }
  const take =
    (kind: keyof typeof left) =>
    async ({ limit }: { limit: number }) => {
      const taken = Math.min(limit, left[kind])
      left[kind] -= taken
      return taken
    }
  /** Walks by number, from the first row on. */
  const walk = (kind: 'thinned' | 'objects', limit: number) => {
    const taken = Math.min(limit, left[kind])
    left[kind] -= taken
    return taken < limit ? undefined : rows - left[kind]
  }
  const thinEnded = async ({ after, limit }: { after: EndedFilePlace | undefined; limit: number }) => {
    if (after !== undefined) expect(after.sequence).toBe(rows - left.thinned)
    const last = walk('thinned', limit)
    return { files: limit, last: last === undefined ? undefined : { endedAt: 1, sequence: last } }
  }
  const forgetObjects = async ({ after, limit }: { after: number; limit: number }) => {
    if (after > 0) expect(after).toBe(rows - left.objects)
    return { objects: 0, last: walk('objects', limit) }
  }
  const erasure = {
    thinEnded,
    forgetObjects,
    oldFiles: take('files'),
    oldAddresses: take('addresses'),
    oldTokens: take('tokens'),
  }
  return { left, records: { erasure } as unknown as Pick<RecordStore, 'erasure'> }
}

it('erases a backlog over several rounds, and then rests for ten minutes', async () => {
  const { left, records } = recordsWith(5000)
  let now = 1000 * DAY_MS
  const erase = oldRecordEraser({ records, now: () => now, tombstoneMs: 90 * DAY_MS })
  await erase()
  expect(left).toEqual({ files: 3000, addresses: 4920, tokens: 3000, thinned: 4600, objects: 5000 })
  while (left.addresses > 0) await erase()
  await erase()
  expect(left).toEqual({ files: 0, addresses: 0, tokens: 0, thinned: 0, objects: 0 })
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
