import type { ImportProfile } from './import-profile.ts'
import { type ChildRun, interiorNodeBytes, type LinkCid, wrapLeaf } from './unixfs-node.ts'

/** One block of a file's DAG, by arithmetic alone. */
export interface DagNode {
  /** Its place: leaves from 0 in the order of the file, then each level above them, the root last. */
  readonly number: number
  /** 0 for leaves; the root's is the highest. */
  readonly level: number
  /** Its place within its level, from 0. */
  readonly index: number
  readonly kind: 'raw-leaf' | 'dag-pb-leaf' | 'interior'
  /** Where the bytes of the file that it covers begin. */
  readonly offsetBytes: number
  /** How many bytes of the file it covers. */
  readonly lengthBytes: number
  /** The number of its first child; the others follow it. 0 for a leaf, which has none. */
  readonly firstChild: number
  readonly childCount: number
  /** The length of the block itself. */
  readonly blockBytes: number
  /**
   * The length of the block and of all blocks below it, each as often as it is linked to: what a link to it has as `Tsize`.
   * Exact up to 2^53 − 1, which only the root of a file of some 9 PB can exceed.
   */
  readonly dagBytes: number
}

/** One level of a DAG: `count` nodes, numbered from `firstNumber`. */
export interface DagLevel {
  readonly firstNumber: number
  readonly count: number
}

/** What the place of a node says of its size. All nodes of a level are alike, but perhaps the last. */
interface NodeSize {
  readonly fileBytes: number
  readonly blockBytes: number
  readonly dagBytes: number
}

interface SizedLevel extends DagLevel {
  readonly full: NodeSize
  readonly last: NodeSize
}

/**
 * The shape of the balanced DAG that an importer makes of a file: how many blocks, and where and how long each is.
 *
 * It follows from the profile and the size of the file; no byte of the file is looked at. A file is cut into chunks, one a
 * leaf; every `linksPerNode` nodes of a level get a parent, until one node is left. A last group of one still gets a parent,
 * so all leaves are equally deep. A file of up to one chunk is its leaf.
 *
 * Construction takes time and memory by the number of levels, and so does every method.
 *
 * @see https://github.com/ipfs/specs/blob/main/src/ipips/ipip-0499.md
 *
 * @example
 * const layout = new DagLayout(IMPORT_PROFILES['unixfs-v1-2025'], 1_048_577)
 * layout.nodeCount // 3
 * layout.node(2) // { number: 2, level: 1, kind: 'interior', lengthBytes: 1_048_577, childCount: 2, blockBytes: 104, … }
 */
export class DagLayout {
  readonly profile: ImportProfile
  readonly sizeBytes: number
  readonly leafCount: number
  /** From the leaves to the root. */
  readonly levels: readonly DagLevel[]
  readonly nodeCount: number
  readonly #levels: readonly SizedLevel[]

  /**
   * @throws {TypeError} when `sizeBytes` is no byte count up to 2^53 − 1, the profile makes no tree, or a link would need a
   *   `Tsize` beyond 2^53 − 1, which takes chunks far smaller than those of the known profiles.
   */
  constructor(profile: ImportProfile, sizeBytes: number) {
    if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new TypeError(`${sizeBytes} is not a byte count`)
    const { chunkBytes, linksPerNode } = profile
    if (!Number.isSafeInteger(chunkBytes) || chunkBytes < 1) throw new TypeError(`A chunk has no ${chunkBytes} bytes`)
    if (!Number.isSafeInteger(linksPerNode) || linksPerNode < 2) {
      throw new TypeError(`Nodes of up to ${linksPerNode} links make no tree`)
    }
    this.profile = profile
    this.sizeBytes = sizeBytes

    const leaves = leafLevel(profile, sizeBytes)
    const levels = [leaves]
    let top = leaves
    while (top.count > 1) {
      top = levelAbove(profile, top, levels.length)
      levels.push(top)
    }
    this.leafCount = leaves.count
    this.nodeCount = top.firstNumber + 1
    this.levels = levels
    this.#levels = levels
  }

  /** @throws {TypeError} when there is no node of this number. */
  node(number: number): DagNode {
    const { level, index, place } = this.#find(number)
    const below = this.#levels[level - 1]
    const size = index === place.count - 1 ? place.last : place.full
    const leafKind = this.profile.leaves === 'raw' ? 'raw-leaf' : 'dag-pb-leaf'
    return {
      number,
      level,
      index,
      kind: below === undefined ? leafKind : 'interior',
      // Whichever node it is, all before it in its level are full ones.
      offsetBytes: index * place.full.fileBytes,
      lengthBytes: size.fileBytes,
      firstChild: below === undefined ? 0 : below.firstNumber + index * this.profile.linksPerNode,
      childCount: below === undefined ? 0 : childCountOf(this.profile, below, index),
      blockBytes: size.blockBytes,
      dagBytes: size.dagBytes,
    }
  }

  /**
   * The children of a node as {@link encodeInteriorNode} takes them; none for a leaf.
   *
   * @throws {TypeError} when there is no node of this number.
   */
  childRuns(number: number): readonly ChildRun[] {
    const { level, index, place } = this.#find(number)
    const below = this.#levels[level - 1]
    if (below === undefined) return []
    return runsOf(this.profile, below, level, index === place.count - 1 ? 'last' : 'full')
  }

  #find(number: number): { level: number; index: number; place: SizedLevel } {
    const level = this.#levels.findLastIndex(({ firstNumber }) => firstNumber <= number)
    const place = this.#levels[level]
    if (place === undefined || !Number.isSafeInteger(number) || number >= this.nodeCount) {
      throw new TypeError(`There is no node ${number} among ${this.nodeCount}`)
    }
    return { level, index: number - place.firstNumber, place }
  }
}

function leafLevel(profile: ImportProfile, sizeBytes: number): SizedLevel {
  const { chunkBytes } = profile
  const count = Math.max(1, Math.ceil(sizeBytes / chunkBytes))
  const last = leafSize(profile, sizeBytes - (count - 1) * chunkBytes)
  return { firstNumber: 0, count, full: leafSize(profile, chunkBytes), last }
}

function leafSize({ leaves }: ImportProfile, fileBytes: number): NodeSize {
  const { prefix, suffix } = wrapLeaf(fileBytes)
  const blockBytes = leaves === 'raw' ? fileBytes : prefix.length + fileBytes + suffix.length
  return { fileBytes, blockBytes, dagBytes: blockBytes }
}

function levelAbove(profile: ImportProfile, below: SizedLevel, level: number): SizedLevel {
  const count = Math.ceil(below.count / profile.linksPerNode)
  const last = interiorSize(runsOf(profile, below, level, 'last'))
  // A level of one node has no full ones, and sizes for them could exceed 2^53.
  const full = count === 1 ? last : interiorSize(runsOf(profile, below, level, 'full'))
  return { firstNumber: below.firstNumber + below.count, count, full, last }
}

function interiorSize(children: readonly ChildRun[]): NodeSize {
  const blockBytes = interiorNodeBytes(children)
  return {
    fileBytes: children.reduce((sum, run) => sum + run.count * run.fileBytes, 0),
    blockBytes,
    dagBytes: children.reduce((sum, run) => sum + run.count * run.dagBytes, blockBytes),
  }
}

/** The children of a node of `level`, which is the last one there or has its full number of full children. */
function runsOf(profile: ImportProfile, below: SizedLevel, level: number, which: 'full' | 'last'): readonly ChildRun[] {
  const cid = linkCidOf(profile, level)
  if (which === 'full') return [{ count: profile.linksPerNode, cid, ...below.full }]
  const count = childCountOf(profile, below, Math.ceil(below.count / profile.linksPerNode) - 1)
  const runs = [
    { count: count - 1, cid, ...below.full },
    { count: 1, cid, ...below.last },
  ]
  return runs.filter((run) => run.count > 0)
}

/** Importers that wrap their leaves write CIDv0 into every link, and those with raw leaves CIDv1. */
function linkCidOf({ leaves }: ImportProfile, level: number): LinkCid {
  if (leaves === 'dag-pb') return 'v0'
  return level === 1 ? 'v1-raw' : 'v1-dag-pb'
}

function childCountOf({ linksPerNode }: ImportProfile, below: DagLevel, index: number): number {
  return Math.min(linksPerNode, below.count - index * linksPerNode)
}
