import { type Amount, decideQuota, type QuotaState } from '../../quota-rule/decide-quota.ts'
import { networkOf, principalsOf } from '../../quota-rule/network-of.ts'
import type { AdmitRequest, ReserveOutcome } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { Sql, Steps } from './sql.ts'

interface Sums {
  readonly bytes: number | null
  readonly files: number | null
}

const NOTHING: Amount = { bytes: 0, files: 0 }

/** What a quota says. Writes decide with it inside their transaction, reads ask it for a hint. */
export function prepareQuotaReads(db: Sql) {
  const content = prepareContentReads(db)
  const charged = db.prepare<[string, string], Amount>('SELECT bytes, files FROM usage WHERE principal = ? AND day = ?')
  const inFlight = db.prepare<[string, string, string], Sums & { readonly count: number }>(
    `SELECT COUNT(*) AS count, SUM(CASE WHEN day = ? THEN bytes ELSE 0 END) AS bytes,
       SUM(CASE WHEN day = ? AND bytes > 0 THEN 1 ELSE 0 END) AS files FROM reservations WHERE principal = ?`,
  )
  const networkCharged = db.prepare<[string, string], Amount>(
    'SELECT bytes, files FROM network_usage WHERE network = ? AND day = ?',
  )
  const networkReserved = db.prepare<[string, string, string], Sums>(
    `SELECT SUM(bytes) AS bytes, COUNT(*) AS files FROM reservations
     WHERE principal > ? AND principal < ? AND day = ? AND bytes > 0`,
  )

  function* quotaState(principal: string, day: string): Steps<QuotaState> {
    const { count = 0, ...reserved } = (yield* inFlight.get(day, day, principal)) ?? {}
    const used = sumOf(yield* charged.get(principal, day), reserved)
    const name = networkOf(principal)
    const network = name === undefined ? undefined : { name, used: yield* networkUsed(name, day) }
    return { inFlight: count, used, network }
  }

  function* networkUsed(network: string, day: string): Steps<Amount> {
    const reserved = yield* networkReserved.get(...principalsOf(network), day)
    return sumOf(yield* networkCharged.get(network, day), reserved)
  }

  return {
    /** How many uploads of the principal are in flight; what is charged to the day, and held of it. */
    quotaState,

    /** Whether the upload may begin. One of a file that the principal has already asks for nothing. */
    *decide(request: AdmitRequest): Steps<ReserveOutcome> {
      const { principal, day, key, sizeBytes, now } = request
      const state = yield* quotaState(principal, day)
      // What reserves no bytes becomes no file.
      const isFree = sizeBytes === 0 || (yield* content.liveFile(principal, key, now)) !== undefined
      const asked = isFree ? NOTHING : { bytes: sizeBytes, files: 1 }
      const decision = decideQuota(state, { ...request, asked })
      if (decision.outcome !== 'fits') return decision
      return { outcome: 'reserved', reservedBytes: asked.bytes, usedBytes: decision.usedBytes + asked.bytes }
    },
  }
}

function sumOf(one: Amount | undefined, other: Partial<Sums> | undefined): Amount {
  return {
    bytes: (one?.bytes ?? 0) + (other?.bytes ?? 0),
    files: (one?.files ?? 0) + (other?.files ?? 0),
  }
}
