import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import type { RecordStore } from '../records/record-store.ts'
import { releaseOwed, releaseReservation } from './release-reservation.ts'

/** Records that only release, and refuse to while `isFull`. */
function releasingRecords() {
  const released: string[] = []
  const state = { isFull: false }
  const quotas: Partial<RecordStore['quotas']> = {
    async release({ reservationId }) {
      if (state.isFull) throw new LadeError('insufficient_storage', { retryAfterSeconds: 60 })
      released.push(reservationId)
    },
  }
  return { records: { quotas } as RecordStore, released, state }
}

describe('releaseReservation', () => {
  it('returns the reservation at once, and owes nothing then', async () => {
    const { records, released } = releasingRecords()
    await releaseReservation(records, { reservationId: 'a', now: 0 })
    await releaseOwed(records, 0)
    expect(released).toEqual(['a'])
  })

  it('error: what the records cannot take is owed until they can', async () => {
    const { records, released, state } = releasingRecords()
    state.isFull = true
    for (const reservationId of ['a', 'b', 'a']) await releaseReservation(records, { reservationId, now: 0 })
    await expect(releaseOwed(records, 1)).rejects.toMatchObject({ code: 'insufficient_storage' })
    state.isFull = false
    await releaseOwed(records, 2)
    await releaseOwed(records, 3)
    expect(released).toEqual(['a', 'b'])
  })

  it('owes to each store its own', async () => {
    const one = releasingRecords()
    const other = releasingRecords()
    one.state.isFull = true
    await releaseReservation(one.records, { reservationId: 'a', now: 0 })
    one.state.isFull = false
    await releaseOwed(other.records, 1)
    expect([one.released, other.released]).toEqual([[], []])
    await releaseOwed(one.records, 1)
    expect(one.released).toEqual(['a'])
  })
})
