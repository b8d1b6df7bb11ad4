import { pieceCidOf } from '@lade/core/content'
import { hexOf } from '@lade/node/hashing/hex'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { ByteRange } from '../blobs/blob-store.ts'
import type { Prover } from '../proving/prover.ts'
import { readingPiece } from '../proving/reading-piece.ts'
import { SECTION_BYTES } from '../proving/section-roots.ts'
import { possessionFlaw } from '../proving/verify-possession.ts'
import type { CopyOfPiece, DueCopy } from '../records/record-store.ts'
import { askProver, type ProverAnswer } from './ask-prover.ts'
import { commitmentOf } from './commitment-of.ts'
import { isIncomplete } from './is-incomplete.ts'
import { encodeProofs } from './kept-proof.ts'
import { pieceBytes } from './piece-bytes.ts'
import type { PlacementContext } from './placement-context.ts'
import { type PieceSample, samplePiece } from './sample-piece.ts'

/** As the contract asks for (`CHALLENGES_PER_PROOF`). */
export const CHALLENGES = 5
const SEED_BYTES = 32
/** What is read back of a piece whose proof held, to see whether it can be retrieved. */
const RETRIEVED_BYTES = 4096
/** What is read back each time where that is all the proof there is. */
const COMPARED_BYTES = 65_536
const JITTER = 0.1

/** What an audit found. `unanswered` may be the network; the others are the prover's own answer. */
type Finding =
  | { readonly kind: 'held' | 'flawed'; readonly cause: string | null; readonly proof: Uint8Array | null }
  | { readonly kind: 'unanswered'; readonly cause: string }
  | { readonly kind: 'not-comparable' }

/**
 * Asks the prover of a stored copy to prove that it has it, checks the proof, and records both.
 *
 * The seed is fresh, so that nothing can be prepared, and an answer after the deadline is none, so that nothing can be fetched first. Of
 * a copy at another service some bytes are retrieved, too, as anybody would, and compared with ours where they are still here. Provers that
 * prove to their own chain only are audited by such comparisons alone. A small piece that this process has itself is hashed whole.
 *
 * An answer that does not hold ends the copy at once. Without an answer the audit is repeated, and the last repetition ends the copy; until
 * one is answered, the copy counts as not proved.
 *
 * A failure is no finding when the owners of the files ended or changed what is needed of the piece meanwhile. Nothing is recorded then.
 */
export async function auditCopy(context: PlacementContext, prover: Prover, copyOfPiece: DueCopy): Promise<void> {
  const { records, now, schedule, counters, log } = context
  const { copy, piece, revision } = copyOfPiece
  const seed = context.randomBytes(SEED_BYTES)
  const finding = await findingOf(context, prover, { copyOfPiece, seed })
  if (finding.kind === 'not-comparable') {
    log.warn({ prover: prover.name, piece: pieceCidOf(piece) }, 'a piece cannot be audited: its bytes are missing')
    return records.placements.retryLater({ copy: copy.id, nextAt: now() + schedule.maxRetryMs })
  }

  const passed = finding.kind === 'held'
  // This process holds an aggregate as long as it has the bytes of all its files. Without the copy, the aggregate is made again of the others.
  if (!passed && prover.isLocal && (await isIncomplete(context, piece))) {
    const released = { piece: piece.id, add: [], release: [copy.id], nextAt: now(), failure: null }
    return records.placements.reconcile({ ...released, now: now() })
  }
  // Of a local prover the same storage would be read twice more, and compared with itself: its proof is made of what was retrieved.
  const isShown = prover.auditedBy !== 'proof' || prover.isLocal
  const isRetrievable = passed && (isShown || (await isRetrieved(context, prover, copyOfPiece)))
  const retryMs = finding.kind === 'unanswered' ? schedule.auditRetryMs[copy.attempts] : undefined
  const waitMs = passed ? intervalMs(context) : (retryMs ?? 0)
  const isFinal = !passed && retryMs === undefined
  const isRecorded = await records.placements.audited({
    audit: {
      copy: copy.id,
      at: now(),
      seed: hexOf(seed),
      passed,
      cause: finding.cause,
      proof: 'proof' in finding ? finding.proof : null,
    },
    nextAt: now() + waitMs,
    isFinal,
    isRetrievable,
    revision,
  })
  if (!isRecorded) return
  counters.audited(prover.name, passed)
  if (isFinal) counters.copiesFailed += 1
  if (!passed)
    log.warn({ prover: prover.name, piece: pieceCidOf(piece), isFinal, cause: finding.cause }, 'audit failed')
}

/** What a prover that was asked in vain is found to be. */
function withoutAnswer({ outcome, reason }: Exclude<ProverAnswer<unknown>, { outcome: 'answered' }>): Finding {
  return outcome === 'silent' ? { kind: 'unanswered', cause: reason } : { kind: 'flawed', cause: reason, proof: null }
}

interface AuditedCopy {
  readonly copyOfPiece: CopyOfPiece
  readonly seed: Uint8Array
}

function findingOf(context: PlacementContext, prover: Prover, audited: AuditedCopy): Promise<Finding> {
  if (isProvedAgain(prover, audited.copyOfPiece.piece)) return hashWhole(context, prover, audited.copyOfPiece)
  if (prover.auditedBy === 'proof') return findProof(context, prover, audited)
  return compareBytes(context, prover, audited.copyOfPiece)
}

async function findProof(
  context: PlacementContext,
  prover: Prover,
  { copyOfPiece: { piece }, seed }: AuditedCopy,
): Promise<Finding> {
  const pieceCid = pieceCidOf(piece)
  const { sizeBytes } = piece
  const question = { pieceCid, sizeBytes, seed, count: CHALLENGES }
  const answer = await askProver(context, prover, context.schedule.proofDeadlineMs, (signal) =>
    prover.prove(question, { signal }),
  )
  if (answer.outcome !== 'answered') return withoutAnswer(answer)
  const proofs = answer.result
  const flaw = possessionFlaw({ piece: commitmentOf(piece), seed, count: CHALLENGES }, proofs)
  if (flaw !== undefined) return { kind: 'flawed', cause: flaw, proof: encodeProofs(proofs) }
  return { kind: 'held', cause: null, proof: encodeProofs(proofs) }
}

/** Reads all of a small piece and hashes it: this shows more than five proofs, and is less work. The proofs are made when somebody asks for them. */
async function hashWhole(context: PlacementContext, prover: Prover, { piece }: CopyOfPiece): Promise<Finding> {
  // The local prover would look up by its CID the piece that is known here.
  const readWhole = () => readingPiece(() => pieceBytes(context, piece).read(0, piece.sizeBytes))
  const answer = await askProver(context, prover, context.schedule.proofDeadlineMs, readWhole)
  if (answer.outcome !== 'answered') return withoutAnswer(answer)
  const isPiece = hexOf(pieceHashing.whole(answer.result).root) === piece.pieceRoot
  return isPiece
    ? { kind: 'held', cause: null, proof: null }
    : { kind: 'flawed', cause: 'The bytes that are stored do not hash to the root of the piece.', proof: null }
}

/**
 * True for a proof that this process made of its own bytes and that costs less to make again than to keep: a proof that holds follows from
 * the bytes and the seed.
 */
export function isProvedAgain({ isLocal }: Pick<Prover, 'isLocal'>, { sizeBytes }: { sizeBytes: number }): boolean {
  return isLocal && sizeBytes <= SECTION_BYTES
}

/** Reads random parts back from a prover that answers no challenges. */
async function compareBytes(context: PlacementContext, prover: Prover, { piece }: CopyOfPiece): Promise<Finding> {
  const pieceCid = pieceCidOf(piece)
  for (let read = 0; read < CHALLENGES; read += 1) {
    const sample = await samplePiece(context, piece, COMPARED_BYTES)
    if (sample === undefined) return { kind: 'not-comparable' }
    const answer = await retrieve(context, prover, pieceCid, sample.range)
    if (answer.outcome !== 'answered') return withoutAnswer(answer)
    if (!isSame(answer.result, sample)) {
      const cause = `The ${sample.range.length} bytes at offset ${sample.range.offset} differ from the piece.`
      return { kind: 'flawed', cause, proof: null }
    }
  }
  return { kind: 'held', cause: null, proof: null }
}

/** Whether some bytes can be had and are right; what else is wrong is for the next audit to find. */
async function isRetrieved(context: PlacementContext, prover: Prover, { piece }: CopyOfPiece): Promise<boolean> {
  const sample = await samplePiece(context, piece, RETRIEVED_BYTES)
  if (sample === undefined) return false
  const answer = await retrieve(context, prover, pieceCidOf(piece), sample.range)
  return answer.outcome === 'answered' && isSame(answer.result, sample)
}

function retrieve(context: PlacementContext, prover: Prover, pieceCid: string, range: ByteRange) {
  return askProver(context, prover, context.schedule.proofDeadlineMs, () => prover.read({ pieceCid, ...range }))
}

function isSame(bytes: Uint8Array, sample: PieceSample): boolean {
  return Buffer.compare(bytes, sample.bytes) === 0
}

/** Spread a little, so that copies that were stored together are not audited together for ever. */
function intervalMs({ auditSeconds, randomBytes }: PlacementContext): number {
  const [low = 0, high = 0] = randomBytes(2)
  const spread = (256 * high + low) / 65_535
  return Math.round(1000 * auditSeconds * (1 - JITTER + 2 * JITTER * spread))
}
