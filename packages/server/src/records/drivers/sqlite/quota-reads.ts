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

  const reservedBytes = (principal: string, day: string): number => inFlight.get(day, principal)?.bytes ?? 0
  const usedBytes = (principal: string, day: string): number =>
    (chargedBytes.get(principal, day) ?? 0) + reservedBytes(principal, day)

  return {
    /** What uploads in flight hold of the day. */
    reservedBytes,
    /** What is charged to the day, and held of it. */
    usedBytes,

    /** `charged + reserved + size ≤ cap`, unless the principal has the file already and nothing is to be charged. */
    decide(request: AdmitRequest): ReserveOutcome {
      const { principal, day, sizeBytes } = request
      const { count = 0, bytes } = inFlight.get(day, principal) ?? {}
      if (count >= request.maxInFlight) return { outcome: 'too_many_in_flight', inFlight: count }
      const used = (chargedBytes.get(principal, day) ?? 0) + (bytes ?? 0)
      const live = content.liveFile(principal, request.key)
      if (live !== undefined && live.expires_at > request.now) {
        return { outcome: 'reserved', reservedBytes: 0, usedBytes: used }
      }
      if (used + sizeBytes > request.capBytes) return { outcome: 'over_quota', usedBytes: used }
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: used + sizeBytes }
    },
  }
}
