import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { OutcomeUnknown } from '../records/outcome-unknown.ts'
import type { RecordStore, ReserveRequest } from '../records/record-store.ts'
import { Reservations } from './reservations.ts'

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
  const records = { quotas } as RecordStore
  return { records, reservations: new Reservations(records), released, state }
}

describe('release', () => {
  it('returns the reservation at once, and owes nothing then', async () => {
    const { reservations, released } = releasingRecords()
    await reservations.release({ reservationId: 'a', now: 0 })
    await reservations.releaseOwed(0)
    expect(released).toEqual(['a'])
  })

  it('error: what the records cannot take is owed until they can', async () => {
    const { reservations, released, state } = releasingRecords()
    state.isFull = true
    for (const reservationId of ['a', 'b', 'a']) await reservations.release({ reservationId, now: 0 })
    await expect(reservations.releaseOwed(1)).rejects.toMatchObject({ code: 'insufficient_storage' })
    state.isFull = false
    await reservations.releaseOwed(2)
    await reservations.releaseOwed(3)
    expect(released).toEqual(['a', 'b'])
  })

  it('owes each of two stores its own', async () => {
    const one = releasingRecords()
    const other = releasingRecords()
    one.state.isFull = true
    await one.reservations.release({ reservationId: 'a', now: 0 })
    one.state.isFull = false
    await other.reservations.releaseOwed(1)
    expect([one.released, other.released]).toEqual([[], []])
    await one.reservations.releaseOwed(1)
    expect(one.released).toEqual(['a'])
  })
})

describe('make', () => {
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
    const { records, reservations, released } = releasingRecords()
    const made: string[] = []
    records.quotas.reserve = async ({ reservationId, sizeBytes }) => {
      made.push(reservationId)
      const error = failure()
      if (error !== undefined) throw error
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: 0 }
    }
    return { reservations, released, made }
  }

  const failed = (cause: Error) => new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })

  it('owes nothing for one that was made, or that was not', async () => {
    const failures = [undefined, failed(new Error('away'))]
    const { reservations, released, made } = forgetfulRecords(() => failures.shift())
    expect(await reservations.make(request('a'))).toMatchObject({ outcome: 'reserved' })
    await expect(reservations.make(request('b'))).rejects.toMatchObject({ code: 'storage_failed' })
    await reservations.releaseOwed(1)
    expect([made, released]).toEqual([['a', 'b'], []])
  })

  it('error: returns one of which nobody knows whether it was made', async () => {
    const { reservations, released } = forgetfulRecords(() => failed(new OutcomeUnknown(new Error('away'))))
    await expect(reservations.make(request('a'))).rejects.toMatchObject({ code: 'storage_failed' })
    await reservations.releaseOwed(1)
    await reservations.releaseOwed(2)
    expect(released).toEqual(['a'])
  })
})
