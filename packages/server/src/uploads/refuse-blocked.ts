import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import type { CheckedUpload } from '../moderation/blocked-content.ts'
import { blockedErrorFor, type ContentBlock } from '../moderation/content-block.ts'
import type { Moderation } from '../moderation/moderation.ts'
import type { ObjectHandle, RecordStore } from '../records/record-store.ts'

/** Takedowns change by hand: an upload that meets one more each time is not let in. */
const MAX_CHECKS = 10

export interface RefuseBlockedDeps {
  readonly records: Pick<RecordStore, 'files'>
  readonly moderation: Pick<Moderation, 'content' | 'callers' | 'refresh'>
  readonly now: () => number
}

/** Who uploads, and under which id. */
export interface BlockedUploadInput {
  readonly principal: string
  readonly cid: ContentId
}

/**
 * Refuses what the head of an upload shows to be blocked: by its id, the digest that it announces, or its parts.
 *
 * @throws {LadeError} `blocked`, which tells an owner of the content why; `storage_failed`.
 */
export async function refuseBlockedHead(
  deps: RefuseBlockedDeps,
  input: BlockedUploadInput,
  said: { readonly sha256?: string | undefined; readonly parts?: readonly ObjectHandle[] } = {},
): Promise<void> {
  const { content } = deps.moderation
  const block =
    content.ofId(input.cid) ??
    (said.sha256 === undefined ? undefined : content.ofMultihash(Buffer.from(`1220${said.sha256}`, 'hex'))) ??
    said.parts?.map((part) => content.ofObject(part)).find((found) => found !== undefined)
  await refuse(deps, input, block)
}

/**
 * Refuses an upload whose bytes are all known, if it, something in it, or its caller is blocked by now.
 *
 * @throws {LadeError} `blocked`, `caller_blocked`, `storage_failed`.
 */
export async function refuseBlockedUpload(
  deps: RefuseBlockedDeps,
  input: BlockedUploadInput,
  upload: CheckedUpload,
): Promise<void> {
  const refusal = deps.moderation.callers.ofPrincipal(input.principal)
  if (refusal !== undefined) throw refusal
  await refuse(deps, input, await deps.moderation.content.ofUpload(upload))
}

/**
 * Records an upload that is not blocked: it is held against the takedowns until these are the ones of the transaction that records it.
 *
 * @param record - records it if the takedowns have this revision.
 * @throws {LadeError} `blocked`, `caller_blocked`, `storage_failed`, and what `record` throws.
 */
export async function recordUnblocked<Outcome extends { readonly outcome: string }>(
  deps: RefuseBlockedDeps,
  input: BlockedUploadInput,
  upload: CheckedUpload,
  record: (takedownRevision: number) => Promise<Outcome>,
): Promise<Exclude<Outcome, { readonly outcome: 'takedowns_changed' }>> {
  for (let check = 0; check < MAX_CHECKS; check += 1) {
    const { takedownRevision } = deps.moderation.content
    await refuseBlockedUpload(deps, input, upload)
    const outcome = await record(takedownRevision)
    if (outcome.outcome !== 'takedowns_changed') {
      return outcome as Exclude<Outcome, { readonly outcome: 'takedowns_changed' }>
    }
    await deps.moderation.refresh()
  }
  throw new LadeError('storage_failed', { retryAfterSeconds: 5 })
}

async function refuse(
  { records, now }: RefuseBlockedDeps,
  { principal, cid }: BlockedUploadInput,
  block: ContentBlock | undefined,
): Promise<void> {
  if (block !== undefined) throw await blockedErrorFor(records, block, { principal, key: cid.key, now: now() })
}
