import { BytesTable } from './bytes-table.ts'

/** What is in a tree of UnixFS directories. */
export interface FolderContent {
  /** A file that is in it twice counts twice, and so for its bytes. At most 2^53 − 1, as the bytes. */
  readonly files: number
  readonly bytes: number
}

/** Where the blocks of a CAR lie in it. Plain data of a few typed arrays, each with a buffer of its own: cheap to clone. */
export interface CarIndex {
  /** What the root is: a UnixFS file, which has bytes to give, or anything else. */
  readonly root: 'unixfs-file' | 'other'
  /** How many bytes that file has, found to be so in every part of it; undefined for any other root. */
  readonly fileSizeBytes: number | undefined
  /** What is in the directory that the root is; undefined for any other root. */
  readonly folder: FolderContent | undefined
  /** How many different blocks are listed, identity blocks not among them. */
  readonly blockCount: number
  /** The multihashes of the blocks end to end, in the order in which the blocks first appear in the CAR. */
  readonly multihashes: Uint8Array<ArrayBuffer>
  /** Where the multihash of each block ends in `multihashes`. */
  readonly multihashEnds: Uint32Array<ArrayBuffer>
  /** Where the bytes of each block begin in the CAR. */
  readonly offsetBytes: Float64Array<ArrayBuffer>
  /** How many bytes each block has. */
  readonly sizeBytes: Uint32Array<ArrayBuffer>
}

/** Why some bytes are no CAR that can be taken. */
export type CarFault =
  /** A block is not what its CID says; `actual` is the CID of the same version, codec and hash that it has. */
  | { readonly fault: 'mismatch'; readonly expected: string; readonly actual: string }
  /** Blocks under the root are not there; the first ten of them, as they are linked to. */
  | { readonly fault: 'incomplete'; readonly missing: readonly string[] }
  /** It breaks the format, or a limit, or has something in it that cannot be checked; a sentence that says what. */
  | { readonly fault: 'malformed'; readonly reason: string }

/** One block of a CAR. */
export interface CarBlock {
  /** A view of the index. */
  readonly multihash: Uint8Array<ArrayBuffer>
  readonly offsetBytes: number
  readonly sizeBytes: number
}

/** A fault of the format, in one sentence. */
export function malformed(reason: string): CarFault {
  return { fault: 'malformed', reason }
}

/** Lists the blocks of an index, in the order in which they first appear in the CAR. */
export function* blocksOf(index: CarIndex): Generator<CarBlock, void, undefined> {
  let start = 0
  for (const [place, end] of index.multihashEnds.entries()) {
    yield {
      multihash: index.multihashes.subarray(start, end),
      offsetBytes: index.offsetBytes[place] ?? 0,
      sizeBytes: index.sizeBytes[place] ?? 0,
    }
    start = end
  }
}

/**
 * Prepares the search for blocks by their multihash, in time and memory that grow with the number of blocks.
 *
 * @returns a function that answers undefined for a block that is not in the CAR.
 *
 * @example
 * const find = blockFinder(index)
 * find(cid.multihash.bytes) // { multihash, offsetBytes: 97, sizeBytes: 93 }
 */
export function blockFinder(index: CarIndex): (multihash: Uint8Array) => CarBlock | undefined {
  const places = new BytesTable()
  for (const { multihash } of blocksOf(index)) places.numberOf(multihash)
  return (multihash) => {
    const place = places.find(multihash)
    if (place === undefined) return undefined
    const start = place === 0 ? 0 : (index.multihashEnds[place - 1] ?? 0)
    return {
      multihash: index.multihashes.subarray(start, index.multihashEnds[place]),
      offsetBytes: index.offsetBytes[place] ?? 0,
      sizeBytes: index.sizeBytes[place] ?? 0,
    }
  }
}
