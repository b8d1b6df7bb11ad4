import type { Verified } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import { MAX_ENTRIES_NAMED } from '@lade/core/wire'
import type { VerifiedBody } from '../blobs/receive.ts'
import type { CheckedUpload } from '../moderation/blocked-content.ts'
import type {
  AtOnceOutcome,
  DayLeft,
  FileCommit,
  FileRecord,
  FolderCommit,
  NewFile,
  Placement,
  TakedownsChanged,
  UnusableMembers,
} from '../records/record-store.ts'
import { quotaRefusal, type UploadHead } from './admit-upload.ts'
import { contentFactsOf } from './content-facts.ts'
import { newDealId } from './deal-id.ts'
import type { UploadTier } from './upload-tier.ts'

/** What an upload is recorded as, once its bytes are verified and the prover has taken them. */
export interface VerifiedUpload extends VerifiedBody {
  readonly tier: UploadTier
  readonly head: UploadHead
  readonly termDays: number
  /** The bytes, when they live in the metadata. */
  readonly inline: Uint8Array | undefined
  /** Absent for a file that is handed to provers later. */
  readonly placement?: Placement | undefined
  /** Where the bytes are, when they are in the blob store. */
  readonly place?: BlobPlace | undefined
  /** Where it is a folder: what it has in it. */
  readonly folder?: FolderCommit | undefined
}

export type BlobPlace = Required<Pick<FileCommit, 'put' | 'replacedUntil'>>

/** A file that is durable and readable, and what its principal has used of the day. */
export interface StagedUpload {
  readonly file: FileRecord
  readonly usedBytes: number
  /** The limit of the day that leaves the least, where that is not the tier's. */
  readonly day?: DayLeft
  /** False when the file was there already. */
  readonly isNew: boolean
  /** True when a prover has taken it. */
  readonly isPlaced: boolean
}

/** The record of a verified upload; its term begins now. */
export function fileCommitOf(upload: VerifiedUpload, now: number): FileCommit {
  const { tier, head, termDays, digests, inline, placement, place, folder } = upload
  return {
    now,
    inline,
    ...(inline === undefined && { chunkDigests: digests.chunkDigests }),
    content: contentFactsOf(head.cid, upload),
    placement,
    folder: folder ?? folderInCar(upload.verified),
    ...place,
    file: {
      principal: tier.principal,
      key: head.cid.key,
      cid: head.cid.text,
      sha256: digests.sha256,
      sizeBytes: digests.sizeBytes,
      contentType: head.contentType,
      filename: head.filename,
      visibility: head.visibility ?? 'public',
      owner: tier.owner,
      sponsored: tier.name === 'sponsored',
      ...claimOf(tier, head),
      verified: head.cid.verified,
      termDays,
      uploadedAt: now,
      expiresAt: now + termDays * DAY_MS,
      dealId: newDealId(now),
    },
  }
}

/** A CAR that was uploaded under the root of a directory is a folder that needs nothing beside its own object. */
export function folderInCar({ car }: Verified): FolderCommit | undefined {
  const folder = car?.folder
  return folder === undefined ? undefined : { ...folder, memberBytes: 0, members: [], taken: [] }
}

/** Kept of sponsored files alone: others have an owner. */
export function claimOf(
  { name }: Pick<UploadTier, 'name'>,
  { claimDigest }: Pick<UploadHead, 'claimDigest'>,
): Pick<NewFile, 'claimDigest'> {
  return name === 'sponsored' && claimDigest !== undefined ? { claimDigest } : {}
}

/** What an upload is held against blocks by. */
export function checkedUploadOf({ file, content }: FileCommit): CheckedUpload {
  const { key, sha256, sizeBytes } = file
  return { key, sha256, sizeBytes, content }
}

/**
 * What the records made of a commit.
 *
 * @throws {LadeError} `cid_conflict`, `lease_lost`, `too_many_uploads`, `rate_limited`, `quota_exceeded`; of a folder `missing_entries`,
 *   `private_entries`.
 */
export function stagedBy(
  outcome: Exclude<AtOnceOutcome, TakedownsChanged>,
  upload: VerifiedUpload,
  now: number,
): StagedUpload {
  switch (outcome.outcome) {
    case 'recorded':
    case 'retry':
      return {
        file: outcome.file,
        usedBytes: outcome.usedBytes,
        ...(outcome.day !== undefined && { day: outcome.day }),
        isNew: outcome.outcome === 'recorded',
        isPlaced: upload.placement !== undefined,
      }
    case 'conflict':
      throw new LadeError('cid_conflict', { cid: upload.head.cid.text, actual: upload.digests.sha256 })
    case 'lost':
      throw new LadeError('lease_lost', { retryAfterSeconds: 1 })
    case 'unusable_members':
      throw unusableMembers(outcome)
    case 'over_quota':
    case 'too_many_in_flight':
      throw quotaRefusal({ tier: upload.tier, sizeBytes: upload.digests.sizeBytes }, outcome, now)
  }
}

/** What went, or became private, while the folder was made; by its sha2-256. */
function unusableMembers({ gone, private: hidden }: UnusableMembers): LadeError {
  if (gone.length > 0) {
    return new LadeError('missing_entries', { missing: gone.slice(0, MAX_ENTRIES_NAMED), count: gone.length })
  }
  return new LadeError('private_entries', { entries: hidden.slice(0, MAX_ENTRIES_NAMED), count: hidden.length })
}
