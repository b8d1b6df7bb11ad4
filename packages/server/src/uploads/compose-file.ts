import { type ContentId, pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { DAY_MS } from '@lade/core/time'
import type { CompositionCommit, FileRecord, OverQuota, PartFile, RecordStore } from '../records/record-store.ts'
import { agreeTerms, overQuota, type Terms, type UploadHead } from './admit-upload.ts'
import { applyHead } from './apply-head.ts'
import { type CheckDeps, type CheckedWhole, checkWhole } from './check-whole.ts'
import { contentFactsOf } from './content-facts.ts'
import { newDealId } from './deal-id.ts'
import { claimOf, folderInCar } from './file-commit.ts'
import { findParts, missingParts } from './find-parts.ts'
import { lostParts } from './lost-parts.ts'
import { type RefuseBlockedDeps, recordUnblocked, refuseBlockedHead } from './refuse-blocked.ts'
import type { UploadTier } from './upload-tier.ts'

export interface ComposeDeps extends CheckDeps, RefuseBlockedDeps {
  readonly records: RecordStore
  readonly now: () => number
}

export interface ComposeInput {
  readonly tier: UploadTier
  /** What is said of the whole; its size follows from the parts. */
  readonly head: Omit<UploadHead, 'sizeBytes' | 'profile' | 'sha256'>
  /** 1 to `MAX_PARTS`. */
  readonly parts: readonly ContentId[]
  /** Ends the reading of parts, where that is needed; its reason is what the call rejects with. */
  readonly signal: AbortSignal
  /** Called when the parts were found. What follows may take long, and little of this thread. */
  readonly onFound?: () => void
}

/** The parts of a composition that the tier allows, with what it asks of the records. */
interface Agreed {
  readonly parts: readonly PartFile[]
  readonly sizeBytes: number
  readonly terms: Terms
}

/**
 * Makes one file of several that the caller has staged, in their order: one deal, and charged only for what is repeated, since each part
 * was charged once; it counts as one file of the day. No byte is moved. Their own files end with it.
 *
 * The whole is checked against its id like an upload. For a UnixFS root and for a piece CID that takes nothing but what was
 * kept of the parts; for other ids, and for a root when the parts came under ids that keep no leaves of it, they are read.
 *
 * However it ends otherwise, nothing has changed, but what it cost draws on the budget of the principal. When the whole is the caller's
 * live file already, that is the answer, whatever the parts are, with the type, name, visibility and longer term that are asked for.
 *
 * @throws {LadeError} `over_budget`; `invalid_cid` for an opaque id; `invalid_parts`, `missing_parts`, `foreign_parts`;
 *   `blocked`, `caller_blocked`; `invalid_visibility`, `unverified_account`, `insufficient_scope`, `invalid_term`, `too_large`, `storage_offline`; `rate_limited` (sponsored) or `quota_exceeded` (token);
 *   `cid_mismatch`, `invalid_car`, `incomplete_dag`; `too_many_uploads` and `storage_failed` where parts are read; `cid_conflict`.
 */
export async function composeFile(deps: ComposeDeps, input: ComposeInput): Promise<FileRecord> {
  const { tier, head } = input
  deps.budget.require(tier.principal, 'compose')
  if (!head.cid.verified) {
    throw new LadeError('invalid_cid', {
      reason: 'A composed file needs a verifiable id. Opaque ids cannot be verified.',
    })
  }
  const found = await findParts(deps.records, deps.budget, {
    principal: tier.principal,
    cid: head.cid,
    parts: input.parts,
    now: deps.now(),
  })
  input.onFound?.()
  const objects = 'whole' in found ? [found.whole.object] : found.parts.map(({ file }) => file.object)
  await refuseBlockedHead(deps, { principal: tier.principal, cid: head.cid }, { parts: objects })
  if ('whole' in found) return applyHead(deps, { tier, head, file: found.whole })

  const agreed = await agree(deps, input, found.parts)
  await requireBytes(deps, input, found.parts)
  const { sizeBytes, terms } = agreed
  const whole = await checkWhole(deps, {
    tier,
    head: { ...head, sizeBytes },
    admit: terms.admit,
    parts: found.parts,
    names: input.parts,
    signal: input.signal,
  })
  let isNew = false
  try {
    const recorded = await record(deps, input, agreed, whole)
    isNew = recorded.isNew
    return isNew ? recorded.file : await applyHead(deps, { tier, head, file: recorded.file })
  } finally {
    // The parts of a new file were charged, and so are its repetitions; what was read for nothing was not.
    if (!isNew) whole.bill?.takeBack()
  }
}

/**
 * What the tier and the day say to the whole, before anything of its parts is looked at but their sizes.
 *
 * @throws {LadeError} `invalid_visibility`, `invalid_term`, `too_large`, `storage_offline`, `rate_limited`, `quota_exceeded`.
 */
async function agree(deps: ComposeDeps, { tier, head }: ComposeInput, parts: readonly PartFile[]): Promise<Agreed> {
  const now = deps.now()
  const sizeBytes = bytesOf(parts)
  const isStorageBound = deps.blobs !== undefined
  const terms = agreeTerms({ tier, head: { ...head, sizeBytes }, isStorageBound }, now)
  const repeatedBytes = repeatedBytesOf(parts)
  if (repeatedBytes > 0) {
    // A hint: the commit decides.
    const asked = { ...terms.admit, sizeBytes: repeatedBytes, maxInFlight: Number.MAX_SAFE_INTEGER }
    const hint = await deps.records.quotas.preview(asked)
    if (hint.outcome === 'over_quota') throw overQuotaOf(tier, hint, parts, now)
  }
  return { parts, sizeBytes, terms }
}

/** @throws {LadeError} `missing_parts` for parts whose bytes were lost, so that the caller sends them again, which brings them back. */
async function requireBytes(
  { records, blobs }: ComposeDeps,
  input: ComposeInput,
  parts: readonly PartFile[],
): Promise<void> {
  if (blobs === undefined) return
  const lost = await lostParts({ records, blobs }, parts)
  if (lost.size > 0) throw missingParts(namesOf(input, parts, [...lost]))
}

async function record(
  deps: ComposeDeps,
  input: ComposeInput,
  { parts, sizeBytes, terms }: Agreed,
  { digests, verified }: CheckedWhole,
): Promise<{ readonly file: FileRecord; readonly isNew: boolean }> {
  const { tier, head } = input
  const { principal } = tier
  const { pieceRoot } = digests
  const sha256 = digests.sha256 ?? null
  const now = deps.now()
  const { cid, contentType, filename, visibility = 'public' } = head
  const { termDays, admit } = terms
  const commit: CompositionCommit = {
    now,
    day: admit.day,
    capBytes: admit.capBytes,
    capFiles: admit.capFiles,
    capStoredBytes: admit.capStoredBytes,
    token: admit.token,
    content: contentFactsOf(cid, { digests, verified }),
    parts: parts.map(({ file }) => file.sequence),
    folder: folderInCar(verified),
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
      ...claimOf(tier, head),
      verified: true,
      termDays,
      uploadedAt: now,
      expiresAt: now + termDays * DAY_MS,
      dealId: newDealId(now),
    },
  }
  const upload = { key: cid.key, sha256, sizeBytes, content: commit.content }
  const outcome = await recordUnblocked(deps, { principal, cid }, upload, async (takedownRevision) => {
    await refuseBlockedHead(deps, { principal, cid }, { parts: parts.map(({ file }) => file.object) })
    return deps.records.compositions.commit({ ...commit, takedownRevision })
  })
  switch (outcome.outcome) {
    case 'recorded':
    case 'retry':
      return { file: outcome.file, isNew: outcome.outcome === 'recorded' }
    case 'ended':
      throw missingParts(namesOf(input, parts, outcome.parts))
    case 'over_quota':
      throw overQuotaOf(tier, outcome, parts, now)
    case 'conflict':
      throw new LadeError('cid_conflict', { cid: cid.text, actual: sha256 ?? pieceCidOf({ pieceRoot, sizeBytes }) })
  }
}

function overQuotaOf(tier: UploadTier, refused: OverQuota, parts: readonly PartFile[], now: number): LadeError {
  // Parts were charged once; what is asked for here is their repetitions.
  return overQuota({ tier, sizeBytes: repeatedBytesOf(parts) }, refused, now)
}

function bytesOf(parts: Iterable<PartFile>): number {
  let bytes = 0
  for (const { file } of parts) bytes += file.sizeBytes
  return bytes
}

/** What is to be charged: of a file that is named n times, all but the first. */
function repeatedBytesOf(parts: readonly PartFile[]): number {
  return bytesOf(parts) - bytesOf(new Map(parts.map((part) => [part.file.sequence, part])).values())
}

/** The parts of these sequences, as the caller wrote them. */
function namesOf({ parts }: ComposeInput, found: readonly PartFile[], sequences: readonly number[]): string[] {
  const wanted = new Set(sequences)
  const names = found.flatMap(({ file }, place) => (wanted.has(file.sequence) ? (parts[place]?.text ?? []) : []))
  return [...new Set(names)]
}
