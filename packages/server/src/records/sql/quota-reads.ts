import { isAddressId, WALLET_ADDRESSES } from '../../quota-rule/address-as-token.ts'
import {
  type Amount,
  type Caps,
  decideQuota,
  type QuotaRequest,
  type QuotaState,
} from '../../quota-rule/decide-quota.ts'
import { networkOf, principalsOf } from '../../quota-rule/network-of.ts'
import type { AdmitRequest, AskingToken, DayLeft, ReserveOutcome } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { prepareLimitReads } from './limit-reads.ts'
import { prepareOverdueFiles } from './overdue-files.ts'
import { nothing, type Sql, type Steps, together } from './sql.ts'

interface Sums {
  readonly bytes: number | null
  readonly files: number | null
}

/** What is reserved for a principal, of which uploads in several requests do not count as in flight: of a day, on all days, and of the day by the token that asks and by all tokens. */
interface InFlightRow extends Sums {
  readonly count: number | null
  readonly everBytes: number | null
  readonly ownBytes: number | null
  readonly tokensBytes: number | null
}

/** Whose quota it is, and which limits matter. */
export interface Asking {
  readonly principal: string
  readonly day: string
  readonly token?: AskingToken | undefined
  readonly capStoredBytes?: number | undefined
}

interface TokenDay {
  readonly principal: string
  readonly token: string
  readonly day: string
}

/** What was charged to a token, and to all tokens of its principal; an address as a token has no others beside it. */
interface TokenUsage {
  readonly own: number
  readonly ofTokens: number | undefined
}

const NOTHING: Amount = { bytes: 0, files: 0 }

/** What a quota says. Writes decide with it inside their transaction, reads ask it for a hint. */
export function prepareQuotaReads(db: Sql) {
  const content = prepareContentReads(db)
  const { limitsOf } = prepareLimitReads(db)
  const { overdueOf } = prepareOverdueFiles(db)
  const charged = db.prepare<[string, string], Amount>('SELECT bytes, files FROM usage WHERE principal = ? AND day = ?')
  const inFlight = db.prepare<{ principal: string; day: string; token: string }, InFlightRow>(
    `SELECT SUM(CASE WHEN instance <> '' THEN 1 ELSE 0 END) AS count, SUM(CASE WHEN day = :day THEN bytes ELSE 0 END) AS bytes,
       SUM(CASE WHEN day = :day AND bytes > 0 THEN 1 ELSE 0 END) AS files, SUM(bytes) AS "everBytes",
       SUM(CASE WHEN day = :day AND token = :token THEN bytes ELSE 0 END) AS "ownBytes",
       SUM(CASE WHEN day = :day AND token IS NOT NULL THEN bytes ELSE 0 END) AS "tokensBytes"
     FROM reservations WHERE principal = :principal`,
  )
  const chargedByTokens = db.prepare<
    { principal: string; day: string; token: string },
    Record<'own' | 'tokens', number | null>
  >(
    `SELECT SUM(CASE WHEN token = :token THEN bytes ELSE 0 END) AS own, SUM(bytes) AS tokens FROM token_usage
     WHERE principal = :principal AND day = :day`,
  )
  const chargedToAddress = db
    .prepare<[string, string, string], number>(
      'SELECT bytes FROM token_usage WHERE principal = ? AND day = ? AND token = ?',
    )
    .pluck()
  const reservedByAddress = db
    .prepare<[string, string], number | null>('SELECT SUM(bytes) FROM reservations WHERE token = ? AND day = ?')
    .pluck()
  const stored = db.prepare<[string], number | null>('SELECT SUM(stored_bytes) FROM usage WHERE principal = ?').pluck()
  const networkCharged = db.prepare<[string, string], Amount>(
    'SELECT bytes, files FROM network_usage WHERE network = ? AND day = ?',
  )
  const networkReserved = db.prepare<[string, string, string], Sums>(
    `SELECT SUM(bytes) AS bytes, COUNT(*) AS files FROM reservations
     WHERE principal > ? AND principal < ? AND day = ? AND bytes > 0`,
  )
  const networkStored = db
    .prepare<[string], number | null>('SELECT SUM(stored_bytes) FROM network_usage WHERE network = ?')
    .pluck()
  const networkEverReserved = db
    .prepare<[string, string], number | null>(
      'SELECT SUM(bytes) FROM reservations WHERE principal > ? AND principal < ?',
    )
    .pluck()

  function* quotaState({ principal, day, token, capStoredBytes }: Asking): Steps<QuotaState> {
    const name = networkOf(principal)
    const isStoredAsked = capStoredBytes !== undefined
    const [reserved, usage, tokenUsage, storedBytes, network] = yield* together(
      inFlight.get({ principal, day, token: token?.id ?? '' }),
      charged.get(principal, day),
      tokenUsageOf(token && { principal, day, token: token.id }),
      isStoredAsked ? stored.get(principal) : nothing(),
      name === undefined ? nothing() : networkState(name, day, isStoredAsked),
    )
    const used = sumOf(usage, reserved)
    return {
      inFlight: reserved?.count ?? 0,
      used,
      tokenBytes: tokenUsage && tokenBytes(tokenUsage, used, reserved),
      storedBytes: isStoredAsked ? (storedBytes ?? 0) + (reserved?.everBytes ?? 0) : undefined,
      network,
    }
  }

  /** What was charged to a token that is asked about. */
  function* tokenUsageOf(request: TokenDay | undefined): Steps<TokenUsage | undefined> {
    if (request === undefined) return undefined
    const { day, token } = request
    if (!isAddressId(token)) {
      const sums = yield* chargedByTokens.get(request)
      return { own: sums?.own ?? 0, ofTokens: sums?.tokens ?? 0 }
    }
    const [charged, reserved] = yield* together(
      chargedToAddress.get(WALLET_ADDRESSES, day, token),
      reservedByAddress.get(token, day),
    )
    return { own: (charged ?? 0) + (reserved ?? 0), ofTokens: undefined }
  }

  function* networkState(name: string, day: string, isStoredAsked: boolean): Steps<NonNullable<QuotaState['network']>> {
    const bounds = principalsOf(name)
    const used = sumOf(yield* networkCharged.get(name, day), yield* networkReserved.get(...bounds, day))
    if (!isStoredAsked) return { name, used }
    const everReserved = (yield* networkEverReserved.get(...bounds)) ?? 0
    return { name, used, storedBytes: ((yield* networkStored.get(name)) ?? 0) + everReserved }
  }

  /** What the state is without files whose term is over, and that are counted as stored until somebody ends them. */
  function* withoutOverdue(state: QuotaState, { principal }: Asking, now: number): Steps<QuotaState> {
    const { network, storedBytes = 0 } = state
    const own = yield* overdueOf((one) => one === principal, now)
    const ofNetwork = network && (yield* overdueOf((one) => networkOf(one) === network.name, now))
    return {
      ...state,
      storedBytes: storedBytes - own.bytes,
      network: network && { ...network, storedBytes: (network.storedBytes ?? 0) - (ofNetwork?.bytes ?? 0) },
    }
  }

  /** The state, with what is overdue taken off where that decides. */
  function* stateFor(
    asking: Asking,
    caps: Caps,
    { now, ...request }: Pick<QuotaRequest, 'asked' | 'reservedBytes'> & { readonly now: number },
  ): Steps<QuotaState> {
    const state = yield* quotaState(asking)
    const decision = decideQuota(state, { ...caps, ...request })
    const isByStored = decision.outcome === 'over_quota' && decision.over.which === 'stored'
    return isByStored ? yield* withoutOverdue(state, asking, now) : state
  }

  /** The limits of an upload: what an operator has set for the principal, else those of its tier and of its largest token. */
  function* capsOf({ principal, capBytes, capFiles, capStoredBytes, token, now }: CapsRequest): Steps<Caps> {
    const limits = yield* limitsOf(principal, now, capBytes)
    return {
      capBytes: limits.dailyBytes ?? Math.max(capBytes, limits.tokensBytes),
      capFiles,
      capStoredBytes: limits.storedBytes ?? capStoredBytes,
      capTokenBytes: token?.capBytes,
    }
  }

  return {
    capsOf,
    quotaState,
    stateFor,

    /** What counts for a token by itself. */
    *tokenUsage({
      principal,
      token,
      day,
    }: {
      principal: string
      token: string
      day: string
    }): Steps<Pick<Amount, 'bytes'>> {
      const { tokenBytes: bytes = 0 } = yield* quotaState({ principal, day, token: { id: token, capBytes: 0 } })
      return { bytes }
    },

    /** Whether the upload may begin. One of a file that the principal has already asks for nothing. */
    *decide(request: AdmitRequest): Steps<{ readonly outcome: ReserveOutcome; readonly caps: Caps }> {
      const { principal, key, sizeBytes, maxInFlight, now } = request
      const caps = yield* capsOf(request)
      // What reserves no bytes becomes no file.
      const isFree = sizeBytes === 0 || (yield* content.liveFile(principal, key, now)) !== undefined
      const asked = isFree ? NOTHING : { bytes: sizeBytes, files: 1 }
      const state = yield* stateFor({ ...request, ...caps }, caps, { asked, now })
      const decision = decideQuota(state, { ...caps, asked, maxInFlight })
      if (decision.outcome === 'too_many_in_flight') return { outcome: decision, caps }
      const day = dayLeft(state, caps, request.capBytes, decision.outcome === 'fits' ? asked.bytes : 0)
      if (decision.outcome === 'over_quota') return { outcome: { ...decision, ...day }, caps }
      const usedBytes = decision.usedBytes + asked.bytes
      return { outcome: { outcome: 'reserved', reservedBytes: asked.bytes, usedBytes, ...day }, caps }
    },
  }
}

/** What nobody knows the token of may have been by this one. */
function tokenBytes({ own, ofTokens }: TokenUsage, used: Amount, reserved: InFlightRow | undefined): number {
  if (ofTokens === undefined) return own
  return own + (reserved?.ownBytes ?? 0) + used.bytes - ofTokens - (reserved?.tokensBytes ?? 0)
}

type CapsRequest = Pick<AdmitRequest, 'principal' | 'capBytes' | 'capFiles' | 'capStoredBytes' | 'token' | 'now'>

/**
 * Which limit of the day leaves the least, where that is not the one that was asked about.
 *
 * @param added - bytes that `state` does not count yet.
 */
export function dayLeft(
  { used, tokenBytes = 0 }: QuotaState,
  { capBytes, capTokenBytes = Infinity }: Caps,
  askedCapBytes: number,
  added: number,
): { readonly day?: DayLeft } {
  const day =
    capTokenBytes - tokenBytes < capBytes - used.bytes
      ? { usedBytes: tokenBytes + added, limitBytes: capTokenBytes }
      : { usedBytes: used.bytes + added, limitBytes: capBytes }
  return day.limitBytes === askedCapBytes && day.usedBytes === used.bytes + added ? {} : { day }
}

function sumOf(one: Amount | undefined, other: Partial<Sums> | undefined): Amount {
  return {
    bytes: (one?.bytes ?? 0) + (other?.bytes ?? 0),
    files: (one?.files ?? 0) + (other?.files ?? 0),
  }
}
