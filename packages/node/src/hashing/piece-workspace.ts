import { type HashPairs, zeroCommitment } from '@lade/core/piece'
import { createFr32Kernel, READ_AHEAD_BYTES } from './fr32-wasm.ts'

export const QUAD_RAW_BYTES = 127
export const LEAVES_PER_QUAD = 4
export const NODE_BYTES = 32
/** What is padded and hashed at once: 128 KiB of leaves, so that a call into the native hash costs nothing beside its work. */
const BATCH_QUADS = 1024
const BATCH_RAW_BYTES = BATCH_QUADS * QUAD_RAW_BYTES

const BATCH_LEAVES = BATCH_QUADS * LEAVES_PER_QUAD
/** Zero commitments are kept up to the height of a subtree. */
const ZEROS = 22

const ZEROS_AT = 0
const RAW_AT = ZEROS_AT + ZEROS * NODE_BYTES
/** Two levels of a tree, written in turn. Around the nodes of a batch there is room for one more before and behind. */
const EVEN_AT = RAW_AT + BATCH_RAW_BYTES + 2 * READ_AHEAD_BYTES
const ODD_AT = EVEN_AT + (BATCH_LEAVES + 2) * NODE_BYTES
const END = ODD_AT + (BATCH_LEAVES / 2 + 2) * NODE_BYTES

/**
 * Memory in which pieces are padded and folded, one batch at a time; about 330 KiB, whatever is hashed.
 *
 * Hashers share it, since nothing in it outlives a call. Nodes are named by where they lie in `memory`.
 */
export class PieceWorkspace {
  /** Raw bytes of a batch are put here, before `pad`. */
  readonly raw: Buffer<ArrayBuffer>
  readonly memory: Uint8Array<ArrayBuffer>
  readonly #kernel = createFr32Kernel(END)
  readonly #hashPairs: HashPairs

  constructor(hashPairs: HashPairs) {
    this.#hashPairs = hashPairs
    this.memory = this.#kernel.memory
    this.raw = Buffer.from(this.memory.buffer, RAW_AT, BATCH_RAW_BYTES)
    for (let height = 0; height < ZEROS; height += 1) {
      this.memory.set(zeroCommitment(height), ZEROS_AT + height * NODE_BYTES)
    }
  }

  /** Where the nodes of a height are written; one more fits before them, and one behind. */
  placeOf(height: number): number {
    return (height % 2 === 0 ? EVEN_AT : ODD_AT) + NODE_BYTES
  }

  /** Makes leaves of the first so many bytes of `raw`, which are whole quads, at the place of height 0. */
  pad(rawBytes: number): void {
    if (rawBytes > 0) this.#kernel.pad(RAW_AT, RAW_AT + rawBytes, this.placeOf(0))
  }

  /** Hashes `count` nodes, an even number above 0, to their parents at the place of the height above. */
  hashLevel(nodesAt: number, count: number, height: number): void {
    const { buffer } = this.memory
    const parentsAt = this.placeOf(height + 1)
    const parentsBytes = (count / 2) * NODE_BYTES
    this.#hashPairs(
      new Uint8Array(buffer, nodesAt, count * NODE_BYTES),
      new Uint8Array(buffer, parentsAt, parentsBytes),
    )
    this.#kernel.truncate(parentsAt, parentsAt + parentsBytes)
  }

  /** Writes the root of a tree of zeros. */
  putZero(height: number, at: number): void {
    const from = ZEROS_AT + height * NODE_BYTES
    this.memory.copyWithin(at, from, from + NODE_BYTES)
  }
}
