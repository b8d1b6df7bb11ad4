import { varint } from 'multiformats'
import { bucketText, MURMUR3_X64_64 } from '../car/shard-bucket.ts'
import { varintBytes } from '../car/varint.ts'
import {
  LINK_HASH,
  LINK_NAME,
  LINK_TSIZE,
  NODE_DATA,
  NODE_LINKS,
  UNIXFS_DATA,
  UNIXFS_FANOUT,
  UNIXFS_HASH_TYPE,
  UNIXFS_TYPE,
} from '../unixfs-fields.ts'
import { utf8Bytes } from '../utf8.ts'
import type { DagRoot, DirectoryLink } from './directory-link.ts'

/** How many buckets a shard has under the profile `unixfs-v1-2025`. */
export const FANOUT = 256

/** What a shard has in one bucket: an entry by its name, or the next shard, which has none. */
export interface ShardLink extends DagRoot {
  readonly bucket: number
  readonly nameBytes: Uint8Array | undefined
}

const TYPE = { directory: 1, symlink: 4, hamt: 5 } as const
const DIRECTORY = Uint8Array.of(UNIXFS_TYPE, TYPE.directory)
const LABELS = Array.from({ length: FANOUT }, (_, bucket) => utf8Bytes(bucketText(bucket, FANOUT)))
const NO_LABEL = new Uint8Array()

/** The block of a directory without entries. */
export const EMPTY_DIRECTORY_BYTES = 2 + DIRECTORY.length

/** What a link adds to the block of a directory. */
export function linkBytes({ nameBytes, cid, dagBytes }: DirectoryLink): number {
  return fieldBytes(linkFieldBytes(nameBytes.length, cid.bytes.length, dagBytes))
}

/** The link of a shard to an entry. */
export function entryLink(bucket: number, { cid, dagBytes, nameBytes }: DirectoryLink): ShardLink {
  return { bucket, cid, dagBytes, nameBytes }
}

/** The link of a shard to the next one. */
export function shardLink(bucket: number, { cid, dagBytes }: DagRoot): ShardLink {
  return { bucket, cid, dagBytes, nameBytes: undefined }
}

/**
 * The block of a directory that is not sharded.
 *
 * @param links - in the order of the block.
 * @see https://specs.ipfs.tech/unixfs/#dag-pb-directory
 *
 * @example
 * encodeDirectory([]) // 0a 02 08 01: bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354
 */
export function encodeDirectory(links: readonly DirectoryLink[]): Uint8Array {
  return encodeNode(
    links.map((link) => ({ link, label: NO_LABEL, nameBytes: link.nameBytes })),
    DIRECTORY,
  )
}

/**
 * The block of one shard of a directory.
 *
 * @param links - in the order of their buckets, one in each at most.
 * @see https://specs.ipfs.tech/unixfs/#dag-pb-hamtdirectory
 */
export function encodeShard(links: readonly ShardLink[]): Uint8Array {
  const bits = new Uint8Array(FANOUT / 8)
  for (const { bucket } of links) {
    const at = bits.length - 1 - (bucket >> 3)
    bits[at] = (bits[at] ?? 0) | (1 << (bucket & 7))
  }
  // Importers write the bits as a number, without the zeros before it.
  const bitfield = bits.subarray(bits.findIndex((byte) => byte !== 0))
  const data = [UNIXFS_TYPE, TYPE.hamt, UNIXFS_DATA, ...varintBytes(bitfield.length), ...bitfield]
  data.push(UNIXFS_HASH_TYPE, MURMUR3_X64_64, UNIXFS_FANOUT, ...varintBytes(FANOUT))
  return encodeNode(
    links.map((link) => ({
      link,
      label: LABELS[link.bucket] ?? NO_LABEL,
      nameBytes: link.nameBytes ?? NO_LABEL,
    })),
    Uint8Array.from(data),
  )
}

/**
 * The block of a symlink.
 *
 * @see https://specs.ipfs.tech/unixfs/#dag-pb-symlink
 *
 * @example
 * encodeSymlink('foo') // 0a 07 08 04 12 03 66 6f 6f: QmTB8BaCJdCH5H3k7GrxJsxgDNmNYGGR71C58ERkivXoj5
 */
export function encodeSymlink(target: string): Uint8Array {
  const path = utf8Bytes(target)
  return encodeNode([], Uint8Array.from([UNIXFS_TYPE, TYPE.symlink, UNIXFS_DATA, ...varintBytes(path.length), ...path]))
}

/** A link, and its name in two parts; either may be empty. */
interface LabelledLink {
  readonly link: DagRoot
  readonly label: Uint8Array
  readonly nameBytes: Uint8Array
}

/** The canonical form of dag-pb: links before data. */
function encodeNode(links: readonly LabelledLink[], data: Uint8Array): Uint8Array {
  const sizes = links.map(({ link, label, nameBytes }) =>
    linkFieldBytes(label.length + nameBytes.length, link.cid.bytes.length, link.dagBytes),
  )
  const block = new Uint8Array(sizes.reduce((sum, size) => sum + fieldBytes(size), fieldBytes(data.length)))
  let end = 0
  const write = (bytes: Uint8Array) => {
    block.set(bytes, end)
    end += bytes.length
  }
  const writeField = (field: number, value: number) => {
    block[end] = field
    varint.encodeTo(value, block, end + 1)
    end += 1 + varint.encodingLength(value)
  }
  links.forEach(({ link, label, nameBytes }, index) => {
    writeField(NODE_LINKS, sizes[index] ?? 0)
    writeField(LINK_HASH, link.cid.bytes.length)
    write(link.cid.bytes)
    writeField(LINK_NAME, label.length + nameBytes.length)
    write(label)
    write(nameBytes)
    writeField(LINK_TSIZE, link.dagBytes)
  })
  writeField(NODE_DATA, data.length)
  write(data)
  return block
}

/** A field of bytes: its number, their length, and themselves. */
function fieldBytes(length: number): number {
  return 1 + varint.encodingLength(length) + length
}

function linkFieldBytes(nameBytes: number, cidBytes: number, dagBytes: number): number {
  return fieldBytes(cidBytes) + fieldBytes(nameBytes) + 1 + varint.encodingLength(dagBytes)
}
