import { NETWORK_SHARES } from '@lade/core/wire/limits'

/** Bytes and files. */
export interface Amount {
  readonly bytes: number
  readonly files: number
}

/** What counts towards the quota of a principal for a day, before the upload that is decided about. */
export interface QuotaState {
  /** Uploads of the principal that have not ended. */
  readonly inFlight: number
  /** Charged to the principal's day, and reserved of it. */
  readonly used: Amount
  /** The same of all principals of its network together; absent for a principal without one. */
  readonly network?: { readonly name: string; readonly used: Amount } | undefined
}

/** What an upload asks of a day, and the limits that hold for it. */
export interface QuotaRequest {
  /** What would be charged; nothing for a file that the principal has already. */
  readonly asked: Amount
  readonly capBytes: number
  /** A file that is charged, a composed file, and an upload that has reserved bytes count as one each. */
  readonly capFiles: number
  /** Bytes that the upload has reserved itself, and that `state` counts. They are the upload's whatever happened since. @default 0 */
  readonly reservedBytes?: number
}

/** An upload that has not begun, of which only so many may be in flight. */
export interface NewUploadRequest extends QuotaRequest {
  readonly maxInFlight: number
}

/**
 * The limit of a day that is reached: the principal's own, or, with `network`, the one that all principals of that network share, which is
 * `NETWORK_SHARES` times as high.
 */
export interface DayLimit {
  readonly unit: 'bytes' | 'files'
  /** Charged and reserved. */
  readonly used: number
  readonly limit: number
  readonly network?: string
}

/** A day that has no room for an upload. `usedBytes` is the principal's own, whichever limit it was. */
export interface OverQuota {
  readonly outcome: 'over_quota'
  readonly usedBytes: number
  readonly over: DayLimit
}

/** `usedBytes`: charged to the principal's day and reserved of it, without what this upload asks for. */
export type QuotaDecision = { readonly outcome: 'fits'; readonly usedBytes: number } | OverQuota

export type NewUploadDecision = QuotaDecision | { readonly outcome: 'too_many_in_flight'; readonly inFlight: number }

/**
 * The quota rule: `used + asked ≤ cap`, in bytes and in files, for the principal and for its network.
 *
 * Pure. Whoever writes what was decided reads `state` in the same transaction. Of the limits that are reached, the answer names the uploads
 * in flight first, then the principal's bytes, its files, and those of the network.
 *
 * @example
 * const state = { inFlight: 0, used: { bytes: 90, files: 1 } }
 * decideQuota(state, { asked: { bytes: 10, files: 1 }, capBytes: 100, capFiles: 10 }) // { outcome: 'fits', usedBytes: 90 }
 * decideQuota(state, { asked: { bytes: 11, files: 1 }, capBytes: 100, capFiles: 10 }).outcome // 'over_quota'
 */
export function decideQuota(state: QuotaState, request: NewUploadRequest): NewUploadDecision
export function decideQuota(state: QuotaState, request: QuotaRequest): QuotaDecision
export function decideQuota(state: QuotaState, request: QuotaRequest | NewUploadRequest): NewUploadDecision {
  const { capBytes, capFiles, reservedBytes = 0 } = request
  if ('maxInFlight' in request && state.inFlight >= request.maxInFlight) {
    return { outcome: 'too_many_in_flight', inFlight: state.inFlight }
  }
  const own = { bytes: reservedBytes, files: reservedBytes > 0 ? 1 : 0 }
  const used = less(state.used, own)
  const more = {
    bytes: request.asked.bytes === reservedBytes ? 0 : request.asked.bytes,
    files: request.asked.files - own.files,
  }
  const over =
    limitReached(used, more, { capBytes, capFiles }) ??
    (state.network && networkLimitReached(state.network, own, more, { capBytes, capFiles }))
  return over === undefined
    ? { outcome: 'fits', usedBytes: used.bytes }
    : { outcome: 'over_quota', usedBytes: used.bytes, over }
}

/** What is left of a day. @example remainingOf({ bytes: 90, files: 1 }, { capBytes: 100, capFiles: 1 }) // { bytes: 10, files: 0 } */
export function remainingOf(used: Amount, { capBytes, capFiles }: Caps): Amount {
  return { bytes: Math.max(0, capBytes - used.bytes), files: Math.max(0, capFiles - used.files) }
}

type Caps = Pick<QuotaRequest, 'capBytes' | 'capFiles'>

function networkLimitReached(
  network: { readonly name: string; readonly used: Amount },
  own: Amount,
  more: Amount,
  { capBytes, capFiles }: Caps,
): DayLimit | undefined {
  const caps = { capBytes: timesDays(capBytes), capFiles: timesDays(capFiles) }
  const over = limitReached(less(network.used, own), more, caps)
  return over && { ...over, network: network.name }
}

/** Of what is more by 0, no limit is reached, even when it was lowered since. */
function limitReached(used: Amount, more: Amount, { capBytes, capFiles }: Caps): DayLimit | undefined {
  if (more.bytes > 0 && used.bytes + more.bytes > capBytes) return { unit: 'bytes', used: used.bytes, limit: capBytes }
  if (more.files > 0 && used.files + more.files > capFiles) return { unit: 'files', used: used.files, limit: capFiles }
  return undefined
}

function less(amount: Amount, other: Amount): Amount {
  return { bytes: amount.bytes - other.bytes, files: amount.files - other.files }
}

function timesDays(cap: number): number {
  return Math.min(cap * NETWORK_SHARES, Number.MAX_SAFE_INTEGER)
}
