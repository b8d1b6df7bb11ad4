import { collectPath, type PieceCommitment, pieceHeight, rawCapacityBytes } from '@lade/core/piece'
import { hexOf } from '@lade/node/hashing/hex'
import { SECTION_HEIGHT } from '@lade/node/hashing/native-piece-hasher'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { LevelCache } from './level-cache.ts'
import type { PieceSource } from './piece-source.ts'
import { SECTION_BYTES, SectionRoots } from './section-roots.ts'
import { sectionPath } from './tree-paths.ts'

const NODE_BYTES = 32
/** The height of the subtrees whose roots the records have: 127 MiB of raw bytes. */
export const SUBTREE_HEIGHT = 22
/** The raw bytes of such a subtree: 127 MiB. */
export const SUBTREE_BYTES = rawCapacityBytes(SUBTREE_HEIGHT)
const LEVEL_BYTES = NODE_BYTES * 2 ** (SUBTREE_HEIGHT - SECTION_HEIGHT)

/** Up to 127 MiB of a piece. */
export interface Subtree {
  readonly offsetBytes: number
  readonly rawSizeBytes: number
  readonly root: Uint8Array
  /** The height of `root`: that of a piece with no other subtree, else 22. */
  readonly rootHeight: number
}

/** What levels are made of and found in. */
export interface LevelDeps {
  readonly source: PieceSource
  readonly levels: LevelCache
}

/**
 * The roots of a piece's subtrees: those of the records where they lead to the piece, else cached ones, else made of all of its bytes.
 * What is made of wrong bytes leads to another piece.
 *
 * @param recorded - as `PieceDigest.subtreeRoots`, perhaps of nothing or damaged.
 * @returns empty for a piece of a single subtree.
 */
export async function subtreeRootsOf(
  { source, levels }: LevelDeps,
  { root, rawSizeBytes }: PieceCommitment,
  recorded: Uint8Array | undefined,
): Promise<Uint8Array> {
  if (rawSizeBytes <= SUBTREE_BYTES) return new Uint8Array()
  const level = { height: SUBTREE_HEIGHT, count: Math.ceil(rawSizeBytes / SUBTREE_BYTES) }
  const top = { root, rootHeight: pieceHeight(rawSizeBytes) }
  if (recorded !== undefined && leadsTo(top, recorded, level)) return recorded
  return findOrMake(levels, top, level, async () => {
    const roots: Uint8Array[] = []
    for (let offsetBytes = 0; offsetBytes < rawSizeBytes; offsetBytes += SUBTREE_BYTES) {
      const length = Math.min(SUBTREE_BYTES, rawSizeBytes - offsetBytes)
      const nodes = await sectionRootsOf(source, { offset: offsetBytes, length })
      const root = rootOf(nodes, SECTION_HEIGHT, SUBTREE_HEIGHT)
      await levels.set(hexOf(root), nodes)
      roots.push(root)
    }
    return new Uint8Array(Buffer.concat(roots))
  })
}

/** The level of a subtree that proofs are made from: cached, or made of all of its bytes; with one node for a single section. */
export async function sectionLevelOf({ source, levels }: LevelDeps, subtree: Subtree): Promise<Uint8Array> {
  const { offsetBytes: offset, rawSizeBytes: length } = subtree
  const level = { height: SECTION_HEIGHT, count: Math.ceil(length / SECTION_BYTES) }
  return findOrMake(levels, subtree, level, () => sectionRootsOf(source, { offset, length }))
}

/**
 * The name of the level under a root: the root over zeros up to height 22, so that the level of a file's last bytes is found whether they are
 * a piece of their own or the end of a bigger one.
 */
function levelName({ root, rootHeight }: Top): string {
  return hexOf(rootOf(root, rootHeight, Math.max(rootHeight, SUBTREE_HEIGHT)))
}

/**
 * Puts the levels of a whole piece, one for each 127 MiB; nothing for a piece of one section.
 *
 * @param sectionRoots - the nodes of height 12 that have bytes under them.
 */
export async function setLevels(levels: LevelCache, sectionRoots: Uint8Array): Promise<void> {
  for (let at = 0; at < sectionRoots.length; at += LEVEL_BYTES) {
    const nodes = sectionRoots.slice(at, at + LEVEL_BYTES)
    if (nodes.length > NODE_BYTES) await levels.set(hexOf(rootOf(nodes, SECTION_HEIGHT, SUBTREE_HEIGHT)), nodes)
  }
}

interface Level {
  readonly height: number
  /** Nodes that have raw bytes under them. */
  readonly count: number
}

type Top = Pick<Subtree, 'root' | 'rootHeight'>

/** Levels are made in turn, and looked for once more before: whoever waited for the same finds it made. */
async function findOrMake(
  levels: LevelCache,
  top: Top,
  level: Level,
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const name = levelName(top)
  const find = async (): Promise<Uint8Array | undefined> => {
    const nodes = await levels.get(name)
    return nodes !== undefined && leadsTo(top, nodes, level) ? nodes : undefined
  }
  const found = await find()
  if (found !== undefined) return found
  return levels.inTurn(async () => {
    const foundNow = await find()
    if (foundNow !== undefined) return foundNow
    const nodes = await make()
    if (leadsTo(top, nodes, level)) await levels.set(name, nodes)
    return nodes
  })
}

/** False also for another number of nodes: a bit that flipped in a level must not become part of a proof. */
function leadsTo({ root, rootHeight }: Top, nodes: Uint8Array, { height, count }: Level): boolean {
  return nodes.length === count * NODE_BYTES && Buffer.compare(rootOf(nodes, height, rootHeight), root) === 0
}

function rootOf(nodes: Uint8Array, height: number, rootHeight: number): Uint8Array {
  if (height === SECTION_HEIGHT && rootHeight <= SUBTREE_HEIGHT) return sectionPath(nodes, rootHeight, 0).root
  return collectPath(nodes, height, rootHeight, 0, pieceHashing.hashPairs).root
}

async function sectionRootsOf(source: PieceSource, range: { offset: number; length: number }): Promise<Uint8Array> {
  const sections = new SectionRoots()
  await source.each(range, (chunk) => sections.update(chunk))
  return sections.finish()
}
