import type { AdmitRequest, ReserveOutcome } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { Sql, Steps } from './sql.ts'

interface Standing {
  readonly inFlight: number
  readonly usedBytes: number
}

/** What a quota says. Writes decide with it inside their transaction, reads ask it for a hint. */
export function prepareQuotaReads(db: Sql) {
  const content = prepareContentReads(db)
  const chargedBytes = db
    .prepare<[string, string], number>('SELECT bytes FROM usage WHERE principal = ? AND day = ?')
    .pluck()
  const inFlight = db.prepare<[string, string], { readonly count: number; readonly bytes: number | null }>(
    'SELECT COUNT(*) AS count, SUM(CASE WHEN day = ? THEN bytes ELSE 0 END) AS bytes FROM reservations WHERE principal = ?',
  )

  function* standing(principal: string, day: string): Steps<Standing> {
    const { count = 0, bytes } = (yield* inFlight.get(day, principal)) ?? {}
    const charged = (yield* chargedBytes.get(principal, day)) ?? 0
    return { inFlight: count, usedBytes: charged + (bytes ?? 0) }
  }

  return {
    /** How many uploads of the principal are in flight; what is charged to the day, and held of it. */
    standing,

    /** `charged + reserved + size ≤ cap`, unless the principal has the file already and nothing is to be charged. */
    *decide(request: AdmitRequest): Steps<ReserveOutcome> {
      const { principal, day, key, sizeBytes, now } = request
      const { inFlight, usedBytes } = yield* standing(principal, day)
      if (inFlight >= request.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
      if ((yield* content.liveFile(principal, key, now)) !== undefined) {
        return { outcome: 'reserved', reservedBytes: 0, usedBytes }
      }
      if (usedBytes + sizeBytes > request.capBytes) return { outcome: 'over_quota', usedBytes }
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: usedBytes + sizeBytes }
    },
  }
}
