import type { RecordStore } from '../records/record-store.ts'

/** Reservations whose release failed. Upkeep keeps the leases of a living instance alive, so none would end by itself. */
const owed = new WeakMap<RecordStore, Map<string, string | undefined>>()

/** Returns a reservation now, or, when the records cannot take that, with the next `releaseOwed`. Never rejects. */
export async function releaseReservation(
  records: RecordStore,
  request: { readonly reservationId: string; readonly now: number; readonly published?: string | undefined },
): Promise<void> {
  try {
    await records.quotas.release(request)
  } catch {
    const releases = owed.get(records) ?? new Map()
    owed.set(records, releases.set(request.reservationId, request.published))
  }
}

/**
 * Tries again what `releaseReservation` could not do.
 *
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; what is left is tried again the next time.
 */
export async function releaseOwed(records: RecordStore, now: number): Promise<void> {
  const releases = owed.get(records)
  for (const [reservationId, published] of releases ?? []) {
    await records.quotas.release({ reservationId, now, published })
    releases?.delete(reservationId)
  }
}
