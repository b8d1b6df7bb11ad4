import { varintBytes } from './car/varint.ts'
import {
  LINK_HASH,
  LINK_NAME,
  LINK_TSIZE,
  NODE_DATA,
  NODE_LINKS,
  UNIXFS_BLOCKSIZES,
  UNIXFS_DATA,
  UNIXFS_FILESIZE,
  UNIXFS_TYPE,
} from './unixfs-fields.ts'

/** What stands around a chunk in a leaf that is a dag-pb node: the block is the prefix, the chunk, and the suffix. */
export interface LeafWrapping {
  readonly prefix: Uint8Array
  readonly suffix: Uint8Array
}

/**
 * How a link names its child.
 *
 * A CIDv0 is the bare multihash, and always means dag-pb. The same child linked to by CIDv1 gives its parent other bytes,
 * and so another digest.
 */
export type LinkCid = 'v0' | 'v1-raw' | 'v1-dag-pb'

/** Children that stand side by side under one interior node and are alike in everything but their digests. */
export interface ChildRun {
  readonly count: number
  readonly cid: LinkCid
  /** The bytes of the file below one such child: its entry in `blocksizes`. */
  readonly fileBytes: number
  /** The bytes of one such child's block and of all blocks below it: the `Tsize` of its link. */
  readonly dagBytes: number
}

/** Bytes of a sha2-256 digest. */
export const DIGEST_BYTES = 32

/** A CID up to its digest: version and codec, where it has them, then sha2-256 (0x12) and 32 bytes. */
const CID_HEAD: Readonly<Record<LinkCid, readonly number[]>> = {
  v0: [0x12, DIGEST_BYTES],
  'v1-raw': [0x01, 0x55, 0x12, DIGEST_BYTES],
  'v1-dag-pb': [0x01, 0x70, 0x12, DIGEST_BYTES],
}

const TYPE_FILE = [UNIXFS_TYPE, 2]

/**
 * What stands around the bytes of a chunk in a dag-pb leaf: a node without links whose Data is a UnixFS file.
 *
 * The two parts depend on the length alone, so that a leaf can be hashed while its chunk arrives. The leaf of an empty file
 * has no data field at all, as importers write it.
 *
 * @throws {TypeError} when `chunkBytes` is no byte count.
 * @see https://specs.ipfs.tech/unixfs/
 *
 * @example
 * wrapLeaf(0) // the prefix is 0a 04 08 02, the suffix 18 00: QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH
 */
export function wrapLeaf(chunkBytes: number): LeafWrapping {
  const dataField = chunkBytes === 0 ? [] : [UNIXFS_DATA, ...varintOf(chunkBytes)]
  const suffix = [UNIXFS_FILESIZE, ...varintOf(chunkBytes)]
  const unixfsBytes = TYPE_FILE.length + dataField.length + chunkBytes + suffix.length
  return {
    prefix: Uint8Array.from([NODE_DATA, ...varintOf(unixfsBytes), ...TYPE_FILE, ...dataField]),
    suffix: Uint8Array.from(suffix),
  }
}

/** The length of what {@link encodeInteriorNode} makes of the same children. */
export function interiorNodeBytes(children: readonly ChildRun[]): number {
  const unixfsBytes = unixfsLength(children)
  const dataFieldBytes = 1 + varintOf(unixfsBytes).length + unixfsBytes
  return children.reduce((sum, run) => sum + run.count * linkLength(run), dataFieldBytes)
}

/**
 * The block of an interior node: a dag-pb node with a link to each child, nameless, whose Data is a UnixFS file that holds
 * no bytes of its own.
 *
 * Links come before Data, and `blocksizes` is not packed; this is the canonical form of dag-pb, and the one that every
 * importer writes.
 *
 * @param children - all children in order.
 * @param digests - the sha2-256 of every child, in the same order, 32 bytes each.
 * @throws {TypeError} when there are more or fewer digests than children, or a size is no byte count up to 2^53 − 1.
 * @see https://ipld.io/specs/codecs/dag-pb/spec/
 */
export function encodeInteriorNode(children: readonly ChildRun[], digests: Uint8Array): Uint8Array {
  const count = children.reduce((sum, run) => sum + run.count, 0)
  if (digests.length !== count * DIGEST_BYTES) {
    throw new TypeError(`${digests.length} bytes are not the sha2-256 digests of ${count} children`)
  }
  const block = new Uint8Array(interiorNodeBytes(children))
  let end = 0
  const write = (bytes: ArrayLike<number>) => {
    block.set(bytes, end)
    end += bytes.length
  }

  let digestAt = 0
  for (const run of children) {
    const { head, tail } = linkAround(run)
    for (let child = 0; child < run.count; child += 1) {
      write(head)
      write(digests.subarray(digestAt, digestAt + DIGEST_BYTES))
      write(tail)
      digestAt += DIGEST_BYTES
    }
  }

  write([NODE_DATA, ...varintOf(unixfsLength(children)), ...TYPE_FILE])
  write([UNIXFS_FILESIZE, ...varintOf(fileBytesOf(children))])
  for (const run of children) {
    const blocksize = [UNIXFS_BLOCKSIZES, ...varintOf(run.fileBytes)]
    for (let child = 0; child < run.count; child += 1) write(blocksize)
  }
  return block
}

/** A link of a node, up to the child's digest and after it. */
function linkAround({ cid, dagBytes }: ChildRun): { head: number[]; tail: number[] } {
  const cidHead = CID_HEAD[cid]
  const hash = [LINK_HASH, cidHead.length + DIGEST_BYTES, ...cidHead]
  // The name is there, and empty.
  const tail = [LINK_NAME, 0, LINK_TSIZE, ...varintOf(dagBytes)]
  const linkBytes = hash.length + DIGEST_BYTES + tail.length
  return { head: [NODE_LINKS, ...varintOf(linkBytes), ...hash], tail }
}

function linkLength(run: ChildRun): number {
  const { head, tail } = linkAround(run)
  return head.length + DIGEST_BYTES + tail.length
}

function unixfsLength(children: readonly ChildRun[]): number {
  const filesizeBytes = 1 + varintOf(fileBytesOf(children)).length
  return children.reduce(
    (sum, run) => sum + run.count * (1 + varintOf(run.fileBytes).length),
    TYPE_FILE.length + filesizeBytes,
  )
}

function fileBytesOf(children: readonly ChildRun[]): number {
  return children.reduce((sum, run) => sum + run.count * run.fileBytes, 0)
}

function varintOf(value: number): readonly number[] {
  if (!Number.isSafeInteger(value) || value < 0) throw new TypeError(`${value} is not a byte count`)
  return varintBytes(value)
}
