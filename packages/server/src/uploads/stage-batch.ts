import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { parseContentId } from '@lade/core/content'
import type { NamedBlock } from '@lade/core/dag'
import { bytesText, LadeError } from '@lade/core/errors'
import { MAX_BATCH_FILE_BYTES } from '@lade/core/wire'
import { BodyBill } from '@lade/node/budget/body-bill'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { FileRecord } from '../records/record-store.ts'
import { type AdmitDeps, admitUpload, type SizedHead, type UploadHead } from './admit-upload.ts'
import { applyHead } from './apply-head.ts'
import type { StagedUpload } from './file-commit.ts'
import { stageAtOnce } from './stage-at-once.ts'
import { type StageDeps, stageUpload } from './stage-upload.ts'
import type { UploadTier } from './upload-tier.ts'

const RAW = 0x55
const SHA2_256 = 0x12
/** Files that are recorded together: they share the next commit. */
const FILES_AT_ONCE = 100
const CONTENT_TYPE = 'application/octet-stream'

export interface StageBatchDeps extends StageDeps, Omit<AdmitDeps, 'records'> {
  readonly budget: Pick<WorkBudget, 'require' | 'spend' | 'takeBack'>
}

export interface StageBatchInput {
  /** What each file by itself may do. */
  readonly tier: UploadTier
  /** How the files are kept. */
  readonly keeping: Pick<UploadHead, 'visibility' | 'termDays' | 'claimDigest'>
  /** Each a whole file. */
  readonly blocks: readonly NamedBlock[]
  /** Ends the batch between two files. */
  readonly signal: AbortSignal
}

/** What became of one file of a batch. */
export type BatchedFile = { readonly cid: string; readonly sizeBytes: number } & (
  | { readonly error: undefined; readonly file: FileRecord; readonly staged: StagedUpload }
  | { readonly error: LadeError }
)

/**
 * Stages the blocks of a CAR as files, each by itself: it is verified, admitted, charged and recorded as an upload of its own, or refused, and
 * then nothing of it is left or charged. One that is refused says nothing about the others.
 *
 * A file that the caller has already keeps its name and type. Small files come before large ones, which matters where the quota ends.
 *
 * @returns in the order of the blocks.
 * @throws what is no LadeError, and the reason of `signal`; files that were staged before stay.
 */
export async function stageBatch(deps: StageBatchDeps, input: StageBatchInput): Promise<readonly BatchedFile[]> {
  const { blocks, signal } = input
  const results: BatchedFile[] = []
  const isLarge = ({ data }: NamedBlock): boolean => data.length > deps.inlineBytes
  const take = async (places: Iterator<[number, NamedBlock]>): Promise<void> => {
    for (let next = places.next(); next.done !== true; next = places.next()) {
      const [place, block] = next.value
      signal.throwIfAborted()
      results[place] = await stageOne(deps, input, block)
      // Small files are hashed on this thread, and others have their turn in between.
      await turn()
    }
  }
  const all = [...blocks.entries()]
  const small = all.filter(([, block]) => !isLarge(block)).values()
  const ended = await Promise.allSettled(Array.from({ length: FILES_AT_ONCE }, () => take(small)))
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason
  // Each reserves its bytes, and a batch is one upload in flight.
  await take(all.filter(([, block]) => isLarge(block)).values())
  return results
}

async function stageOne(deps: StageBatchDeps, input: StageBatchInput, block: NamedBlock): Promise<BatchedFile> {
  const { tier, keeping } = input
  const { cid, data } = block
  try {
    requireFile(block)
    const id = parseContentId(cid, sha256Hex)
    const head = { cid: id, sizeBytes: data.length, contentType: CONTENT_TYPE, filename: null, ...keeping }
    const staged = await stage(deps, input, { head, data })
    const { contentType } = staged.file
    const file = staged.isNew
      ? staged.file
      : await applyHead(deps, { tier, head: { ...head, contentType }, file: staged.file })
    return { cid, sizeBytes: data.length, error: undefined, file, staged }
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return { cid, sizeBytes: data.length, error }
  }
}

async function stage(
  deps: StageBatchDeps,
  { tier, signal }: StageBatchInput,
  { head, data }: { readonly head: SizedHead; readonly data: Uint8Array },
): Promise<StagedUpload> {
  const { blobs, budget, inlineBytes, proverStaging } = deps
  const bill = new BodyBill({ budget, principal: tier.principal })
  bill.require()
  if (data.length === 0 || (data.length <= inlineBytes && !proverStaging.isNeeded(head))) {
    // The records keep the bytes, not the batch around them.
    return stageAtOnce({ ...deps, blobs }, { tier, head, bill }, () => Uint8Array.from(data))
  }
  const admission = await admitUpload(deps, { tier, head, isStorageBound: true })
  const body = Readable.from([data])
  const onProgress = (): void => {}
  return stageUpload(deps, { admission, body, bill, signal, onProgress, onReady: () => {} })
}

/** @throws {LadeError} `invalid_cid`, `too_large`. */
function requireFile({ version, codec, hashCode, data }: NamedBlock): void {
  if (version !== 1 || codec !== RAW || hashCode !== SHA2_256) {
    throw new LadeError('invalid_cid', {
      reason:
        'Each block of a batch is a whole file, so its CID must have version 1, the codec raw and the hash sha2-256.',
    })
  }
  if (data.length <= MAX_BATCH_FILE_BYTES) return
  throw new LadeError('too_large', {
    limit: MAX_BATCH_FILE_BYTES,
    size: data.length,
    reason: `A file in a batch can be at most ${bytesText(MAX_BATCH_FILE_BYTES)}. Upload it by itself.`,
  })
}
