import { collectPath, type PieceCommitment, pieceHeight } from '@lade/core/piece'
import { SECTION_HEIGHT } from '@lade/node/hashing/native-piece-hasher'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
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
import { leafPath, sectionPath } from './tree-paths.ts'
import { challengedLeafOf } from './verify-possession.ts'

const NODE_BYTES = 32
const SUBTREE_LEAVES = 2 ** SUBTREE_HEIGHT
const SECTION_LEAVES = 2 ** SECTION_HEIGHT

/** Options of `prove`, and a cache that spares hashing. */
export interface ProveBytesOptions extends ProveOptions {
  /** Where levels of trees are found and put. @default none; they are made for each call */
  readonly levels?: LevelCache
}

/**
 * Proofs of possession by whoever has the bytes: what `Prover.prove` answers, for the leaves that the seed chooses.
 *
 * A proof reads the section of 130,048 bytes that its leaf is in, and hashes it; the nodes above come from the level that is cached. Where
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
  const known = new Map<number, Uint8Array | undefined>()
  const proofs: PossessionProof[] = []
  for (let proofIndex = 0; proofIndex < count; proofIndex += 1) {
    const leafIndex = challengedLeafOf({ piece, seed }, proofIndex)
    const index = Math.floor(leafIndex / SUBTREE_LEAVES)
    const subtree = subtreeOf(piece, subtreeRoots, index)
    const level = known.get(index) ?? (await levelOf(deps, subtree))
    known.set(index, level)
    const { leaf, proof } = await proveLeaf(deps, subtree, level, leafIndex % SUBTREE_LEAVES)
    proofs.push({ leafIndex, leaf, proof: [...proof, ...siblingsAbove(piece, subtreeRoots, index)] })
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

/** Undefined where a proof reads everything there is anyhow. */
async function levelOf(deps: LevelDeps, subtree: Subtree): Promise<Uint8Array | undefined> {
  return subtree.rawSizeBytes <= SECTION_BYTES ? undefined : sectionLevelOf(deps, subtree)
}

/** A proof up to the root of the subtree. */
async function proveLeaf(
  { source }: LevelDeps,
  { offsetBytes, rawSizeBytes, rootHeight }: Subtree,
  level: Uint8Array | undefined,
  leafIndex: number,
): Promise<Pick<PossessionProof, 'leaf' | 'proof'>> {
  const section = Math.floor(leafIndex / SECTION_LEAVES)
  const startBytes = section * SECTION_BYTES
  const lengthBytes = Math.min(SECTION_BYTES, rawSizeBytes - startBytes)
  const bytes = await source.read(offsetBytes + startBytes, lengthBytes)
  return source.measured(() => {
    const height = Math.min(SECTION_HEIGHT, rootHeight)
    const { leaf, root, siblings } = leafPath(bytes, height, leafIndex % SECTION_LEAVES)
    if (height === rootHeight) return { leaf, proof: siblings }
    return { leaf, proof: [...siblings, ...sectionPath(level ?? root, rootHeight, section).siblings] }
  })
}

function siblingsAbove({ rawSizeBytes }: PieceCommitment, subtreeRoots: Uint8Array, index: number) {
  if (subtreeRoots.length === 0) return []
  return collectPath(subtreeRoots, SUBTREE_HEIGHT, pieceHeight(rawSizeBytes), index, pieceHashing.hashPairs).siblings
}
