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
import { stageTogether, type TogetherUpload } from './stage-together.ts'
import { type StageDeps, stageUpload } from './stage-upload.ts'
import type { UploadTier } from './upload-tier.ts'

const RAW = 0x55
const SHA2_256 = 0x12
/** Small files that are recorded together: so many files, and so many bytes, at most. They are hashed on this thread without a break. */
const FILES_AT_ONCE = 100
const BYTES_AT_ONCE = 512 * 1024
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
  const all = [...blocks.entries()]
  const isSmall = ({ data }: NamedBlock): boolean => data.length <= deps.inlineBytes
  for (const some of groupsOf(all.filter(([, block]) => isSmall(block)))) {
    signal.throwIfAborted()
    const staged = await stageSmall(deps, input, some)
    for (const [index, [place, block]] of some.entries()) {
      results[place] = staged[index] ?? (await stageOne(deps, input, block))
    }
    await turn()
  }
  // Each reserves its bytes, and a batch is one upload in flight.
  for (const [place, block] of all.filter(([, each]) => !isSmall(each))) {
    signal.throwIfAborted()
    results[place] = await stageOne(deps, input, block)
  }
  return results
}

type Place = readonly [place: number, block: NamedBlock]

function groupsOf(places: readonly Place[]): readonly Place[][] {
  const groups: Place[][] = []
  let bytes = 0
  for (const place of places) {
    const sizeBytes = place[1].data.length
    const last = groups.at(-1)
    if (last === undefined || last.length === FILES_AT_ONCE || bytes + sizeBytes > BYTES_AT_ONCE) {
      groups.push([place])
      bytes = sizeBytes
    } else {
      last.push(place)
      bytes += sizeBytes
    }
  }
  return groups
}

/** Stages small files together; undefined for those that are to be staged by themselves. */
async function stageSmall(
  deps: StageBatchDeps,
  input: StageBatchInput,
  places: readonly Place[],
): Promise<readonly (BatchedFile | undefined)[]> {
  const { tier } = input
  const uploads: (TogetherUpload & { readonly place: number })[] = []
  const results: (BatchedFile | undefined)[] = []
  for (const [place, [, block]] of places.entries()) {
    const { cid, data } = block
    try {
      const head = headOf(block, input)
      const bill = billFor(deps, tier)
      // The records keep the bytes, not the batch around them.
      if (isInline(deps, head)) uploads.push({ place, head, bill, inline: data.slice() })
    } catch (error) {
      if (!LadeError.is(error)) throw error
      results[place] = { cid, sizeBytes: data.length, error }
    }
  }
  const staged = await stageTogether(deps, { tier, uploads })
  for (const [index, { place, head }] of uploads.entries()) {
    const outcome = staged[index]
    if (outcome !== undefined) results[place] = await batchedOf(deps, { tier, head }, outcome)
  }
  return results
}

async function stageOne(deps: StageBatchDeps, input: StageBatchInput, block: NamedBlock): Promise<BatchedFile> {
  const { cid, data } = block
  try {
    const head = headOf(block, input)
    return await batchedOf(deps, { ...input, head }, await stage(deps, input, { head, data }))
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return { cid, sizeBytes: data.length, error }
  }
}

/** @throws {LadeError} as `requireFile`. */
function headOf(block: NamedBlock, { keeping }: StageBatchInput): SizedHead {
  requireFile(block)
  const { cid, data } = block
  return {
    cid: parseContentId(cid, sha256Hex),
    sizeBytes: data.length,
    contentType: CONTENT_TYPE,
    filename: null,
    ...keeping,
  }
}

/** What became of a file. One that was there already is kept as is asked for now, with the type that it had. */
async function batchedOf(
  deps: StageBatchDeps,
  { tier, head }: { readonly tier: UploadTier; readonly head: SizedHead },
  staged: StagedUpload | LadeError,
): Promise<BatchedFile> {
  const { sizeBytes } = head
  const cid = head.cid.text
  if (LadeError.is(staged)) return { cid, sizeBytes, error: staged }
  if (staged.isNew) return { cid, sizeBytes, error: undefined, file: staged.file, staged }
  try {
    const { contentType } = staged.file
    const file = await applyHead(deps, { tier, head: { ...head, contentType }, file: staged.file })
    return { cid, sizeBytes, error: undefined, file, staged }
  } catch (error) {
    if (!LadeError.is(error)) throw error
    return { cid, sizeBytes, error }
  }
}

async function stage(
  deps: StageBatchDeps,
  { tier, signal }: StageBatchInput,
  { head, data }: { readonly head: SizedHead; readonly data: Uint8Array },
): Promise<StagedUpload> {
  const bill = billFor(deps, tier)
  if (isInline(deps, head)) return stageAtOnce(deps, { tier, head, bill }, () => data.slice())
  const admission = await admitUpload(deps, { tier, head, isStorageBound: true })
  const body = Readable.from([data])
  const onProgress = (): void => {}
  return stageUpload(deps, { admission, body, bill, signal, onProgress, onReady: () => {} })
}

/** True for a file whose bytes the records keep, and that no prover is asked about before it is answered. */
function isInline({ inlineBytes, proverStaging }: StageBatchDeps, head: SizedHead): boolean {
  return head.sizeBytes === 0 || (head.sizeBytes <= inlineBytes && !proverStaging.isNeeded(head))
}

/** @throws {LadeError} `over_budget`. */
function billFor({ budget }: StageBatchDeps, { principal }: UploadTier): BodyBill {
  const bill = new BodyBill({ budget, principal })
  bill.require()
  return bill
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
