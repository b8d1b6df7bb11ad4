import type { AdmitRequest, ReserveOutcome } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareContentReads } from './content-reads.ts'

/** What a quota says. The writer decides with it inside its transaction, the reader asks it for a hint. */
export function prepareQuotaReads(db: Connection) {
  const content = prepareContentReads(db)
  const chargedBytes = db
    .prepare<[string, string], number>('SELECT bytes FROM usage WHERE principal = ? AND day = ?')
    .pluck()
  const inFlight = db.prepare<[string, string], { readonly count: number; readonly bytes: number | null }>(
    'SELECT COUNT(*) AS count, SUM(iif(day = ?, bytes, 0)) AS bytes FROM reservations WHERE principal = ?',
  )

  function standing(principal: string, day: string): { readonly inFlight: number; readonly usedBytes: number } {
    const { count = 0, bytes } = inFlight.get(day, principal) ?? {}
    return { inFlight: count, usedBytes: (chargedBytes.get(principal, day) ?? 0) + (bytes ?? 0) }
  }

  return {
    /** How many uploads of the principal are in flight; what is charged to the day, and held of it. */
    standing,

    /** `charged + reserved + size ≤ cap`, unless the principal has the file already and nothing is to be charged. */
    decide(request: AdmitRequest): ReserveOutcome {
      const { principal, day, key, sizeBytes, now } = request
      const { inFlight, usedBytes } = standing(principal, day)
      if (inFlight >= request.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
      if (content.liveFile(principal, key, now) !== undefined) {
        return { outcome: 'reserved', reservedBytes: 0, usedBytes }
      }
      if (usedBytes + sizeBytes > request.capBytes) return { outcome: 'over_quota', usedBytes }
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: usedBytes + sizeBytes }
    },
  }
}
