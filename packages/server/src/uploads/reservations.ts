import { mayHaveBeenMade } from '../records/outcome-unknown.ts'
import type { BlobName, RecordStore, ReserveOutcome, ReserveRequest } from '../records/record-store.ts'

/**
 * The reservations that a process makes and returns; one of it for each process.
 *
 * Upkeep keeps the leases of a living instance alive, so a reservation that could not be returned would never end by itself. It is *owed*,
 * and `releaseOwed` returns it later. What is owed is kept in memory: when the process ends, its reservations are returned by others.
 */
export class Reservations {
  readonly #quotas: Pick<RecordStore['quotas'], 'reserve' | 'release'>
  /** By the id of the reservation, the bytes that were published under it. */
  readonly #owed = new Map<string, BlobName | undefined>()

  constructor({ quotas }: { readonly quotas: Pick<RecordStore['quotas'], 'reserve' | 'release'> }) {
    this.#quotas = quotas
  }

  /**
   * Makes a reservation, if the quota has room for it. One of which nobody knows whether it was made is owed.
   *
   * @throws {LadeError} `storage_failed`, `insufficient_storage`.
   */
  async make(request: ReserveRequest): Promise<ReserveOutcome> {
    try {
      return await this.#quotas.reserve(request)
    } catch (error) {
      if (mayHaveBeenMade(error)) this.#owed.set(request.reservationId, undefined)
      throw error
    }
  }

  /** Returns a reservation now; when the records cannot take that, it is owed. Never rejects. */
  async release(request: {
    readonly reservationId: string
    readonly now: number
    readonly published?: BlobName | undefined
  }): Promise<void> {
    try {
      await this.#quotas.release(request)
    } catch {
      this.#owed.set(request.reservationId, request.published)
    }
  }

  /**
   * Returns what is owed.
   *
   * @throws {LadeError} `storage_failed`, `insufficient_storage`; what is left is tried again the next time.
   */
  async releaseOwed(now: number): Promise<void> {
    for (const [reservationId, published] of this.#owed) {
      await this.#quotas.release({ reservationId, now, published })
      this.#owed.delete(reservationId)
    }
  }
}
