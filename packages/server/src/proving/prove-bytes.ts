import {
  collectPath,
  hashPieceLevel,
  makeLeafProof,
  type PieceCommitment,
  type PieceLevel,
  PROOF_LEVEL_HEIGHT,
  pieceHeight,
  type ReadRaw,
  rawCapacityBytes,
  zeroCommitment,
} from '@lade/core/piece'
import { pieceHashing } from '../hashing/piece-hashing.ts'
import type { PossessionProof } from './prover.ts'
import { challengedLeafOf } from './verify-possession.ts'

const NODE_BYTES = 32
/** The height of the subtrees whose roots are kept: 127 MiB of raw bytes. */
const SUBTREE_HEIGHT = 22
const SUBTREE_BYTES = rawCapacityBytes(SUBTREE_HEIGHT)
const SUBTREE_LEAVES = 2 ** SUBTREE_HEIGHT
const { hashPairs } = pieceHashing

/** The bytes of a piece that is here. */
export interface PieceBytes {
  readonly sizeBytes: number
  /** Exactly these bytes; about 1 MiB is asked for at once. */
  read(offsetBytes: number, lengthBytes: number): Promise<Uint8Array>
  /** As `PieceDigest.subtreeRoots`. Without them proofs about more than 127 MiB read all of the piece. */
  readonly subtreeRoots?: Uint8Array
}

/**
 * Proofs of possession by whoever has the bytes: what `Prover.prove` answers, for the leaves that the seed chooses.
 *
 * A proof reads the 127 MiB that its leaf is in, and several about the same 127 MiB read them once. The bytes are not judged: proofs
 * made of others than the piece's lead to another root, which `possessionFlaw` finds.
 *
 * @throws {TypeError} when the bytes are of another size than the piece; what `read` throws.
 */
export async function proveBytes(
  bytes: PieceBytes,
  { piece, seed, count }: { readonly piece: PieceCommitment; readonly seed: Uint8Array; readonly count: number },
): Promise<PossessionProof[]> {
  const { rawSizeBytes } = piece
  if (bytes.sizeBytes !== rawSizeBytes) throw new TypeError(`${bytes.sizeBytes} bytes are no piece of ${rawSizeBytes}`)
  const subtreeRoots = await subtreeRootsOf(bytes)
  const subtrees = new Map<number, Subtree>()
  const proofs: PossessionProof[] = []
  for (let proofIndex = 0; proofIndex < count; proofIndex += 1) {
    const leafIndex = challengedLeafOf({ piece, seed }, proofIndex)
    const index = Math.floor(leafIndex / SUBTREE_LEAVES)
    const subtree = subtrees.get(index) ?? (await readSubtree(bytes, index))
    subtrees.set(index, subtree)
    const { leaf, proof } = await makeLeafProof({ ...subtree, leafIndex: leafIndex % SUBTREE_LEAVES, hashPairs })
    proofs.push({ leafIndex, leaf, proof: [...proof, ...siblingsAbove(subtree, subtreeRoots, index, rawSizeBytes)] })
  }
  return proofs
}

/** Up to 127 MiB of a piece, as a tree that is as high as its bytes make it. */
interface Subtree {
  readonly rawSizeBytes: number
  readonly readRaw: ReadRaw
  readonly level: PieceLevel
}

async function readSubtree(bytes: PieceBytes, index: number): Promise<Subtree> {
  const offsetBytes = index * SUBTREE_BYTES
  const rawSizeBytes = Math.min(SUBTREE_BYTES, bytes.sizeBytes - offsetBytes)
  const readRaw: ReadRaw = (at, lengthBytes) => bytes.read(offsetBytes + at, lengthBytes)
  const height = Math.min(PROOF_LEVEL_HEIGHT, pieceHeight(rawSizeBytes))
  const level = await hashPieceLevel({ rawSizeBytes, readRaw, height, hashPairs })
  return { rawSizeBytes, readRaw, level }
}

/** Empty for a piece of a single subtree. */
async function subtreeRootsOf(bytes: PieceBytes): Promise<Uint8Array> {
  const { sizeBytes, subtreeRoots } = bytes
  if (sizeBytes <= SUBTREE_BYTES) return new Uint8Array()
  if (subtreeRoots?.length === Math.ceil(sizeBytes / SUBTREE_BYTES) * NODE_BYTES) return subtreeRoots
  const readRaw: ReadRaw = (offsetBytes, lengthBytes) => bytes.read(offsetBytes, lengthBytes)
  return (await hashPieceLevel({ rawSizeBytes: sizeBytes, readRaw, height: SUBTREE_HEIGHT, hashPairs })).nodes
}

function siblingsAbove(
  subtree: Subtree,
  subtreeRoots: Uint8Array,
  index: number,
  rawSizeBytes: number,
): readonly Uint8Array[] {
  if (subtreeRoots.length === 0) return []
  // The bytes of the last subtree lie on its left, and beside them are zeros only.
  const ownHeight = pieceHeight(subtree.rawSizeBytes)
  const zeros = Array.from({ length: SUBTREE_HEIGHT - ownHeight }, (_, above) => zeroCommitment(ownHeight + above))
  const { siblings } = collectPath(subtreeRoots, SUBTREE_HEIGHT, pieceHeight(rawSizeBytes), index, hashPairs)
  return [...zeros, ...siblings]
}
