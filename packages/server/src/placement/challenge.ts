import { pieceCidOf } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { challengeIndex, findChallengedLeaf, leafCount, pieceHeight } from '@lade/core/piece'
import type { FairQueue } from '@lade/node/budget/fair-queue'
import type { WorkBudget } from '@lade/node/budget/work-budget'
import { hex0xOf } from '@lade/node/hashing/hex'
import { sha256 } from '@lade/node/hashing/sha256'
import { possessionFlaw } from '../proving/verify-possession.ts'
import type { CopyRecord, DealRecord, FileRecord, RecordStore } from '../records/record-store.ts'
import { askProver } from './ask-prover.ts'
import { CHALLENGES } from './audit.ts'
import { isLive } from './choose-copies.ts'
import { commitmentOf } from './commitment-of.ts'
import { type InclusionJson, inclusionOf, inclusionToJson } from './inclusion.ts'
import { type PlacementContext, proverNamed } from './placement-context.ts'
import { type PossessionProofJson, proofJson } from './possession-json.ts'

const DOMAIN = 'lade possession\0'
const MAX_NONCE_CHARACTERS = 128
const RETRY_AFTER_SECONDS = 60
/** What finding the file and checking an answer costs, whoever proves. */
const CHECK_MS = 2
/** What it costs beside that to fold the members of an aggregate, to read it and to show that the file is in it. */
const AGGREGATE_MS = 10
/** Chooses among the pieces of a file; leaves of one piece are chosen with data set id 0. */
const CHOICE_OF_PIECE = 1n

/** A prover's answer to a challenge that held; bytes are hex with `0x`. */
export interface ProvenFile {
  /** What the nonce led to; see {@link seedOf}. */
  readonly seed: string
  readonly prover: string
  /** The piece that was challenged: the file's own, one of its slices, or the aggregate that it is in. */
  readonly pieceCid: string
  /** Of the piece's tree: so many siblings has each proof. */
  readonly height: number
  readonly proofs: readonly PossessionProofJson[]
  /** That the file is in the aggregate that was challenged; absent for files with pieces of their own. */
  readonly inclusion?: InclusionJson
}

export interface ProveFileDeps extends Pick<PlacementContext, 'provers' | 'schedule' | 'outages' | 'signal' | 'now'> {
  readonly records: Pick<RecordStore, 'placements'>
  readonly budget: Pick<WorkBudget, 'require' | 'spend'>
  /** The turns at one prover, so that one that is slow holds up nobody who asks another. */
  readonly queueOf: (prover: string) => Pick<FairQueue, 'run'>
}

/** Why a private file has no copy to prove or to count. */
export const PRIVATE_IS_NOT_PLACED = 'The file is private, and provers get only public files. Make it public first.'

/** What is asked, and for whom. */
export interface ProofRequest {
  /** The sequence of the file. */
  readonly file: number
  readonly visibility: FileRecord['visibility']
  /** 1 to 128 characters, chosen by whoever asks. */
  readonly nonce: string
  /** Who is charged for the processor time. */
  readonly principal: string
  /** Aborts when nobody waits for the answer any more; the turn is then somebody else's. */
  readonly signal: AbortSignal
}

/**
 * The seed of a challenge: sha2-256 over the 15 ASCII characters `lade possession`, a zero byte, and the nonce as UTF-8. Whoever chooses the
 * nonce knows that nobody could prepare the answer.
 */
export function seedOf(nonce: string): Uint8Array {
  return sha256.of(Buffer.from(`${DOMAIN}${nonce}`, 'utf8'))
}

/**
 * Has a prover prove, here and now, that it holds a file.
 *
 * The leaves are those of `challengeIndex` of core for the seed, data set id 0, the piece's own leaves as range, and proof 0 to 4. Of a
 * file of several pieces the one is challenged that holds leaf `challengeIndex(seed, data set id 1, proof 0)` of all of them in their
 * order. The provers whose copies are proved are asked one after the other, those that do not answer at the moment last, until an answer
 * holds; one whose answer does not is audited soon.
 *
 * @throws {LadeError} `not_placed` when no copy of that piece is proved, `prove_failed` when no answer held; `over_budget`.
 * @throws {TypeError} for another nonce; the reason of the signal.
 */
export async function proveFile(deps: ProveFileDeps, request: ProofRequest): Promise<ProvenFile> {
  const { file, visibility, nonce, principal } = request
  if (nonce.length < 1 || nonce.length > MAX_NONCE_CHARACTERS) throw new TypeError('a nonce has 1 to 128 characters')
  deps.budget.require(principal, 'challenge')
  const seed = seedOf(nonce)
  const [deal] = await deps.records.placements.deals([file])
  const piece = deal && challengedPiece(deal, seed)
  const copies = piece?.copies.filter((copy) => isLive(copy) && copy.provedAt !== null) ?? []
  if (piece === undefined || copies.length === 0) {
    throw new LadeError('not_placed', {
      dealStatus: deal?.status ?? 'staged',
      ...(visibility === 'private' && { reason: PRIVATE_IS_NOT_PLACED }),
    })
  }

  const processorMs = CHECK_MS + (piece.paddedOffsetBytes === null ? 0 : AGGREGATE_MS)
  deps.budget.spend({ principal, work: 'challenge', processorMs })

  const failures: string[] = []
  const isAway = ({ prover }: CopyRecord): number => (deps.outages.isHere(prover) ? 0 : 1)
  for (const copy of copies.toSorted((one, other) => isAway(one) - isAway(other))) {
    const answer = await proveCopy(deps, { piece, copy, seed }, request)
    if ('failure' in answer) {
      failures.push(`${copy.prover}: ${answer.failure}`)
      continue
    }
    const proven = { seed: hex0xOf(seed), prover: copy.prover, pieceCid: pieceCidOf(piece), ...answer }
    const inclusion = await inclusionJson(deps, piece)
    return inclusion === undefined ? proven : { ...proven, inclusion }
  }
  throw new LadeError('prove_failed', { reason: failures.join(' '), retryAfterSeconds: RETRY_AFTER_SECONDS })
}

type DealPiece = DealRecord['pieces'][number]

function challengedPiece({ pieces }: DealRecord, seed: Uint8Array): DealPiece | undefined {
  const leafCounts = pieces.map(({ sizeBytes }) => leafCount(sizeBytes))
  const challengeRange = BigInt(leafCounts.reduce((sum, leaves) => sum + leaves, 0))
  if (challengeRange === 0n) return undefined
  const index = challengeIndex({ seed, dataSetId: CHOICE_OF_PIECE, proofIndex: 0, challengeRange })
  return pieces[findChallengedLeaf(leafCounts, index)?.pieceIndex ?? 0]
}

async function proveCopy(
  deps: ProveFileDeps,
  { piece, copy, seed }: { piece: DealPiece; copy: CopyRecord; seed: Uint8Array },
  { principal, signal }: ProofRequest,
): Promise<Pick<ProvenFile, 'height' | 'proofs'> | { readonly failure: string }> {
  const prover = proverNamed(deps, copy.prover)
  if (prover === undefined) return { failure: 'The prover is no longer configured.' }
  if (prover.auditedBy !== 'proof') return { failure: 'The prover proves only onchain, not on request.' }
  const { sizeBytes } = piece
  const question = { pieceCid: pieceCidOf(piece), sizeBytes, seed, count: CHALLENGES }
  const onProcessorMs = (processorMs: number): void => deps.budget.spend({ principal, work: 'challenge', processorMs })
  const asking = { outages: deps.outages, signal: AbortSignal.any([deps.signal, signal]) }
  const ask = () =>
    askProver(asking, prover, deps.schedule.proofDeadlineMs, (ending) =>
      prover.prove(question, { signal: ending, onProcessorMs }),
    )
  const answer = await deps.queueOf(prover.name).run(principal, ask, asking.signal)
  if (answer.outcome === 'silent') return { failure: answer.reason }
  const flaw =
    answer.outcome === 'refused'
      ? answer.reason
      : possessionFlaw({ piece: commitmentOf(piece), seed, count: CHALLENGES }, answer.result)
  if (flaw !== undefined || answer.outcome === 'refused') {
    // Whoever asked is believed nothing: the next audit is due now, and finds out by itself.
    await deps.records.placements.retryLater({ copy: copy.id, nextAt: deps.now() })
    return { failure: flaw ?? 'The prover refused.' }
  }
  return { height: pieceHeight(sizeBytes), proofs: answer.result.map(proofJson) }
}

async function inclusionJson(deps: ProveFileDeps, piece: DealPiece): Promise<InclusionJson | undefined> {
  const { paddedOffsetBytes } = piece
  if (paddedOffsetBytes === null) return undefined
  const inclusion = await inclusionOf(deps.records, { piece, paddedOffsetBytes })
  return inclusion && inclusionToJson(inclusion)
}
