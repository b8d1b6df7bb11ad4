import { NETWORK_SHARES } from '@lade/node/budget/network-shares'
import { networkOf, principalsOf } from '../network-of.ts'
import type { AdmitRequest, DayLimit, ReserveOutcome } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import type { Sql, Steps } from './sql.ts'

/** Bytes and files: charged to a day, held of it, or asked for. */
interface Amount {
  readonly bytes: number
  readonly files: number
}

interface Standing {
  readonly inFlight: number
  readonly usedBytes: number
  /** Charged to the principal's day, and held of it. */
  readonly used: Amount
  /** The same of all principals of its network, where it has one. */
  readonly network: { readonly name: string; readonly used: Amount } | undefined
}

interface Caps {
  readonly capBytes: number
  readonly capFiles: number
}

interface Sums {
  readonly bytes: number | null
  readonly files: number | null
}

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

  function* standing(principal: string, day: string): Steps<Standing> {
    const { count = 0, ...reserved } = (yield* inFlight.get(day, day, principal)) ?? {}
    const used = sumOf(yield* charged.get(principal, day), reserved)
    const name = networkOf(principal)
    const network = name === undefined ? undefined : { name, used: yield* networkUsed(name, day) }
    return { inFlight: count, usedBytes: used.bytes, used, network }
  }

  function* networkUsed(network: string, day: string): Steps<Amount> {
    const reserved = yield* networkReserved.get(...principalsOf(network), day)
    return sumOf(yield* networkCharged.get(network, day), reserved)
  }

  return {
    /** How many uploads of the principal are in flight; what is charged to the day, and held of it. */
    standing,

    /** `charged + reserved + size ≤ cap`, unless the principal has the file already and nothing is to be charged. */
    *decide(request: AdmitRequest): Steps<ReserveOutcome> {
      const { principal, day, key, sizeBytes, now } = request
      const before = yield* standing(principal, day)
      const { inFlight, usedBytes } = before
      if (inFlight >= request.maxInFlight) return { outcome: 'too_many_in_flight', inFlight }
      // What reserves no bytes becomes no file.
      if (sizeBytes === 0 || (yield* content.liveFile(principal, key, now)) !== undefined) {
        return { outcome: 'reserved', reservedBytes: 0, usedBytes }
      }
      const over = limitInTheWay(before, { bytes: sizeBytes, files: 1 }, request)
      if (over !== undefined) return { outcome: 'over_quota', usedBytes, over }
      return { outcome: 'reserved', reservedBytes: sizeBytes, usedBytes: usedBytes + sizeBytes }
    },
  }
}

/** The day without one of its reservations. */
export function withoutReservation(standing: Standing, reservedBytes: number): Standing {
  const held = { bytes: -reservedBytes, files: reservedBytes > 0 ? -1 : 0 }
  const used = sumOf(standing.used, held)
  const network = standing.network && { ...standing.network, used: sumOf(standing.network.used, held) }
  return { inFlight: standing.inFlight, usedBytes: used.bytes, used, network }
}

/** The limit of the day that is in the way of so much more; undefined when it fits. Of what is more by 0, no limit is. */
export function limitInTheWay({ used, network }: Standing, more: Amount, caps: Caps): DayLimit | undefined {
  const own = limitOver(used, more, caps)
  if (own !== undefined || network === undefined) return own
  const { capBytes, capFiles } = caps
  const days = { capBytes: timesCapped(capBytes), capFiles: timesCapped(capFiles) }
  const over = limitOver(network.used, more, days)
  return over && { ...over, network: network.name }
}

function limitOver(used: Amount, more: Amount, { capBytes, capFiles }: Caps): DayLimit | undefined {
  if (more.bytes > 0 && used.bytes + more.bytes > capBytes) return { unit: 'bytes', used: used.bytes, limit: capBytes }
  if (more.files > 0 && used.files + more.files > capFiles) return { unit: 'files', used: used.files, limit: capFiles }
  return undefined
}

function timesCapped(cap: number): number {
  return Math.min(cap * NETWORK_SHARES, Number.MAX_SAFE_INTEGER)
}

function sumOf(one: Amount | undefined, other: Partial<Sums> | undefined): Amount {
  return {
    bytes: (one?.bytes ?? 0) + (other?.bytes ?? 0),
    files: (one?.files ?? 0) + (other?.files ?? 0),
  }
}
