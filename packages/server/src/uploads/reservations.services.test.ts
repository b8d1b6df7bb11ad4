import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startPostgres, throughPort } from '../../../../services/postgres.ts'
import { startTcpRelay } from '../../../../services/tcp-relay.ts'
import { openPostgresRecordStore } from '../records/drivers/postgres/postgres-record-store.ts'
import { mayHaveBeenMade } from '../records/outcome-unknown.ts'
import { Reservations } from './reservations.ts'

const SIZE_BYTES = 100
const SIDE_BY_SIDE = 8
/** Stops under a COMMIT that have to be seen, and the rounds in which they are. */
const UNKNOWN = 5
const MOST_ROUNDS = 500

test('a reservation that PostgreSQL made and could not answer counts no longer than until it is back', {
  timeout: 600_000,
}, async () => {
  const postgres = await startPostgres({ fsync: false })
  const url = await postgres.createDatabase('reservations')
  const relay = await startTcpRelay(postgres.port)
  const timeouts = { writeSilenceMs: 100, connectMs: 100, writeMs: 200, readSilenceMs: 500, readMs: 2000 }
  const store = await openPostgresRecordStore({ url: throughPort(url, relay.port), timeouts })
  const reservations = new Reservations(store)
  const direct = await openPostgresRecordStore({ url })
  const asked = { instanceId: 'i', principal: 'user:alice', day: '2026-11-22', sizeBytes: SIZE_BYTES, now: 0 }
  const limits = { capBytes: 1e9, capFiles: 1e6, maxInFlight: 1e6, leaseUntil: 60_000 }
  const when = { fromDay: asked.day, today: asked.day, now: 0 }
  let made = 0
  let unknown = 0
  async function reserve(reservationId: string): Promise<void> {
    try {
      await reservations.make({ ...asked, ...limits, reservationId, key: 'opaque:a' })
      made += 1
    } catch (error) {
      expect(error).toMatchObject({ code: 'storage_failed' })
      if (mayHaveBeenMade(error)) unknown += 1
    }
  }
  try {
    for (let round = 0; unknown < UNKNOWN; round += 1) {
      expect(round).toBeLessThan(MOST_ROUNDS)
      // On a new connection, so that those that follow have one.
      await reserve(`${round}`)
      const answers = Array.from({ length: SIDE_BY_SIDE }, (_, index) => reserve(`${round} ${index}`))
      await sleep(Math.random() * 12)
      relay.swallow()
      await Promise.all(answers)
      relay.reopen()
      await expect.poll(() => hasReturnedAll(reservations), { timeout: 10_000 }).toBe(true)
      const { reservedBytes } = await direct.quotas.usage({ principal: asked.principal, ...when })
      expect(reservedBytes).toBe(made * SIZE_BYTES)
    }
  } finally {
    await store.close()
    await direct.close()
    await relay.discard()
    await postgres.discard()
  }
})

/** False while the database cannot be reached. */
function hasReturnedAll(reservations: Reservations): Promise<boolean> {
  return reservations.releaseOwed(0).then(
    () => true,
    () => false,
  )
}
