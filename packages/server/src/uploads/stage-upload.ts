import type { ContentId } from '@lade/core/content'
import type { CarIndex } from '@lade/core/dag'
import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { ContentHashers } from '@lade/node/hashing/content-hasher'
import type { BlobStore } from '../blobs/blob-store.ts'
import { type BodySource, type ReceivedBlob, receiveBlob, receiveInline, type VerifiedBody } from '../blobs/receive.ts'
import type { ProverStaging } from '../placement/stage-at-prover.ts'
import type { BlobName, FolderCommit, OpenUploadCompletion, RecordStore } from '../records/record-store.ts'
import type { Admission } from './admit-upload.ts'
import { settleBill, settleFailedBill } from './body-bills.ts'
import { contentFactsOf } from './content-facts.ts'
import { discardBlob } from './discard-objects.ts'
import { type BlobPlace, checkedUploadOf, fileCommitOf, type StagedUpload, stagedBy } from './file-commit.ts'
import { openBodyOfUnknownLength } from './open-body.ts'
import { type RefuseBlockedDeps, recordUnblocked, refuseBlockedUpload } from './refuse-blocked.ts'
import type { Reservations } from './reservations.ts'

/** How often, and how long apart, an upload asks again while the same bytes are being removed. */
const BUSY_RETRIES = 250
const BUSY_WAIT_MS = 20
/** For how long another process may believe what it knew of a blob, and more. */
const READERS_MS = 60_000

export interface StageDeps extends RefuseBlockedDeps {
  readonly records: RecordStore
  readonly reservations: Reservations
  /** As `DiscardDeps.removing`. */
  readonly removing: Set<string>
  readonly blobs: BlobStore
  readonly proverStaging: ProverStaging
  readonly instanceId: string
  /** Where big bodies are hashed. */
  readonly hashers: ContentHashers
  /** Objects up to this size live in the metadata. */
  readonly inlineBytes: number
}

export interface StageInput {
  readonly admission: Admission
  readonly body: BodySource
  /** Who is charged for the hashing. */
  readonly bill?: BodyBill | undefined
  /** True when nobody else looks at the chunks of the body. */
  readonly ownsChunks?: boolean
  readonly signal: AbortSignal
  readonly onProgress: (receivedBytes: number) => void
  /** Called once when the body is wanted: what `Expect: 100-continue` waits for. */
  readonly onReady: () => void
  /** Where the body is the CAR that was made for a folder here. @default it is a file */
  readonly folder?: FolderBody | undefined
}

/** The CAR of a folder's directories, whose blocks were made and hashed here, and what the folder has beside them. */
export interface FolderBody {
  /** The CAR as the bytes that they are. */
  readonly id: ContentId
  readonly sizeBytes: number
  readonly index: CarIndex
  readonly commit: FolderCommit
}

/** What is known of an upload whose bytes have arrived. */
export interface RecordInput extends Pick<StageInput, 'admission' | 'bill' | 'signal' | 'folder'> {
  /** The upload in several requests that this is the end of. */
  readonly completes?: OpenUploadCompletion | undefined
}

/** Bytes that are verified, in memory or as a pending blob. */
export type Arrived = VerifiedBody &
  (
    | { readonly kind: 'inline'; readonly inline: Uint8Array }
    | {
        readonly kind: 'blob'
        readonly inline: undefined
        readonly blob: Pick<ReceivedBlob, 'name' | 'commit' | 'abort'>
      }
  )

/**
 * Takes an admitted upload through the door, to the prover, and into the records. One of unknown length reserves its quota as it comes.
 *
 * Resolves when bytes and record are durable and the file is readable. However it ends otherwise, the reservation is
 * returned and nothing is left: the pending bytes are removed here, and bytes that were readable for a moment are
 * discarded through the records.
 *
 * @throws {LadeError} `incomplete_body`, `empty_body`, `too_large`, `digest_mismatch`, `cid_mismatch`, `invalid_car`, `incomplete_dag`, `blocked`,
 *   `caller_blocked`, `cid_conflict`, `stage_failed`,
 *   `insufficient_storage`, `storage_failed`, `lease_lost`, `rate_limited`, `quota_exceeded`, `over_budget`, and the reason of `signal`.
 */
export async function stageUpload(deps: StageDeps, input: StageInput): Promise<StagedUpload> {
  const { admission } = input
  const { reservationId } = admission
  let arrived: Arrived | undefined
  let published: BlobName | undefined
  try {
    arrived = await receive(deps, input)
    return await recordArrived(deps, input, arrived, (name) => {
      published = name
    })
  } catch (error) {
    settleFailedBill(input.bill, error)
    // What cannot be forgotten now is swept when this instance has ended; the caller needs the first error.
    if (arrived?.kind === 'blob') await arrived.blob.abort().catch(() => {})
    await deps.reservations.release({ reservationId, now: deps.now(), published })
    // Upkeep removes what cannot be removed now.
    if (published !== undefined) await discardBlob(deps, published).catch(() => {})
    throw error
  }
}

/**
 * Publishes bytes that have arrived and are verified, hands them to the prover, and records the file.
 *
 * @param onPublished - called when the bytes may be readable from here on.
 * @throws {LadeError} as `stageUpload`, and leaves the reservation, the pending bytes and the published ones as they are.
 */
export async function recordArrived(
  deps: StageDeps,
  input: RecordInput,
  arrived: Arrived,
  onPublished: (name: BlobName) => void,
): Promise<StagedUpload> {
  const { admission } = input
  const { reservationId, tier, head } = admission
  const { digests, verified, inline } = arrived
  const { sha256 } = digests
  const uploader = { principal: tier.principal, cid: head.cid }
  let published: BlobName | undefined
  // Before its bytes are readable, or handed to a prover.
  await refuseBlockedUpload(deps, uploader, {
    key: head.cid.key,
    sha256,
    sizeBytes: digests.sizeBytes,
    content: contentFactsOf(head.cid, { digests, verified }),
  })
  if (arrived.kind === 'blob') {
    await claim(deps, input, arrived.blob.name)
    // From here on the bytes may be readable, whether or not the commit says so.
    published = arrived.blob.name
    onPublished(published)
    await arrived.blob.commit()
  }
  const isStagedAtProver =
    arrived.kind === 'blob' &&
    input.folder === undefined &&
    deps.proverStaging.isNeeded(head) &&
    !(await isOwnPrivate(deps, admission))
  // The prover reads what is published, so that it gets the bytes that were checked.
  const placement = isStagedAtProver ? await deps.proverStaging.stageAtProver(digests, input.signal) : undefined
  const now = deps.now()
  const place = published === undefined ? undefined : placeOf(deps, published, now)
  const folder = input.folder?.commit
  const upload = { ...admission, digests, verified, inline, placement, place, folder }
  const commit = { ...fileCommitOf(upload, now), completes: input.completes }
  const outcome = await recordUnblocked(deps, uploader, checkedUploadOf(commit), (takedownRevision) =>
    deps.records.quotas.commit({ reservationId, ...commit, takedownRevision }),
  )
  const staged = stagedBy(outcome, upload, now)
  settleBill(input.bill, staged)
  return staged
}

/** True for the bytes of a private file of the caller. Provers get them once it is public, and only the commit decides whether it may be. */
async function isOwnPrivate({ records, now }: StageDeps, { tier, head }: Admission): Promise<boolean> {
  if (tier.rights === undefined) return false
  const file = await records.files.latest({ principal: tier.principal, key: head.cid.key, now: now() })
  return file !== undefined && file.end === null && file.visibility === 'private'
}

/** Where the object is read from now on, and how long what it had before is kept for readers that are under way. */
function placeOf({ blobs }: StageDeps, { put }: BlobName, now: number): BlobPlace {
  return { put, replacedUntil: now + blobs.traits.locatedMs + READERS_MS }
}

async function receive(deps: StageDeps, input: StageInput): Promise<Arrived> {
  const { folder } = input
  if (folder !== undefined) {
    const arrived = await receiveOpen(deps, input, folder.sizeBytes)
    return { ...arrived, verified: { as: 'car', dag: undefined, car: folder.index } }
  }
  const { sizeBytes } = input.admission.head
  if (sizeBytes !== undefined) return receiveOpen(deps, input, sizeBytes)
  const opened = await openBodyOfUnknownLength(deps, input)
  try {
    const { body } = opened
    return await receiveOpen(deps, { ...input, body, onProgress: () => {}, onReady: () => {} }, opened.sizeBytes)
  } finally {
    opened.close()
  }
}

async function receiveOpen(deps: StageDeps, input: StageInput, sizeBytes: number | undefined): Promise<Arrived> {
  const { cid, sha256, contentType, profile } = input.admission.head
  const options = {
    principal: input.admission.tier.principal,
    id: input.folder?.id ?? cid,
    sha256,
    mayBeCar: input.folder === undefined && isCarMediaType(contentType),
    profile,
    signal: input.signal,
    onProgress: input.onProgress,
    onReady: input.onReady,
    ownsChunks: input.ownsChunks ?? false,
    bill: input.bill,
  }
  if (sizeBytes !== undefined && sizeBytes <= deps.inlineBytes) {
    await deps.blobs.requireRoom(sizeBytes)
    const { bytes, ...body } = await receiveInline(input.body, { ...options, sizeBytes })
    return { kind: 'inline', inline: bytes, ...body }
  }
  const { hashers } = deps
  const blob = await receiveBlob(deps.blobs, deps.instanceId, input.body, { ...options, sizeBytes, hashers })
  const { digests, verified } = blob
  return { kind: 'blob', inline: undefined, digests, verified, blob }
}

/**
 * Announces the bytes to the records before they become readable, so that a crash in between leaves a trace.
 *
 * @throws the reason of `signal`, also while the same bytes are being removed.
 */
async function claim(deps: StageDeps, { admission, signal }: RecordInput, blob: BlobName): Promise<void> {
  const { reservationId, head } = admission
  for (let attempt = 0; attempt < BUSY_RETRIES; attempt += 1) {
    signal.throwIfAborted()
    const claimed = await deps.records.quotas.claim({ reservationId, key: head.cid.key, ...blob, now: deps.now() })
    switch (claimed.outcome) {
      case 'claimed':
        return
      case 'conflict':
        throw new LadeError('cid_conflict', { cid: head.cid.text, actual: blob.sha256 })
      case 'lost':
        throw new LadeError('lease_lost', { retryAfterSeconds: 1 })
      case 'busy':
        await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS))
    }
  }
  throw new LadeError('storage_failed', { retryAfterSeconds: 5 })
}
