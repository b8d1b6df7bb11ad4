import type { ContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { type BlockRequest, type BlockResult, type ContentBlockEntry, MAX_CONTAINING_SHOWN } from '@lade/core/wire'
import { blockedNameOf } from '../records/blocked-name.ts'
import type { RecordStore, TakedownRecord } from '../records/record-store.ts'
import type { Moderation } from './moderation.ts'

export interface BlockContentDeps {
  readonly records: Pick<RecordStore, 'takedowns'>
  readonly moderation: Pick<Moderation, 'refresh'>
  readonly now: () => number
}

export interface BlockContentInput {
  readonly cid: ContentId
  readonly request: Pick<BlockRequest, 'reason' | 'delete'>
  /** The principal of the operator. */
  readonly by: string
}

/** What a takedown came to, and the digests whose bytes are to be deleted. */
export interface BlockedContentResult {
  readonly result: BlockResult
  readonly deleted: readonly string[]
}

/**
 * Takes content down. It holds in this process when this resolves, and in every other within a second.
 *
 * @throws {LadeError} `storage_failed`, `read_only`.
 */
export async function blockContent(deps: BlockContentDeps, input: BlockContentInput): Promise<BlockedContentResult> {
  const { cid, request, by } = input
  const { takedown, files, ended, deleted, containing } = await deps.records.takedowns.block({
    name: blockedNameOf(cid.key),
    cid: cid.text,
    reason: request.reason.trim(),
    by,
    now: deps.now(),
    deletes: request.delete === true,
  })
  await deps.moderation.refresh()
  const shown = containing.slice(0, MAX_CONTAINING_SHOWN)
  return { result: { ...blockEntryOf(takedown), files, ended, containing: shown }, deleted }
}

/**
 * Lifts a takedown. Files that were ended stay so.
 *
 * @throws {LadeError} `not_found`, `storage_failed`, `read_only`.
 */
export async function unblockContent(
  deps: BlockContentDeps,
  { cid, by }: Pick<BlockContentInput, 'cid' | 'by'>,
): Promise<ContentBlockEntry> {
  const lifted = await deps.records.takedowns.lift({ name: blockedNameOf(cid.key), by, now: deps.now() })
  if (lifted === undefined) {
    throw new LadeError('not_found', {
      reason: `No operator has blocked ${cid.text}. GET /api/admin/blocks lists the blocks. If it is on a denylist, remove it from that file.`,
    })
  }
  await deps.moderation.refresh()
  return blockEntryOf(lifted)
}

export function blockEntryOf({ cid, reason, blockedAt, blockedBy, isDeleted }: TakedownRecord): ContentBlockEntry {
  return { cid, reason, blockedAt: new Date(blockedAt).toISOString(), blockedBy, deleted: isDeleted }
}
