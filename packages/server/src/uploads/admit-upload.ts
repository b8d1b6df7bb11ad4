import type { ContentId } from '@lade/core/content'
import type { ImportProfileName } from '@lade/core/dag'
import { bytesText, comparedBytes, type ErrorEvidence, LadeError } from '@lade/core/errors'
import { CAR_MEDIA_TYPE, isCarMediaType, UNKNOWN_LENGTH_MAX_BYTES } from '@lade/core/wire'
import { secondsToNextDay, utcDay } from '../quotas/utc-day.ts'
import type { AdmitRequest, DayLeft, OverQuota, ReserveOutcome, Visibility } from '../records/record-store.ts'
import { requireVerified } from '../tokens/verified-account.ts'
import { isHopeless, quotaSentence } from './quota-sentence.ts'
import { type RefuseBlockedDeps, refuseBlockedHead } from './refuse-blocked.ts'
import type { Reservations } from './reservations.ts'
import type { UploadTier } from './upload-tier.ts'

/** How long a reservation lives without a sign of life from the process that holds it. */
export const LEASE_MS = 60_000

/** What the head of an upload request says, each field checked for its form. */
export interface UploadHead {
  readonly cid: ContentId
  /** Undefined where the end of the body tells. */
  readonly sizeBytes: number | undefined
  readonly contentType: string
  readonly filename: string | null
  /** Undefined where the caller says nothing: public, or as the file is that the caller has already. */
  readonly visibility: Visibility | undefined
  readonly termDays: number | undefined
  /** The sha2-256 that the caller announced, in hex. */
  readonly sha256?: string | undefined
  /** The sha2-256, in hex, of the secret that a sponsored file can be claimed with. */
  readonly claimDigest?: string | undefined
  /** The import profile that a dag-pb cid comes from, where the caller knows it. */
  readonly profile?: ImportProfileName | undefined
}

/** The same of an upload whose length is known. */
export type SizedHead = UploadHead & { readonly sizeBytes: number }

/** An upload that may send its body: its bytes are reserved until it is committed or released. */
export interface Admission {
  readonly reservationId: string
  readonly tier: UploadTier
  readonly head: UploadHead
  readonly termDays: number
}

export interface AdmitDeps extends RefuseBlockedDeps {
  readonly reservations: Reservations
  readonly instanceId: string
  readonly newId: () => string
}

export interface AdmitInput {
  readonly tier: UploadTier
  readonly head: UploadHead
  readonly isStorageBound: boolean
}

/** The term that an upload gets, and what it asks of the quota. */
export interface Terms {
  readonly termDays: number
  readonly admit: AdmitRequest
}

/**
 * What the tier says to an upload: visibility and term, size, and whether there is anywhere to put it.
 *
 * @throws {LadeError} `invalid_visibility`, `unverified_account`, `invalid_term`, `too_large`, `storage_offline`.
 */
export function agreeTerms({ tier, head, isStorageBound }: AdmitInput, now: number): Terms {
  if (head.visibility === 'private') {
    if (tier.name === 'sponsored' || tier.rights === undefined) {
      throw new LadeError('invalid_visibility', {
        reason: 'Uploads without a token are always public. Send a token, or leave X-Visibility out.',
      })
    }
    requireVerified(tier.rights)
  }
  const termDays = head.termDays ?? tier.defaultTermDays
  if (termDays > tier.maxTermDays) {
    throw new LadeError('invalid_term', { reason: termSentence(tier, termDays) })
  }
  // A body of unknown length has a byte at least.
  const { sizeBytes = 1 } = head
  if (sizeBytes > fileLimitOf({ tier, head })) throw tooLarge({ tier, head, sizeBytes })
  if (!isStorageBound) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  const admit = {
    principal: tier.principal,
    day: utcDay(now),
    key: head.cid.key,
    sizeBytes,
    capBytes: tier.dailyBytes,
    capFiles: tier.dailyFiles,
    capStoredBytes: tier.storedBytes,
    token: tier.token,
    maxInFlight: tier.concurrency,
    now,
  }
  return { termDays, admit }
}

function termSentence({ name, maxTermDays }: UploadTier, termDays: number): string {
  const most = `The term is ${termDays} days; the maximum is ${maxTermDays}`
  return name === 'sponsored' ? `${most} without a token.` : `${most}.`
}

/** The most bytes that a file can have: by its tier, by the kind of its id, and where its length is not known. */
export function fileLimitOf({ tier, head }: Pick<AdmitInput, 'tier' | 'head'>): number {
  return Math.min(
    tier.fileBytes,
    blockLimitOf(head),
    head.sizeBytes === undefined ? UNKNOWN_LENGTH_MAX_BYTES : Infinity,
  )
}

/** The refusal of a file that has, or has brought so far, more than `fileLimitOf`. */
export function tooLarge({
  tier,
  head,
  sizeBytes,
}: Pick<AdmitInput, 'tier' | 'head'> & { readonly sizeBytes: number }): LadeError {
  const limit = fileLimitOf({ tier, head })
  return new LadeError('too_large', { limit, size: sizeBytes, reason: sizeSentence(tier, { head, sizeBytes }) })
}

/** Why a file is too large, and what to do about it. */
function sizeSentence(
  { name, fileBytes, withToken }: UploadTier,
  { head, sizeBytes }: { readonly head: UploadHead; readonly sizeBytes: number },
): string {
  const blockLimit = blockLimitOf(head)
  if (head.sizeBytes === undefined && UNKNOWN_LENGTH_MAX_BYTES < Math.min(fileBytes, blockLimit)) {
    return `Without Content-Length, a file can be at most ${bytesText(UNKNOWN_LENGTH_MAX_BYTES)}. Send Content-Length.`
  }
  if (blockLimit < fileBytes) {
    const [size, limit] = comparedBytes(sizeBytes, blockLimit)
    return `The body is ${size}, but this cid names one block, and a block can be at most ${limit}. Send a CAR (${CAR_MEDIA_TYPE}), or use the cid of the file.`
  }
  const [size, limit] = comparedBytes(sizeBytes, fileBytes)
  if (name !== 'sponsored')
    return `The file is ${size}; the limit is ${limit}. Split the file, or ask the operator for a higher limit.`
  const more = withToken === undefined ? '' : ` With a token, the limit is ${bytesText(withToken.fileBytes)}.`
  return `The file is ${size}; without a token, the limit is ${limit}.${more}`
}

/** What an id that names one block allows; a CAR brings the block together with all below it, so it may be bigger. */
function blockLimitOf({ cid, contentType }: UploadHead): number {
  return isCarMediaType(contentType) ? Infinity : (cid.maxBytes ?? Infinity)
}

/**
 * Decides about an upload before its first body byte: what the tier says, whether the content is blocked, then the quota, whose reservation it
 * writes.
 *
 * @throws {LadeError} as `agreeTerms`, then `blocked`, then `too_many_uploads`, `rate_limited` (sponsored) or `quota_exceeded` (token).
 */
export async function admitUpload(deps: AdmitDeps, input: AdmitInput): Promise<Admission> {
  const { tier, head } = input
  const now = deps.now()
  const { termDays, admit } = agreeTerms(input, now)
  await refuseBlockedHead(deps, { principal: tier.principal, cid: head.cid }, head)
  const reservationId = deps.newId()
  const { instanceId } = deps
  const leaseUntil = now + LEASE_MS
  const grows = head.sizeBytes === undefined
  const reserved = await deps.reservations.make({ ...admit, reservationId, instanceId, leaseUntil, grows })
  if (reserved.outcome !== 'reserved') throw quotaRefusal({ tier, ...askedBy(head) }, reserved, now)
  return { reservationId, tier, head, termDays }
}

/** What the quota says no with, and what is left of the day. */
export type RefusedByQuota = OverQuota & { readonly day?: DayLeft }

/** What asked the quota, and how much of it. */
export interface Asking {
  readonly tier: UploadTier
  readonly sizeBytes: number
  /** True when the file may have more bytes than that. @default false */
  readonly isGrowing?: boolean
}

/** How much an upload asks of its quota before its first byte. */
function askedBy({ sizeBytes }: UploadHead): Omit<Asking, 'tier'> {
  return sizeBytes === undefined ? { sizeBytes: 1, isGrowing: true } : { sizeBytes }
}

/** The quota's no, under the code that its tier has. */
export function quotaRefusal(
  asking: Asking,
  refused: Exclude<ReserveOutcome, { readonly outcome: 'reserved' }>,
  now: number,
): LadeError {
  if (refused.outcome === 'over_quota') return overQuota(asking, refused, now)
  const evidence = { used: refused.inFlight, limit: asking.tier.concurrency, retryAfterSeconds: 1 }
  return new LadeError('too_many_uploads', evidence)
}

/** The refusal of a quota, under the code that its tier has. The next day does not help where it is about what is stored. */
export function overQuota({ tier, sizeBytes, isGrowing }: Asking, refused: RefusedByQuota, now: number): LadeError {
  const { usedBytes, over, day = { usedBytes, limitBytes: tier.dailyBytes } } = refused
  const { unit, used, limit, network } = over
  const which = over.which === 'token' && tier.name === 'wallet' ? 'address' : (over.which ?? 'day')
  const evidence: ErrorEvidence['quota_exceeded'] = {
    unit,
    which,
    used,
    limit,
    remaining: Math.max(0, limit - used),
    size: sizeBytes,
    ...(isHopeless({ over, sizeBytes }) ? {} : { retryAfterSeconds: secondsToNextDay(now) }),
    ...((unit === 'files' || network !== undefined || which !== 'day') && day),
    ...(network !== undefined && { network: network.slice('ip:'.length) }),
    reason: quotaSentence(tier, { over, sizeBytes, isGrowing }),
  }
  return tier.name === 'sponsored' ? new LadeError('rate_limited', evidence) : new LadeError('quota_exceeded', evidence)
}
