import { expect } from 'vitest'
import { BOB, type Cases, DAY, NOW, reserve, stage, upload } from './case.ts'

export function adminCases({ it }: Cases): void {
  it('sums what all principals have', async (store) => {
    expect(await store.admin.totals({ fromDay: DAY })).toEqual({
      storedBytes: 0,
      storedFiles: 0,
      principals: 0,
      runningUploads: 0,
      reservedBytes: 0,
      days: [],
    })
    await stage(store, upload({ content: 'before', day: '2026-11-20', sizeBytes: 50 }))
    await stage(store, upload({ content: 'one', sizeBytes: 100 }))
    await stage(store, upload({ content: 'two', sizeBytes: 200, principal: BOB }))
    await store.files.remove({ principal: BOB, key: upload({ content: 'two' }).key, now: NOW })
    await reserve(store, upload({ content: 'three', sizeBytes: 30 }))
    expect(await store.admin.totals({ fromDay: DAY })).toEqual({
      storedBytes: 150,
      storedFiles: 2,
      principals: 1,
      runningUploads: 1,
      reservedBytes: 30,
      days: [{ date: DAY, bytes: 300, files: 2 }],
    })
    expect((await store.admin.totals({ fromDay: '2026-11-20' })).days).toHaveLength(2)
  })
}
