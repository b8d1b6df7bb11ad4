import type { OverQuota } from '../quota-rule/decide-quota.ts'
import type { AskingToken, DayLeft } from './limit-records.ts'

/**
 * What is asked of a quota. `capBytes` is what the tier allows, or the token, whichever is more: the largest quota of the live tokens of a
 * user raises it. Limits that were set for the principal take the place of `capBytes` and `capStoredBytes`.
 */
export interface AdmitRequest {
  readonly principal: string
  readonly day: string
  readonly key: string
  readonly sizeBytes: number
  readonly capBytes: number
  /** A file that is charged, a composed file, and an upload that has reserved bytes count as one each. */
  readonly capFiles: number
  /** Bytes that the principal may have stored at a time, those of uploads that have reserved them among them. @default no limit */
  readonly capStoredBytes?: number | undefined
  /** What asks, where that has a quota of its own. @default nothing that has */
  readonly token?: AskingToken | undefined
  readonly maxInFlight: number
  readonly now: number
}

/** What several uploads of one principal have in common. */
export type AdmitAll = Omit<AdmitRequest, 'key' | 'sizeBytes'>

/** In answers of the quota: absent where it is `usedBytes` of the `capBytes` that were asked about. */
export interface WithDay {
  readonly day?: DayLeft
}

/** A reservation to be made. `leaseUntil` is epoch milliseconds; `extendLeases` moves it. */
export interface ReserveRequest extends AdmitRequest {
  readonly reservationId: string
  readonly instanceId: string
  readonly leaseUntil: number
  /**
   * True for an upload whose size only its end tells: `sizeBytes` is the least that the quota must have room for. Nothing is reserved until
   * `grow`. @default false
   */
  readonly grows?: boolean
}

/** Which leases end at `leaseUntil` from now on: those of an instance that end before `endingBefore`. In epoch milliseconds. */
export interface ExtendLeasesRequest {
  readonly instanceId: string
  readonly endingBefore: number
  readonly leaseUntil: number
}

/** `usedBytes` is what is charged and reserved for the principal and day; after a reservation it includes that one. */
export type ReserveOutcome =
  | ({ readonly outcome: 'reserved'; readonly reservedBytes: number; readonly usedBytes: number } & WithDay)
  | (OverQuota & WithDay)
  | { readonly outcome: 'too_many_in_flight'; readonly inFlight: number }
