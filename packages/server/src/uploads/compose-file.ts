import {
  type ContentId,
  canBeRoot,
  checkContent,
  type KnownDigests,
  pieceCidOf,
  type Verified,
} from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { isCarMediaType, MAX_PARTS } from '@lade/core/wire'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Handover } from '../placement/handover.ts'
import { pieceHandle } from '../records/object-handle.ts'
import type { CompositionCommit, FileRecord, PartFacts } from '../records/record-store.ts'
import { agreeTerms, overQuota, type UploadHead } from './admit-upload.ts'
import { contentFactsOf } from './content-facts.ts'
import { DAY_MS } from './file-commit.ts'
import { findParts, missingParts } from './find-parts.ts'
import { foldParts } from './fold-parts.ts'
import { lostParts } from './lost-parts.ts'
import { type ReadPartsDeps, type ReadPartsInput, readParts } from './read-parts.ts'
import type { UploadTier } from './upload-tier.ts'

export interface ComposeDeps extends Omit<ReadPartsDeps, 'blobs'> {
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly handover: Pick<Handover, 'dealId'>
}

export interface ComposeInput {
  readonly tier: UploadTier
  /** What is said of the whole; its size follows from the parts. */
  readonly head: Omit<UploadHead, 'sizeBytes' | 'profile' | 'sha256'>
  readonly parts: readonly ContentId[]
  /** Ends the reading of parts, where that is needed; its reason is what the call rejects with. */
  readonly signal: AbortSignal
}

/** A whole that has its id. */
interface CheckedWhole {
  readonly digests: KnownDigests
  readonly verified: Verified
}

/**
 * Makes one file of several that the caller has staged, in their order: one deal, and no bytes charged,
 * since the parts were; it counts as one file of the day.
 * No byte is moved. Their own files end with it.
 *
 * The whole is checked against its id like an upload. For a UnixFS root and for a piece CID that takes nothing but what was
 * kept of the parts; for other ids, and for a root when the parts came under ids that keep no leaves of it, they are read.
 *
 * However it ends otherwise, nothing has changed. When the whole is the caller's live file already, that is the answer,
 * whatever the parts are.
 *
 * @throws {LadeError} `invalid_cid` for an opaque id; `invalid_parts`, `missing_parts`, `foreign_parts`; `invalid_visibility`,
 *   `invalid_term`, `too_large`, `storage_offline`; `cid_mismatch`, `invalid_car`, `incomplete_dag`; `too_many_uploads` and
 *   `storage_failed` where parts are read; `cid_conflict`, `rate_limited`, `quota_exceeded`.
 */
export async function composeFile(deps: ComposeDeps, input: ComposeInput): Promise<FileRecord> {
  const { tier, head } = input
  if (!head.cid.verified) {
    throw new LadeError('invalid_cid', {
      reason: 'A composed file needs an id that can be checked, and opaque ids cannot.',
    })
  }
  const count = input.parts.length
  if (count === 0 || count > MAX_PARTS) {
    throw new LadeError('invalid_parts', { reason: `There are ${count} of them; a file has 1 to ${MAX_PARTS}.` })
  }
  const { principal } = tier
  const found = await findParts(deps.records, { principal, cid: head.cid, parts: input.parts, now: deps.now() })
  if ('whole' in found) return found.whole

  const sizeBytes = found.parts.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  const whole = { ...head, sizeBytes }
  const isStorageBound = deps.blobs !== undefined
  const { termDays, admit } = agreeTerms({ tier, head: whole, isStorageBound }, deps.now())
  await requireBytes(deps, input, found.parts)
  const reading = { tier, head: whole, admit, parts: found.parts, signal: input.signal }
  const { digests, verified } = checkFolded(reading) ?? (await checkRead(deps, input, reading))

  const { pieceRoot } = digests
  const sha256 = digests.sha256 ?? null
  const object = sha256 ?? pieceHandle({ pieceRoot, sizeBytes })
  const dealId = deps.handover.dealId({ principal, key: head.cid.key, object })
  const now = deps.now()
  const { cid, contentType, filename, visibility } = head
  const commit: CompositionCommit = {
    now,
    day: admit.day,
    capFiles: admit.capFiles,
    content: contentFactsOf(cid, { digests, verified }),
    parts: found.parts.map(({ file }) => file.sequence),
    file: {
      principal,
      key: cid.key,
      cid: cid.text,
      sha256,
      sizeBytes,
      contentType,
      filename,
      visibility,
      owner: tier.owner,
      sponsored: tier.name === 'sponsored',
      verified: true,
      termDays,
      uploadedAt: now,
      expiresAt: now + termDays * DAY_MS,
      dealId,
    },
  }
  const outcome = await deps.records.compositions.commit(commit)
  switch (outcome.outcome) {
    case 'recorded':
    case 'retry':
      return outcome.file
    case 'over_quota':
      throw overQuota(tier, outcome, now)
    case 'ended':
      throw missingParts(namesOf(input, found.parts, outcome.parts))
    case 'conflict':
      throw new LadeError('cid_conflict', { cid: cid.text, actual: sha256 ?? pieceCidOf({ pieceRoot, sizeBytes }) })
  }
}

/** @throws {LadeError} `missing_parts` for parts whose bytes were lost, so that the caller sends them again, which brings them back. */
async function requireBytes(
  { records, blobs }: ComposeDeps,
  input: ComposeInput,
  parts: readonly PartFacts[],
): Promise<void> {
  if (blobs === undefined) return
  const lost = await lostParts({ records, blobs }, parts)
  if (lost.size > 0) throw missingParts(namesOf(input, parts, [...lost]))
}

/**
 * The whole, checked by what was kept of its parts; undefined when that does not tell.
 *
 * @throws {LadeError} `cid_mismatch`.
 */
function checkFolded({ head, parts }: ReadPartsInput): CheckedWhole | undefined {
  const digests = foldParts(head.cid, parts)
  if (digests === undefined) return undefined
  try {
    return { digests, verified: checkContent(head.cid, digests) }
  } catch (error) {
    // What is no file under this root may be a CAR of it.
    const mayBeCar = isCarMediaType(head.contentType) && canBeRoot(head.cid)
    if (mayBeCar && LadeError.has(error, 'cid_mismatch')) return undefined
    throw error
  }
}

async function checkRead(
  { blobs, ...deps }: ComposeDeps,
  input: ComposeInput,
  reading: ReadPartsInput,
): Promise<CheckedWhole> {
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  try {
    const digests = await readParts({ ...deps, blobs }, reading)
    return { digests, verified: checkContent(reading.head.cid, digests) }
  } catch (error) {
    // Bytes that went while they were read are a part that is missing, and no fault of the store.
    if (LadeError.has(error, 'storage_failed')) {
      const { tier, head, parts } = input
      await findParts(deps.records, { principal: tier.principal, cid: head.cid, parts, now: deps.now() })
    }
    throw error
  }
}

/** The parts of these sequences, as the caller wrote them. */
function namesOf({ parts }: ComposeInput, found: readonly PartFacts[], sequences: readonly number[]): string[] {
  const names = found.flatMap(({ file }, place) =>
    sequences.includes(file.sequence) ? (parts[place]?.text ?? []) : [],
  )
  return [...new Set(names)]
}
