import type { DagLayout } from '../dag-layout.ts'
import { varintBytes } from './varint.ts'

/** A CIDv1 of a sha2-256, with a codec of one byte. */
const CID_BYTES = 36
/** The header of a CAR with one root of this length. */
const HEADER_BYTES = 59

/** Where the section of a block begins in a CAR, and how long it is. */
export interface CarSection {
  /** The block, by its number in the DAG. */
  readonly node: number
  readonly offsetBytes: number
  /** Of the length, the CID and the block together. */
  readonly sizeBytes: number
}

/**
 * Where each block is in the CAR of a file's DAG, by arithmetic alone: the header with the root, then the blocks depth-first from it, each
 * as often as it is linked to. CIDs are of version 1.
 *
 * So the CAR of a DAG is always the same bytes, and any part of them can be made without the others. Methods take time by the number of
 * levels.
 *
 * @see https://ipld.io/specs/transport/car/carv1/
 *
 * @example
 * const car = new CarLayout(new DagLayout(IMPORT_PROFILES['unixfs-v1-2025'], 1_048_577))
 * car.sectionAt(59) // { node: 2, offsetBytes: 59, sizeBytes: 142 }, the root
 */
export class CarLayout {
  readonly dag: DagLayout
  readonly headerBytes = HEADER_BYTES
  readonly sizeBytes: number
  /** The bytes of a node's section and of all below it, by level: of any node but the last, and of the last one. */
  readonly #subtrees: readonly { readonly full: number; readonly last: number }[]

  constructor(dag: DagLayout) {
    this.dag = dag
    const subtrees: { full: number; last: number }[] = []
    for (const { firstNumber, count } of dag.levels) {
      const below = subtrees.at(-1) ?? { full: 0, last: 0 }
      const lastNode = dag.node(firstNumber + count - 1)
      const last = sectionBytes(lastNode.blockBytes) + Math.max(0, lastNode.childCount - 1) * below.full + below.last
      const first = dag.node(firstNumber)
      subtrees.push({ full: count === 1 ? last : sectionBytes(first.blockBytes) + first.childCount * below.full, last })
    }
    this.#subtrees = subtrees
    this.sizeBytes = HEADER_BYTES + (subtrees.at(-1)?.last ?? 0)
  }

  /** The section with the byte at `offset`. @throws {TypeError} for one that is in the header, or behind the end. */
  sectionAt(offset: number): CarSection {
    if (!(offset >= HEADER_BYTES && offset < this.sizeBytes)) throw new TypeError(`No section has the byte ${offset}`)
    let node = this.dag.nodeCount - 1
    let offsetBytes = HEADER_BYTES
    for (;;) {
      const { level, firstChild, childCount, blockBytes } = this.dag.node(node)
      const sizeBytes = sectionBytes(blockBytes)
      if (offset < offsetBytes + sizeBytes) return { node, offsetBytes, sizeBytes }
      const { full } = this.#subtrees[level - 1] ?? { full: 1 }
      const child = Math.min(childCount - 1, Math.floor((offset - offsetBytes - sizeBytes) / full))
      offsetBytes += sizeBytes + child * full
      node = firstChild + child
    }
  }
}

function sectionBytes(blockBytes: number): number {
  return varintBytes(CID_BYTES + blockBytes).length + CID_BYTES + blockBytes
}
