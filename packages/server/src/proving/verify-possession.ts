import { challengeIndex, leafCount, type PieceCommitment, pieceHeight, verifyLeafProof } from '@lade/core/piece'
import type { PossessionProof } from './prover.ts'

/** What a prover was asked: `count` leaves of `piece`, chosen by `seed`. */
export interface PossessionQuestion {
  readonly piece: PieceCommitment
  /** 32 bytes. */
  readonly seed: Uint8Array
  readonly count: number
}

/**
 * Why an answer does not show that the piece is there; undefined when it does: as many proofs as were asked for, each about the leaf that
 * the seed chooses, each leading to the piece's root.
 */
export function possessionFlaw(question: PossessionQuestion, proofs: readonly PossessionProof[]): string | undefined {
  const { piece, count } = question
  if (proofs.length !== count) return `The prover returned ${proofs.length} proofs instead of ${count}.`
  const height = pieceHeight(piece.rawSizeBytes)
  for (const [proofIndex, { leafIndex, leaf, proof }] of proofs.entries()) {
    const expected = challengedLeafOf(question, proofIndex)
    if (leafIndex !== expected) return `Proof ${proofIndex} is about leaf ${leafIndex} instead of ${expected}.`
    if (!verifyLeafProof({ root: piece.root, height, leafIndex, leaf, proof })) {
      return `Proof ${proofIndex}, about leaf ${leafIndex}, does not lead to the root of the piece.`
    }
  }
  return undefined
}

/** The leaf of the piece that the seed chooses for one of the proofs. */
export function challengedLeafOf({ piece, seed }: Omit<PossessionQuestion, 'count'>, proofIndex: number): number {
  const challengeRange = BigInt(leafCount(piece.rawSizeBytes))
  return Number(challengeIndex({ seed, dataSetId: 0n, proofIndex, challengeRange }))
}
