import { IDENTITY, READABLE_CODECS } from '../links.ts'
import { BlockGraph, MAX_LINKS } from './block-graph.ts'
import { CarFrames } from './car-frames.ts'
import { faultOfHeader } from './car-header.ts'
import { type CarFault, type CarIndex, malformed } from './car-index.ts'
import { fileUnder, missingUnder } from './check-graph.ts'
import type { BlockName } from './cid-at.ts'
import { folderUnder } from './folder-under.ts'
import { growingFloat64, growingUint32 } from './growing-array.ts'
import { type BlockHash, readSection } from './read-section.ts'

/** What a CAR is checked against. */
export interface CarIndexerOptions {
  /** The root whose DAG the CAR has to hold; its version, 1 unless given, only decides how it is written in a fault. */
  readonly root: { readonly version?: 0 | 1; readonly codec: number; readonly multihash: Uint8Array }
  /** The length of the CAR. @default known at its end */
  readonly sizeBytes?: number | undefined
  /** The function of a hash by its multicodec, to digests of its full length; undefined for what is not checked. */
  readonly hashes: (multihashCode: number) => BlockHash | undefined
  /** The most sections that are read. @default 262_144 */
  readonly maxBlocks?: number
  /** The most links that all blocks together may have. @default 1_048_576 */
  readonly maxLinks?: number
}

/** The most sections of a CAR that are read, unless it is said otherwise. */
export const MAX_BLOCKS = 262_144

/**
 * Reads a CAR of version 1 in one pass, verifies every block in it, and finds out where each one lies.
 *
 * An index is given only for a CAR in which each section, also one that is repeated or that the root does not lead to,
 * hashes to its own CID; in which every block that can be reached from the root is there, under the codec that it is
 * linked by; and, where the root is a UnixFS file, in which every part has the size that its parent announces. Blocks that
 * cannot be reached are listed like all others: they are what they say. The roots in the header do not matter. Identity
 * CIDs carry their own block: they are walked, never missing, and not listed.
 *
 * Links are read as the blocks pass, so that nothing is read twice. Memory is one block (2 MiB) at the most, and about
 * 100 bytes for each block and link; blocks have at most 2 MiB, 65,536 links and 262,144 maps, lists and byte strings, the header 64 KiB, and
 * all blocks together 2^20 links, of which 65,536 may be inline.
 *
 * @throws {TypeError} when `update` or `finish` is called after `finish`.
 * @see https://ipld.io/specs/transport/car/carv1/
 *
 * @example
 * const indexer = new CarIndexer({ root: { codec: cid.code, multihash: cid.multihash.bytes }, sizeBytes, hashes })
 * for await (const chunk of body) indexer.update(chunk)
 * indexer.finish() // { root: 'unixfs-file', fileSizeBytes: 1048577, blockCount: 3, … }
 */
export class CarIndexer {
  readonly #root: BlockName
  readonly #hashes: CarIndexerOptions['hashes']
  readonly #maxBlocks: number
  readonly #frames: CarFrames
  #fault: CarFault | undefined
  #isHeaderRead = false
  #isFinished = false
  #isFree = false
  #sections = 0
  readonly #graph: BlockGraph
  // By the order in which different blocks appear: their names, as links of the graph, and where they lie.
  readonly #blocks = growingUint32()
  readonly #offsetBytes = growingFloat64()

  constructor({ root, sizeBytes, hashes, maxBlocks = MAX_BLOCKS, maxLinks = MAX_LINKS }: CarIndexerOptions) {
    this.#root = { version: root.version ?? 1, codec: root.codec, multihash: new Uint8Array(root.multihash) }
    this.#hashes = hashes
    this.#maxBlocks = maxBlocks
    this.#graph = new BlockGraph({ isChecked: (hashCode) => hashes(hashCode) !== undefined, maxLinks })
    this.#frames = new CarFrames({ sizeBytes, takeFrame: (bytes, offsetBytes) => this.#takeFrame(bytes, offsetBytes) })
    if (!READABLE_CODECS.includes(root.codec)) {
      this.#fault = malformed(`The codec of the root, 0x${root.codec.toString(16)}, is not supported.`)
    }
  }

  /** About how much memory it takes now. */
  get heldBytes(): number {
    return this.#isFree ? 0 : this.#graph.heldBytes + this.#frames.heldBytes
  }

  /**
   * Takes the next bytes, of any number. They are read before this returns, so that their memory can be used again; it
   * may be shared with other threads. After a fault, bytes are ignored.
   */
  update(chunk: Uint8Array): void {
    if (this.#isFinished) throw new TypeError('This CarIndexer is finished.')
    if (this.#fault !== undefined) return
    this.#fault = this.#frames.update(chunk)
    // What was learned is of no use any more, and what follows may be long.
    if (this.#fault !== undefined) this.#free()
  }

  /** Ends the CAR, and says what it holds, or the first fault that was found. */
  finish(): CarIndex | CarFault {
    if (this.#isFinished) throw new TypeError('This CarIndexer is finished.')
    this.#isFinished = true
    const result = this.#fault ?? this.#frames.finish() ?? this.#index()
    this.#free()
    return result
  }

  /** Forgets a CAR that is not read to its end. */
  discard(): void {
    this.#isFinished = true
    this.#free()
  }

  #takeFrame(bytes: Uint8Array, offsetBytes: number): CarFault | undefined {
    if (this.#isHeaderRead) return this.#takeSection(bytes, offsetBytes)
    this.#isHeaderRead = true
    return faultOfHeader(bytes)
  }

  #takeSection(bytes: Uint8Array, offsetBytes: number): CarFault | undefined {
    this.#sections += 1
    if (this.#sections > this.#maxBlocks) return malformed(`The CAR has more than ${this.#maxBlocks} blocks.`)
    const block = readSection(bytes, { offsetBytes, hashes: this.#hashes })
    if ('fault' in block) return block
    const isListed = block.hashCode === IDENTITY || this.#graph.has(block.multihash)
    const fault = this.#graph.add(block, block.data)
    if (fault !== undefined || isListed) return fault
    this.#blocks.push(this.#graph.linkTo(block))
    this.#offsetBytes.push(offsetBytes + block.endBytes)
    return undefined
  }

  #index(): CarIndex | CarFault {
    const root = this.#graph.linkTo(this.#root)
    const missing = missingUnder(this.#graph, root)
    if (missing.length > 0) return { fault: 'incomplete', missing }
    const file = fileUnder(this.#graph, root)
    if (file !== undefined && 'fault' in file) return file
    return {
      root: file === undefined ? 'other' : 'unixfs-file',
      fileSizeBytes: file?.sizeBytes,
      folder: file === undefined ? folderUnder(this.#graph, root) : undefined,
      ...listBlocks(this.#graph, this.#blocks, this.#offsetBytes),
    }
  }

  #free(): void {
    if (this.#isFree) return
    this.#graph.free()
    this.#frames.free()
    this.#blocks.free()
    this.#offsetBytes.free()
    this.#isFree = true
  }
}

type Numbers = ReturnType<typeof growingUint32> | ReturnType<typeof growingFloat64>

/** The blocks in arrays that are just as long as they have to be, so that cloning an index copies nothing else. */
function listBlocks(graph: BlockGraph, blocks: Numbers, offsetBytes: Numbers) {
  const blockCount = blocks.length
  const multihashEnds = new Uint32Array(blockCount)
  for (let place = 0, end = 0; place < blockCount; place += 1) {
    end += graph.multihashOf(blocks.at(place)).length
    multihashEnds[place] = end
  }
  const multihashes = new Uint8Array(multihashEnds[blockCount - 1] ?? 0)
  for (let place = 0; place < blockCount; place += 1) {
    multihashes.set(graph.multihashOf(blocks.at(place)), multihashEnds[place - 1] ?? 0)
  }
  return {
    blockCount,
    multihashes,
    multihashEnds,
    offsetBytes: Float64Array.from({ length: blockCount }, (_, place) => offsetBytes.at(place)),
    sizeBytes: Uint32Array.from({ length: blockCount }, (_, place) => graph.sizeOf(blocks.at(place))),
  }
}
