import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { secondsToNextDay, utcDay } from '../quotas/utc-day.ts'
import type { RecordStore, Visibility } from '../records/record-store.ts'
import type { UploadTier } from './upload-tier.ts'

/** How long a reservation lives without a sign of life from the process that holds it. */
export const LEASE_MS = 60_000

/** What the head of an upload request says, each field checked for its form. */
export interface UploadHead {
  readonly cid: ContentId
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string | null
  readonly visibility: Visibility
  readonly termDays: number | undefined
}

/** An upload that may send its body: its bytes are reserved until it is committed or released. */
export interface Admission {
  readonly reservationId: string
  readonly tier: UploadTier
  readonly head: UploadHead
  readonly termDays: number
  /** Charged and reserved for the day, with this upload. */
  readonly usedBytes: number
}

export interface AdmitDeps {
  readonly records: RecordStore
  readonly instanceId: string
  readonly now: () => number
  readonly newId: () => string
}

/**
 * Decides about an upload before its first body byte: visibility and term, size, then the quota, whose reservation it
 * writes.
 *
 * @throws {LadeError} `invalid_visibility`, `invalid_term`, `too_large`, `storage_offline`, `too_many_uploads`,
 *   `rate_limited` (sponsored) or `quota_exceeded` (token).
 */
export async function admitUpload(
  deps: AdmitDeps,
  input: { readonly tier: UploadTier; readonly head: UploadHead; readonly isStorageBound: boolean },
): Promise<Admission> {
  const { tier, head } = input
  if (head.visibility === 'private' && tier.name === 'sponsored') {
    throw new LadeError('invalid_visibility', { reason: 'An upload without a token is public.' })
  }
  const termDays = head.termDays ?? tier.defaultTermDays
  if (termDays > tier.maxTermDays) {
    throw new LadeError('invalid_term', { reason: `This tier stores for 1 to ${tier.maxTermDays} days.` })
  }
  if (head.sizeBytes > tier.fileBytes) {
    throw new LadeError('too_large', { limit: tier.fileBytes, size: head.sizeBytes })
  }
  if (!input.isStorageBound) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })

  const now = deps.now()
  const reservationId = deps.newId()
  const reserved = await deps.records.quotas.reserve({
    reservationId,
    instanceId: deps.instanceId,
    principal: tier.principal,
    day: utcDay(now),
    key: head.cid.key,
    sizeBytes: head.sizeBytes,
    capBytes: tier.dailyBytes,
    maxInFlight: tier.concurrency,
    now,
    leaseUntil: now + LEASE_MS,
  })
  switch (reserved.outcome) {
    case 'reserved':
      return { reservationId, tier, head, termDays, usedBytes: reserved.usedBytes }
    case 'over_quota':
      throw overQuota(tier, reserved.usedBytes, now)
    case 'too_many_in_flight':
      throw new LadeError('too_many_uploads', {
        used: reserved.inFlight,
        limit: tier.concurrency,
        retryAfterSeconds: 1,
      })
  }
}

/** The refusal of a day's cap, under the code that its tier has. */
export function overQuota(tier: UploadTier, usedBytes: number, now: number): LadeError {
  const evidence = { used: usedBytes, limit: tier.dailyBytes, retryAfterSeconds: secondsToNextDay(now) }
  return tier.name === 'sponsored' ? new LadeError('rate_limited', evidence) : new LadeError('quota_exceeded', evidence)
}
