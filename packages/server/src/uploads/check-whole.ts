import { type ContentId, canBeRoot, checkContent, type KnownDigests, type Verified } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { isCarMediaType } from '@lade/core/wire'
import { BodyBill } from '@lade/node/budget/body-bill'
import type { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import type { BlobStore } from '../blobs/blob-store.ts'
import { findParts } from './find-parts.ts'
import { foldParts } from './fold-parts.ts'
import { type ReadPartsDeps, type ReadPartsInput, readParts } from './read-parts.ts'
import { spending } from './spending.ts'

const NOTHING_KEPT = { pieceSubtreeRoots: new Uint8Array(), imports: [] }

export interface CheckDeps extends Omit<ReadPartsDeps, 'blobs'> {
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
  readonly budget: WorkBudget
  /** Has the parts of one composition of a principal read at a time. */
  readonly readings: Pick<FairQueue, 'run'>
}

export interface CheckInput extends Omit<ReadPartsInput, 'bill'> {
  /** The parts as the caller wrote them. */
  readonly names: readonly ContentId[]
}

/** A whole that has its id. */
export interface CheckedWhole {
  readonly digests: KnownDigests
  readonly verified: Verified
  /** What reading has cost, which the bytes have paid for; undefined where nothing was read. */
  readonly bill?: BodyBill
}

/**
 * Checks the whole against its id: by what was kept of its parts, and where that does not tell by reading them, one composition of a
 * principal at a time. What was read of a whole that is refused is charged to the budget, with nothing that pays for it.
 *
 * @throws {LadeError} `cid_mismatch`, `invalid_car`, `incomplete_dag`; `over_budget`, `storage_offline`, `too_many_uploads`,
 *   `storage_failed` and `missing_parts` where parts are read.
 */
export async function checkWhole(deps: CheckDeps, input: CheckInput): Promise<CheckedWhole> {
  const { blobs, readings } = deps
  const folded = await checkFolded(deps, input)
  if (folded !== undefined) return folded
  if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
  return readings.run(input.tier.principal, () => checkRead({ ...deps, blobs }, input), input.signal)
}

async function checkFolded(
  { records, budget }: CheckDeps,
  { tier, head, parts }: CheckInput,
): Promise<CheckedWhole | undefined> {
  const kept = await records.compositions.factsOf(parts.map(({ file }) => file.sequence))
  const facts = parts.map(({ file }) => ({ file, ...(kept.get(file.sequence) ?? NOTHING_KEPT) }))
  return spending({ budget, principal: tier.principal, work: 'compose' }, () => {
    const digests = foldParts(head.cid, facts)
    if (digests === undefined) return undefined
    try {
      return { digests, verified: checkContent(head.cid, digests) }
    } catch (error) {
      // What is no file under this root may be a CAR of it.
      const mayBeCar = isCarMediaType(head.contentType) && canBeRoot(head.cid)
      if (mayBeCar && LadeError.has(error, 'cid_mismatch')) return undefined
      throw error
    }
  })
}

async function checkRead(deps: CheckDeps & ReadPartsDeps, input: CheckInput): Promise<CheckedWhole> {
  const { budget, records } = deps
  const { tier, head, names } = input
  const { principal } = tier
  // What this principal had read before may have used up its budget while this one waited.
  budget.require(principal, 'compose')
  const bill = new BodyBill({ budget, principal, work: 'compose' })
  try {
    const digests = await readParts(deps, { ...input, bill })
    return { digests, verified: checkContent(head.cid, digests), bill }
  } catch (error) {
    bill.takeBack()
    // Bytes that went while they were read are a part that is missing, and no fault of the store.
    if (LadeError.has(error, 'storage_failed')) {
      await findParts(records, budget, { principal, cid: head.cid, parts: names, now: deps.now() })
    }
    throw error
  }
}
