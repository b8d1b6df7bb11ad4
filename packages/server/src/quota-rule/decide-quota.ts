import { NETWORK_SHARES } from '@lade/core/wire/limits'

/** Bytes and files. */
export interface Amount {
  readonly bytes: number
  readonly files: number
}

/** What counts towards the quotas of a principal, before the upload that is decided about. */
export interface QuotaState {
  /** Uploads of the principal that have not ended. */
  readonly inFlight: number
  /** Charged to the principal's day, and reserved of it. */
  readonly used: Amount
  /** Of that, what counts for the token that asks; absent where it has no quota of its own. */
  readonly tokenBytes?: number | undefined
  /** Stored, and reserved on any day; absent where it does not matter. */
  readonly storedBytes?: number | undefined
  /** The same of all principals of its network together; absent for a principal without one. */
  readonly network?:
    | { readonly name: string; readonly used: Amount; readonly storedBytes?: number | undefined }
    | undefined
}

/** The limits that hold for an upload. */
export interface Caps {
  /** Of a day. */
  readonly capBytes: number
  /** Of a day. A file that is charged, a composed file, and an upload that has reserved bytes count as one each. */
  readonly capFiles: number
  /** Of a day, for the token that asks by itself. @default none */
  readonly capTokenBytes?: number | undefined
  /** Of what is stored at a time. @default none */
  readonly capStoredBytes?: number | undefined
}

/** What an upload asks for, and the limits that hold for it. */
export interface QuotaRequest extends Caps {
  /**
   * What would be charged, and stored; nothing for a file that the principal has already. `storedBytes` is for a folder, which is stored with
   * files that were charged before. @default storedBytes is bytes
   */
  readonly asked: Amount & { readonly storedBytes?: number }
  /** Bytes that the upload has reserved itself, and that `state` counts. They are the upload's whatever happened since. @default 0 */
  readonly reservedBytes?: number
}

/** An upload that has not begun, of which only so many may be in flight. */
export interface NewUploadRequest extends QuotaRequest {
  readonly maxInFlight: number
}

/**
 * The limit that is reached: the principal's own, or, with `network`, the one that all principals of that network share, which is
 * `NETWORK_SHARES` times as high.
 */
export interface QuotaLimit {
  readonly unit: 'bytes' | 'files'
  /** `token`: of a day, for that token alone; `stored`: of what is stored at a time. @default of a day */
  readonly which?: 'token' | 'stored'
  /** Charged and reserved, or stored and reserved. */
  readonly used: number
  readonly limit: number
  readonly network?: string
}

/** Quotas that have no room for an upload. `usedBytes` is the principal's own of the day, whichever limit it was. */
export interface OverQuota {
  readonly outcome: 'over_quota'
  readonly usedBytes: number
  readonly over: QuotaLimit
}

/** `usedBytes`: charged to the principal's day and reserved of it, without what this upload asks for. */
export type QuotaDecision = { readonly outcome: 'fits'; readonly usedBytes: number } | OverQuota

export type NewUploadDecision = QuotaDecision | { readonly outcome: 'too_many_in_flight'; readonly inFlight: number }

/**
 * The quota rule: `used + asked ≤ cap`, in bytes and in files of a day and in stored bytes, for the principal and for its network, and in
 * bytes of a day for the token that asks.
 *
 * Pure. Whoever writes what was decided reads `state` in the same transaction. Of the limits that are reached, the answer names the uploads
 * in flight first, then the principal's bytes, its files, the token's bytes, what is stored, and those of the network.
 *
 * @example
 * const state = { inFlight: 0, used: { bytes: 90, files: 1 } }
 * decideQuota(state, { asked: { bytes: 10, files: 1 }, capBytes: 100, capFiles: 10 }) // { outcome: 'fits', usedBytes: 90 }
 * decideQuota(state, { asked: { bytes: 11, files: 1 }, capBytes: 100, capFiles: 10 }).outcome // 'over_quota'
 */
export function decideQuota(state: QuotaState, request: NewUploadRequest): NewUploadDecision
export function decideQuota(state: QuotaState, request: QuotaRequest): QuotaDecision
export function decideQuota(state: QuotaState, request: QuotaRequest | NewUploadRequest): NewUploadDecision {
  const { reservedBytes = 0 } = request
  if ('maxInFlight' in request && state.inFlight >= request.maxInFlight) {
    return { outcome: 'too_many_in_flight', inFlight: state.inFlight }
  }
  const own = { bytes: reservedBytes, files: reservedBytes > 0 ? 1 : 0 }
  const used = less(state.used, own)
  const more = {
    bytes: moreThan(request.asked.bytes, reservedBytes),
    files: request.asked.files - own.files,
    storedBytes: moreThan(request.asked.storedBytes ?? request.asked.bytes, reservedBytes),
  }
  const over =
    limitReached({ ...state, used }, own, more, request) ??
    (state.network && networkLimitReached(state.network, own, more, request))
  return over === undefined
    ? { outcome: 'fits', usedBytes: used.bytes }
    : { outcome: 'over_quota', usedBytes: used.bytes, over }
}

/**
 * How much an upload may have reserved whose size is not known yet: the most bytes from `leastBytes` to `asked.bytes` that fit.
 *
 * @returns the refusal of `leastBytes` where not even those fit.
 *
 * @example
 * const state = { inFlight: 1, used: { bytes: 90, files: 1 } }
 * const asked = { bytes: 40, files: 1 }
 * decideGrowth(state, { asked, leastBytes: 5, capBytes: 100, capFiles: 10 }) // { outcome: 'fits', bytes: 10 }
 */
export function decideGrowth(
  state: QuotaState,
  { leastBytes, ...request }: QuotaRequest & { readonly leastBytes: number },
): { readonly outcome: 'fits'; readonly bytes: number } | OverQuota {
  for (let bytes = request.asked.bytes; ; ) {
    const decision = decideQuota(state, { ...request, asked: { ...request.asked, bytes } })
    if (decision.outcome === 'fits') return { outcome: 'fits', bytes }
    if (bytes <= leastBytes) return decision
    const { unit, used, limit } = decision.over
    bytes = unit === 'bytes' ? Math.max(leastBytes, Math.min(bytes - 1, limit - used)) : leastBytes
  }
}

/** What is left of a day. @example remainingOf({ bytes: 90, files: 1 }, { capBytes: 100, capFiles: 1 }) // { bytes: 10, files: 0 } */
export function remainingOf(used: Amount, { capBytes, capFiles }: Pick<Caps, 'capBytes' | 'capFiles'>): Amount {
  return { bytes: Math.max(0, capBytes - used.bytes), files: Math.max(0, capFiles - used.files) }
}

type More = Amount & { readonly storedBytes: number }

/** What is asked for, where that is more than what the upload has reserved. */
function moreThan(askedBytes: number, reservedBytes: number): number {
  return askedBytes <= reservedBytes ? 0 : askedBytes
}

function networkLimitReached(
  network: NonNullable<QuotaState['network']>,
  own: Amount,
  more: More,
  { capBytes, capFiles, capStoredBytes }: Caps,
): QuotaLimit | undefined {
  const caps = {
    capBytes: timesShares(capBytes),
    capFiles: timesShares(capFiles),
    capStoredBytes: capStoredBytes === undefined ? undefined : timesShares(capStoredBytes),
  }
  const over = limitReached({ ...network, used: less(network.used, own) }, own, more, caps)
  return over && { ...over, network: network.name }
}

/** Of what is more by 0, no limit is reached, even when it was lowered since. `own` is not in `used` any more. */
function limitReached(
  { used, tokenBytes = 0, storedBytes = 0 }: Pick<QuotaState, 'used' | 'tokenBytes' | 'storedBytes'>,
  own: Amount,
  more: More,
  { capBytes, capFiles, capTokenBytes = Infinity, capStoredBytes = Infinity }: Caps,
): QuotaLimit | undefined {
  if (more.bytes > 0 && used.bytes + more.bytes > capBytes) return { unit: 'bytes', used: used.bytes, limit: capBytes }
  if (more.files > 0 && used.files + more.files > capFiles) return { unit: 'files', used: used.files, limit: capFiles }
  const [ofToken, stored] = [tokenBytes - own.bytes, storedBytes - own.bytes]
  if (more.bytes > 0 && ofToken + more.bytes > capTokenBytes) {
    return { unit: 'bytes', which: 'token', used: ofToken, limit: capTokenBytes }
  }
  if (more.storedBytes > 0 && stored + more.storedBytes > capStoredBytes) {
    return { unit: 'bytes', which: 'stored', used: stored, limit: capStoredBytes }
  }
  return undefined
}

function less(amount: Amount, other: Amount): Amount {
  return { bytes: amount.bytes - other.bytes, files: amount.files - other.files }
}

function timesShares(cap: number): number {
  return Math.min(cap * NETWORK_SHARES, Number.MAX_SAFE_INTEGER)
}
