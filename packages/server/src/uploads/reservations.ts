import { mayHaveBeenMade } from '../records/outcome-unknown.ts'
import type { BlobName, RecordStore, ReserveOutcome, ReserveRequest } from '../records/record-store.ts'

/**
 * Reservations that are to be returned, each with the bytes that were published under it. Upkeep keeps the leases of a living instance
 * alive, so none would end by itself.
 */
const owed = new WeakMap<RecordStore, Map<string, BlobName | undefined>>()

function owe(records: RecordStore, reservationId: string, published: BlobName | undefined): void {
  const releases = owed.get(records) ?? new Map()
  owed.set(records, releases.set(reservationId, published))
}

/**
 * Makes a reservation, if the quota has room for it. One of which nobody knows whether it was made is returned by the next `releaseOwed`.
 *
 * @throws {LadeError} `storage_failed`, `insufficient_storage`.
 */
export async function makeReservation(records: RecordStore, request: ReserveRequest): Promise<ReserveOutcome> {
  try {
    return await records.quotas.reserve(request)
  } catch (error) {
    if (mayHaveBeenMade(error)) owe(records, request.reservationId, undefined)
    throw error
  }
}

/** Returns a reservation now, or, when the records cannot take that, with the next `releaseOwed`. Never rejects. */
export async function releaseReservation(
  records: RecordStore,
  request: { readonly reservationId: string; readonly now: number; readonly published?: BlobName | undefined },
): Promise<void> {
  try {
    await records.quotas.release(request)
  } catch {
    owe(records, request.reservationId, request.published)
  }
}

/**
 * Returns what is owed.
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
