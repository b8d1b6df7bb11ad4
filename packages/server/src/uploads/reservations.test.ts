import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { OutcomeUnknown } from '../records/outcome-unknown.ts'
import type { RecordStore, ReserveRequest } from '../records/record-store.ts'
import { makeReservation, releaseOwed, releaseReservation } from './reservations.ts'

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

describe('makeReservation', () => {
  const request = (reservationId: string): ReserveRequest => ({
    reservationId,
    instanceId: 'i',
    principal: 'user:alice',
    day: '2026-11-22',
    key: 'opaque:a',
    sizeBytes: 100,
    capBytes: 100,
    capFiles: 10,
    maxInFlight: 1,
    now: 0,
    leaseUntil: 60_000,
  })

  /** Records that make every reservation, and say of some that nobody knows. */
  function forgetfulRecords(failure: () => Error | undefined) {
    const { records, released } = releasingRecords()
    const made: string[] = []
    records.quotas.reserve = async ({ reservationId, sizeBytes }) => {
      made.push(reservationId)
      const error = failure()
      if (error !== undefined) throw error
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: 0 }
    }
    return { records, released, made }
  }

  const failed = (cause: Error) => new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })

  it('owes nothing for one that was made, or that was not', async () => {
    const failures = [undefined, failed(new Error('away'))]
    const { records, released, made } = forgetfulRecords(() => failures.shift())
    expect(await makeReservation(records, request('a'))).toMatchObject({ outcome: 'reserved' })
    await expect(makeReservation(records, request('b'))).rejects.toMatchObject({ code: 'storage_failed' })
    await releaseOwed(records, 1)
    expect([made, released]).toEqual([['a', 'b'], []])
  })

  it('error: returns one of which nobody knows whether it was made', async () => {
    const { records, released } = forgetfulRecords(() => failed(new OutcomeUnknown(new Error('away'))))
    await expect(makeReservation(records, request('a'))).rejects.toMatchObject({ code: 'storage_failed' })
    await releaseOwed(records, 1)
    await releaseOwed(records, 2)
    expect(released).toEqual(['a'])
  })
})
