import { collectPath, makeLeafProof, type PieceCommitment, pieceHeight, zeroCommitment } from '@lade/core/piece'
import { SECTION_HEIGHT } from '../hashing/native-piece-hasher.ts'
import { pieceHashing } from '../hashing/piece-hashing.ts'
import { LevelCache } from './level-cache.ts'
import {
  type LevelDeps,
  SUBTREE_BYTES,
  SUBTREE_HEIGHT,
  type Subtree,
  sectionLevelOf,
  subtreeRootsOf,
} from './piece-levels.ts'
import { type PieceBytes, PieceSource } from './piece-source.ts'
import type { PossessionProof, ProveOptions } from './prover.ts'
import { SECTION_BYTES } from './section-roots.ts'
import { challengedLeafOf } from './verify-possession.ts'

const NODE_BYTES = 32
const SUBTREE_LEAVES = 2 ** SUBTREE_HEIGHT
const { hashPairs } = pieceHashing

export interface ProveBytesOptions extends ProveOptions {
  /** Where levels of trees are found and put. @default none; they are made for each call */
  readonly levels?: LevelCache
}

/**
 * Proofs of possession by whoever has the bytes: what `Prover.prove` answers, for the leaves that the seed chooses.
 *
 * A proof reads the section of 260,096 bytes that its leaf is in, and hashes it; the nodes above come from the level that is cached. Where
 * none is, the 127 MiB around the leaf are read and hashed, once, and those about the same 127 MiB wait for each other. A cached level is
 * folded to its root before use. The bytes are not judged: proofs made of others than the piece's lead to another root, which
 * `possessionFlaw` finds.
 *
 * @throws {TypeError} when the bytes are of another size than the piece; what `read` throws; the reason of the signal.
 */
export async function proveBytes(
  bytes: PieceBytes,
  { piece, seed, count }: { readonly piece: PieceCommitment; readonly seed: Uint8Array; readonly count: number },
  { levels = new LevelCache(), ...options }: ProveBytesOptions = {},
): Promise<PossessionProof[]> {
  const { rawSizeBytes } = piece
  if (bytes.sizeBytes !== rawSizeBytes) throw new TypeError(`${bytes.sizeBytes} bytes are no piece of ${rawSizeBytes}`)
  const deps = { source: new PieceSource(bytes, options), levels }
  const subtreeRoots = await subtreeRootsOf(deps, piece, bytes.subtreeRoots)
  const known = new Map<number, Uint8Array>()
  const proofs: PossessionProof[] = []
  for (let proofIndex = 0; proofIndex < count; proofIndex += 1) {
    const leafIndex = challengedLeafOf({ piece, seed }, proofIndex)
    const index = Math.floor(leafIndex / SUBTREE_LEAVES)
    const subtree = subtreeOf(piece, subtreeRoots, index)
    const level = known.get(index) ?? (await levelOf(deps, subtree))
    known.set(index, level)
    const { leaf, proof } = await proveLeaf(deps, subtree, level, leafIndex % SUBTREE_LEAVES)
    proofs.push({ leafIndex, leaf, proof: [...proof, ...siblingsAbove(subtree, subtreeRoots, index, rawSizeBytes)] })
  }
  return proofs
}

function subtreeOf({ root, rawSizeBytes }: PieceCommitment, subtreeRoots: Uint8Array, index: number): Subtree {
  if (subtreeRoots.length === 0) return { offsetBytes: 0, rawSizeBytes, root, rootHeight: pieceHeight(rawSizeBytes) }
  const offsetBytes = index * SUBTREE_BYTES
  return {
    offsetBytes,
    rawSizeBytes: Math.min(SUBTREE_BYTES, rawSizeBytes - offsetBytes),
    root: subtreeRoots.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES),
    rootHeight: SUBTREE_HEIGHT,
  }
}

/** Empty where a proof reads everything there is anyhow. */
function levelOf(deps: LevelDeps, subtree: Subtree): Promise<Uint8Array> | Uint8Array {
  return subtree.rawSizeBytes <= SECTION_BYTES ? new Uint8Array() : sectionLevelOf(deps, subtree)
}

/** A proof up to the height that the subtree's bytes make it have. */
async function proveLeaf({ source }: LevelDeps, subtree: Subtree, nodes: Uint8Array, leafIndex: number) {
  const { offsetBytes, rawSizeBytes } = subtree
  const sectionStart = Math.floor(leafIndex / 2 ** SECTION_HEIGHT) * SECTION_BYTES
  const lengthBytes = Math.min(SECTION_BYTES, rawSizeBytes - sectionStart)
  const section = await source.read(offsetBytes + sectionStart, lengthBytes)
  const level = { height: Math.min(SECTION_HEIGHT, pieceHeight(rawSizeBytes)), nodes }
  return source.measured(() => makeLeafProof({ rawSizeBytes, leafIndex, readRaw: () => section, level, hashPairs }))
}

function siblingsAbove(
  subtree: Subtree,
  subtreeRoots: Uint8Array,
  index: number,
  rawSizeBytes: number,
): readonly Uint8Array[] {
  if (subtreeRoots.length === 0) return []
  // The bytes of the last subtree are on its left, and beside them are zeros only.
  const ownHeight = pieceHeight(subtree.rawSizeBytes)
  const zeros = Array.from({ length: SUBTREE_HEIGHT - ownHeight }, (_, above) => zeroCommitment(ownHeight + above))
  const { siblings } = collectPath(subtreeRoots, SUBTREE_HEIGHT, pieceHeight(rawSizeBytes), index, hashPairs)
  return [...zeros, ...siblings]
}
