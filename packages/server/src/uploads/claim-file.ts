import { createHash } from 'node:crypto'
import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { CLAIM_SECRET_BYTES } from '@lade/core/wire'
import type { DayLeft, FileRecord, RecordStore } from '../records/record-store.ts'
import { agreeTerms, overQuota } from './admit-upload.ts'
import { newDealId } from './deal-id.ts'
import type { UploadTier } from './upload-tier.ts'

export interface ClaimDeps {
  readonly records: Pick<RecordStore, 'claims'>
  readonly now: () => number
  /** Up to when ends of files have taken effect. */
  readonly filesNow: () => number
  readonly isStorageBound: boolean
}

export interface ClaimInput {
  /** Of the account that claims. */
  readonly tier: UploadTier
  readonly cid: ContentId
  /** As base64url. */
  readonly secret: string
}

/** `usedBytes` is undefined for a file that the account has had already. */
export interface ClaimedFile {
  readonly file: FileRecord
  readonly usedBytes: number | undefined
  /** Which quota leaves the least of the day, where that is not the tier's. */
  readonly day?: DayLeft | undefined
}

/**
 * Makes a file that was staged without an account the account's: with the account's term, charged to its day, and without a byte being
 * sent again. The day of the address stays charged, so that nobody gets more of it by claiming.
 *
 * The secret is that whose digest was announced with the upload. Where the account has the bytes already, its own file stays as it is, and
 * the sponsored one ends. Of several who claim with one secret, one gets the file. Who claims again gets the same answer.
 *
 * @throws {LadeError} `bad_request` for a secret that is none; `not_found` for no such file, and the same for a wrong secret; `too_large`;
 *   `quota_exceeded`, where the file stays sponsored; `storage_offline`, `storage_failed`.
 */
export async function claimFile(deps: ClaimDeps, { tier, cid, secret }: ClaimInput): Promise<ClaimedFile> {
  const { claims } = deps.records
  const digest = claimDigestOf(secret)
  const { principal, owner } = tier
  for (;;) {
    const found = await claims.find({ key: cid.key, digest, principal, now: deps.filesNow() })
    if (found.outcome === 'taken') return { file: found.file, usedBytes: undefined }
    if (found.outcome === 'absent') throw new LadeError('not_found', { reason: absentSentence(cid) })
    const { sequence, sha256, sizeBytes, contentType, filename } = found.file
    const now = deps.now()
    const head = { cid, sizeBytes, contentType, filename, visibility: undefined, termDays: undefined }
    const { termDays, admit } = agreeTerms({ tier, head, isStorageBound: deps.isStorageBound }, now)
    const { day, capBytes, capFiles, capStoredBytes, token } = admit
    const taken = await claims.take({
      sponsored: sequence,
      digest,
      now: deps.filesNow(),
      day,
      capBytes,
      capFiles,
      capStoredBytes,
      token,
      file: {
        principal,
        key: cid.key,
        cid: cid.text,
        sha256,
        sizeBytes,
        contentType,
        filename,
        visibility: 'public',
        owner,
        sponsored: false,
        verified: cid.verified,
        termDays,
        uploadedAt: now,
        expiresAt: now + termDays * DAY_MS,
        dealId: newDealId(now),
      },
    })
    switch (taken.outcome) {
      case 'recorded':
      case 'retry':
        return { file: taken.file, usedBytes: taken.usedBytes, day: taken.day }
      case 'over_quota':
        throw overQuota({ tier, sizeBytes }, taken, now)
      case 'gone':
      // It ended, or somebody was faster: whose it is now is asked again.
    }
  }
}

/** @throws {LadeError} `bad_request`. */
function claimDigestOf(secret: string): string {
  const bytes = Buffer.from(secret, 'base64url')
  const { min, max } = CLAIM_SECRET_BYTES
  // One spelling, so that nobody wonders which of two was meant.
  if (bytes.toString('base64url') !== secret || bytes.length < min || bytes.length > max) {
    throw new LadeError('bad_request', {
      reason: `secret must be ${min} to ${max} bytes as base64url, without padding.`,
    })
  }
  return createHash('sha256').update(bytes).digest('hex')
}

function absentSentence(cid: ContentId): string {
  return `There is no file ${cid.text} to claim with this secret: the secret is wrong, or the term of the file has ended. Check the secret, or upload the file again.`
}
