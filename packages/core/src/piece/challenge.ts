import { keccak_256 } from '@noble/hashes/sha3.js'

const SEED_BYTES = 32
const DATA_SET_ID_BITS = 256n
/** Seed, data set id as uint256, index of the proof as uint64; packed, big-endian. */
const PREIMAGE_BYTES = SEED_BYTES + 32 + 8

/** What a leaf is chosen by. */
export interface Challenge {
  /** The randomness of the chain at the challenge's epoch, 32 bytes. */
  readonly seed: Uint8Array
  readonly dataSetId: bigint
  /** Which of the proofs of one proving period, from 0; the contract asks for five. */
  readonly proofIndex: number
  /** The leaves of the data set that can be asked for: the sum of `leafCount` when the period began. */
  readonly challengeRange: bigint
}

/**
 * The leaf of a data set that a proof of possession has to be about: `keccak256(seed ‖ dataSetId ‖ proofIndex) mod range`.
 *
 * @returns 0 to `challengeRange - 1`, counted over all pieces in their order; see {@link findChallengedLeaf}.
 * @throws {TypeError} when a part is out of its range.
 * @see FilOzone/pdp, `PDPVerifier.sol`
 */
export function challengeIndex({ seed, dataSetId, proofIndex, challengeRange }: Challenge): bigint {
  if (seed.length !== SEED_BYTES) throw new TypeError(`a seed has 32 bytes, not ${seed.length}`)
  if (dataSetId < 0n || dataSetId >> DATA_SET_ID_BITS !== 0n) throw new TypeError(`${dataSetId} is not a data set id`)
  if (!Number.isSafeInteger(proofIndex) || proofIndex < 0) throw new TypeError(`${proofIndex} is not a proof's index`)
  if (challengeRange <= 0n) throw new TypeError('a data set without leaves cannot be challenged')
  const preimage = new Uint8Array(PREIMAGE_BYTES)
  const view = new DataView(preimage.buffer)
  preimage.set(seed)
  for (let word = 0; word < 4; word += 1) {
    view.setBigUint64(SEED_BYTES + 8 * word, BigInt.asUintN(64, dataSetId >> BigInt(64 * (3 - word))))
  }
  view.setBigUint64(PREIMAGE_BYTES - 8, BigInt(proofIndex))
  const hash = keccak_256(preimage)
  return hash.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) % challengeRange
}

/** A leaf of one piece of a data set. */
export interface ChallengedLeaf {
  /** The piece's place in the data set's list. */
  readonly pieceIndex: number
  /** The leaf's place in that piece. */
  readonly leafIndex: number
}

/**
 * Finds the piece that a leaf of a data set is in, as the contract does: pieces in order, each with its `leafCount`.
 *
 * @param leafCounts - of every piece, in the data set's order; 0 for one that was removed.
 * @param index - the leaf's place in the data set, from {@link challengeIndex}.
 * @returns undefined when there are not so many leaves.
 *
 * @example
 * findChallengedLeaf([33, 65], 78n) // { pieceIndex: 1, leafIndex: 45 }
 */
export function findChallengedLeaf(leafCounts: Iterable<number>, index: bigint): ChallengedLeaf | undefined {
  if (index < 0n) return undefined
  let left = index
  let pieceIndex = 0
  for (const leafCount of leafCounts) {
    if (left < BigInt(leafCount)) return { pieceIndex, leafIndex: Number(left) }
    left -= BigInt(leafCount)
    pieceIndex += 1
  }
  return undefined
}
