import { challengeIndex, findChallengedLeaf, type LeafProof, leafCount } from '@lade/core/piece'
import type { HeldPiece, PieceStore } from '../pieces/piece-store.ts'
import { proveLeaf, type Unprovable } from './prove-leaf.ts'

/** A piece of a data set. */
export interface ChallengedPiece {
  readonly pieceId: number
  readonly piece: HeldPiece
}

/** What a proof of possession of a data set has to answer. */
export interface PossessionChallenge {
  /** The randomness of the challenge, 32 bytes. */
  readonly seed: Uint8Array
  readonly dataSetId: bigint
  /** In the data set's order. Removed pieces are left out: they have no leaves to be asked for. */
  readonly pieces: readonly ChallengedPiece[]
  /** How many leaves are asked for; the contract asks for five. */
  readonly count: number
}

/** The answer to one challenge. */
export interface PossessionProof extends LeafProof, ChallengedPiece {
  /** The leaf's place among those of all pieces. */
  readonly challengeIndex: bigint
  /** The leaf's place in its piece. */
  readonly leafIndex: number
}

/** What all challenges are about, and the answer to each in their order. */
export interface Possession {
  /** The leaves that could be asked for. */
  readonly challengeRange: bigint
  readonly proofs: readonly PossessionProof[]
}

/** A challenged piece that cannot be proven. */
export interface Failure {
  readonly pieceCid: string
  readonly because: Unprovable
}

/**
 * Answers the challenges that a seed makes for a data set, as `PDPVerifier` derives and checks them.
 *
 * @throws {TypeError} when there are no leaves at all.
 * @see FilOzone/pdp, `PDPVerifier.sol`
 */
export async function provePossession(
  store: PieceStore,
  challenge: PossessionChallenge,
): Promise<Possession | Failure> {
  const { seed, dataSetId, pieces, count } = challenge
  const leafCounts = pieces.map(({ piece }) => leafCount(piece.rawSizeBytes))
  const challengeRange = leafCounts.reduce((sum, leaves) => sum + BigInt(leaves), 0n)
  const proofs: PossessionProof[] = []
  for (let proofIndex = 0; proofIndex < count; proofIndex += 1) {
    const index = challengeIndex({ seed, dataSetId, proofIndex, challengeRange })
    const found = findChallengedLeaf(leafCounts, index)
    const challenged = found && pieces[found.pieceIndex]
    if (found === undefined || challenged === undefined) throw new TypeError('a leaf below the range is in no piece')
    const { leafIndex } = found
    const made = await proveLeaf(store, challenged.piece, leafIndex)
    if (typeof made === 'string') return { pieceCid: challenged.piece.pieceCid, because: made }
    proofs.push({ ...made, ...challenged, challengeIndex: index, leafIndex })
  }
  return { challengeRange, proofs }
}
