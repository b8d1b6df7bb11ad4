import { expect, it } from 'vitest'
import type { BlockedCallerRecord, RecordStore } from '../records/record-store.ts'
import { removeFilesOfBlocked } from './remove-files-of-blocked.ts'

const CALLER = { id: 1, kind: 'user', value: 'user:1', blockedAt: 0 } as unknown as BlockedCallerRecord

it('leaves files for the next time where there is no time for more, and is not done with their caller before', async () => {
  let files = 250
  const done: number[] = []
  const blockedCallers = {
    removing: async () => (done.length > 0 ? [] : [CALLER]),
    endFiles: async ({ limit }: { limit: number }) => {
      const ended = Math.min(limit, files)
      files -= ended
      return ended
    },
    removed: async (id: number) => void done.push(id),
  }
  // Nothing else of the records is touched.
  const records = { blockedCallers } as unknown as Pick<RecordStore, 'blockedCallers'>
  const deps = { records, now: () => 60_000 }
  expect(await removeFilesOfBlocked({ ...deps, isOver: () => true })).toBe(100)
  expect(done).toEqual([])
  expect(await removeFilesOfBlocked(deps)).toBe(150)
  expect(done).toEqual([])
  expect(await removeFilesOfBlocked(deps)).toBe(0)
  expect(done).toEqual([1])
})
