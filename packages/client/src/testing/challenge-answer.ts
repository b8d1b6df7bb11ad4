import { createHash } from 'node:crypto'
import {
  Aggregate,
  challengeIndex,
  hashPiece,
  leafCount,
  type MerklePath,
  makeLeafProof,
  type PieceCommitment,
  pieceCidV2,
  pieceHeight,
  rawOffsetBytes,
} from '@lade/core/piece'
import type { ChallengeResult } from '@lade/core/wire'

const PROOFS = 5

/** The bytes of a piece and what they commit to. */
export interface HeldPiece extends PieceCommitment {
  readonly bytes: Uint8Array
}

export function heldPiece(bytes: Uint8Array): HeldPiece {
  return { bytes, rawSizeBytes: bytes.length, root: hashPiece(bytes).root }
}

/**
 * What an honest service answers to a challenge of a piece.
 *
 * @param claimedBytes - The size that the answer gives the piece. A liar claims fewer bytes in the same tree: its last leaves are never challenged.
 */
export async function answerFor(
  piece: HeldPiece,
  nonce: string,
  claimedBytes = piece.rawSizeBytes,
): Promise<ChallengeResult> {
  const { bytes, rawSizeBytes } = piece
  const seed = createHash('sha256').update(`lade possession\0${nonce}`).digest()
  const challengeRange = BigInt(leafCount(claimedBytes))
  const readRaw = (offset: number, length: number) => bytes.slice(offset, offset + length)
  const proofs: ChallengeResult['proofs'][number][] = []
  for (let proofIndex = 0; proofIndex < PROOFS; proofIndex += 1) {
    const leafIndex = Number(challengeIndex({ seed, dataSetId: 0n, proofIndex, challengeRange }))
    const { leaf, proof } = await makeLeafProof({ rawSizeBytes, leafIndex, readRaw })
    proofs.push({ leafIndex, leaf: hex(leaf), proof: proof.map(hex) })
  }
  const pieceCid = pieceCidV2({ root: piece.root, rawSizeBytes: claimedBytes })
  const height = pieceHeight(rawSizeBytes)
  return { cid: pieceCid, nonce, seed: hex(seed), prover: 'local', pieceCid, height, proofs, inclusion: null }
}

/** The same for one of several pieces that are held as an aggregate. */
export async function aggregateAnswerFor(
  pieces: readonly HeldPiece[],
  number: number,
  nonce: string,
  claimedBytes?: number,
): Promise<ChallengeResult> {
  const aggregate = new Aggregate(pieces)
  const bytes = new Uint8Array(aggregate.commitment.rawSizeBytes)
  for (const [at, { paddedOffsetBytes }] of aggregate.segments.entries()) {
    bytes.set(pieces[at]?.bytes ?? [], rawOffsetBytes(paddedOffsetBytes))
  }
  bytes.set(aggregate.writeRawIndex(), aggregate.rawIndexOffsetBytes)
  const { segment, entry } = aggregate.proveInclusion(number)
  const own = pieces[number]
  if (own === undefined) throw new TypeError(`there is no piece ${number}`)
  const inclusion = { pieceCid: pieceCidV2(own), segment: pathOf(segment), entry: pathOf(entry) }
  return { ...(await answerFor(heldPiece(bytes), nonce, claimedBytes)), cid: inclusion.pieceCid, inclusion }
}

function pathOf({ position, siblings }: MerklePath) {
  return { position, siblings: siblings.map(hex) }
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
