import type { PBNode } from '@ipld/dag-pb'
import type { CID } from 'multiformats/cid'
import { DAG_PB, decodeDagPb, RAW } from './links.ts'

/** One block as UnixFS sees it. */
export type UnixfsNode =
  | UnixfsFileNode
  | { readonly kind: 'directory'; readonly entries: readonly UnixfsEntry[] }
  | UnixfsShard
  /** A symbolic link, and the path that it leads to, as it was written. */
  | { readonly kind: 'symlink'; readonly target: Uint8Array }
  /** No UnixFS at all, or a kind of it that holds neither bytes nor entries, such as metadata. */
  | { readonly kind: 'other' }
  | UnixfsFault

/** A file, or a part of one: its own bytes, then those of its children, in order. */
export interface UnixfsFileNode {
  readonly kind: 'file'
  /** Of the whole, as this node announces it: its own bytes and all of its children's. */
  readonly sizeBytes: number
  /** The bytes inside this node, as a view of the block; often empty. */
  readonly data: Uint8Array
  readonly children: readonly UnixfsChild[]
}

/** A part of a file, and the size that its parent announces for it. */
export interface UnixfsChild {
  readonly cid: CID
  readonly sizeBytes: number
}

/** An entry of a UnixFS directory. */
export interface UnixfsEntry {
  readonly name: string
  readonly cid: CID
  /** The Tsize of the link: the bytes of all blocks below it, as the writer announces; undefined where it does not. */
  readonly dagBytes: number | undefined
}

/** One node of a directory that is sharded as a hash array mapped trie. */
export interface UnixfsShard {
  readonly kind: 'hamt'
  /** How many buckets a node has; each level of the trie takes log2 of it in bits of the name's hash. */
  readonly fanout: number
  /** The multicodec of the hash of names; 0x22 is murmur3-x64-64, which is the only one in use. */
  readonly hashCode: number
  readonly links: readonly UnixfsShardLink[]
}

/** What a bucket holds: an entry by its name, or, where the name is undefined, the next shard. */
export interface UnixfsShardLink {
  /** The bucket, in upper-case hex digits, as many as the highest bucket has. */
  readonly bucket: string
  readonly name: string | undefined
  readonly cid: CID
  /** As that of `UnixfsEntry`. */
  readonly dagBytes: number | undefined
}

/** A block that is not what it says of itself: no dag-pb, or a file or shard that breaks its own rules; one sentence says how. */
export interface UnixfsFault {
  readonly kind: 'fault'
  readonly of: 'block' | 'file' | 'shard'
  readonly reason: string
}

/** `Data.DataType` of the UnixFS message. */
const TYPE = { raw: 0, directory: 1, file: 2, symlink: 4, hamt: 5 } as const
const MAX_FANOUT = 1024

/**
 * Reads one block as a node of a UnixFS DAG.
 *
 * A raw block is a file of its own bytes. Of a dag-pb file node, also of the old type Raw, it checks what one block can
 * tell: that links and block sizes are equally many, that their links are unnamed, and that sizes add up to the announced
 * file size, which counts as 0 where it is absent. Whether the children have these sizes is for whoever reads them. Tsize
 * is passed on for entries of directories, and never checked.
 *
 * @param codec - the multicodec of the block's CID.
 * @returns never throws for what is in the bytes: a fault is a result.
 * @see https://github.com/ipfs/specs/blob/main/src/unixfs.md
 *
 * @example
 * readUnixfsNode(0x55, new Uint8Array(3)) // { kind: 'file', sizeBytes: 3, data: Uint8Array(3), children: [] }
 */
export function readUnixfsNode(codec: number, bytes: Uint8Array): UnixfsNode {
  if (codec === RAW) return { kind: 'file', sizeBytes: bytes.length, data: bytes, children: [] }
  if (codec !== DAG_PB) return { kind: 'other' }
  const node = decodeDagPb(bytes)
  return node === undefined ? fault('block', 'It does not decode as dag-pb.') : unixfsNodeOf(node)
}

/** `readUnixfsNode` for a dag-pb block that is decoded already. */
export function unixfsNodeOf({ Data, Links }: PBNode): UnixfsNode {
  const message = Data && readMessage(Data)
  switch (message?.type) {
    case TYPE.raw:
    case TYPE.file:
      return fileNode(message, Links)
    case TYPE.directory:
      return {
        kind: 'directory',
        entries: Links.map(({ Name = '', Hash, Tsize }) => ({ name: Name, cid: Hash, dagBytes: Tsize })),
      }
    case TYPE.symlink:
      return { kind: 'symlink', target: message.data }
    case TYPE.hamt:
      return shardNode(message, Links)
    default:
      return { kind: 'other' }
  }
}

function fileNode({ data, fileSize, blockSizes }: Message, links: PBNode['Links']): UnixfsNode {
  if (blockSizes.length !== links.length) {
    return fault('file', `It has ${links.length} links but ${blockSizes.length} block sizes.`)
  }
  if (links.some(({ Name }) => Name !== undefined && Name !== ''))
    return fault('file', 'Its links to the parts of a file have names.')
  const sizeBytes = blockSizes.reduce((sum, size) => sum + size, data.length)
  // Sums of integers are exact up to here, and no file of the network comes near it.
  if (!Number.isSafeInteger(sizeBytes)) return fault('file', 'It declares more than 2^53 bytes.')
  if (fileSize !== sizeBytes) return fault('file', `It declares ${fileSize} bytes, but its parts have ${sizeBytes}.`)
  const children = links.map(({ Hash }, index) => ({ cid: Hash, sizeBytes: blockSizes[index] ?? 0 }))
  return { kind: 'file', sizeBytes, data, children }
}

function shardNode({ fanout, hashCode }: Message, links: PBNode['Links']): UnixfsNode {
  const isPowerOfTwo = fanout > 0 && Number.isInteger(Math.log2(fanout))
  if (!isPowerOfTwo || fanout < 8 || fanout > MAX_FANOUT)
    return fault('shard', `Its fanout is ${fanout}, which is not a power of two from 8 to ${MAX_FANOUT}.`)
  const digits = (fanout - 1).toString(16).length
  const shardLinks = links.map(({ Name = '', Hash, Tsize }) => ({
    bucket: Name.slice(0, digits),
    name: Name.length === digits ? undefined : Name.slice(digits),
    cid: Hash,
    dagBytes: Tsize,
  }))
  if (shardLinks.some(({ bucket }) => bucket.length < digits)) return fault('shard', 'One of its links has no bucket.')
  return { kind: 'hamt', fanout, hashCode, links: shardLinks }
}

function fault(of: UnixfsFault['of'], reason: string): UnixfsFault {
  return { kind: 'fault', of, reason }
}

interface Message {
  type: number | undefined
  data: Uint8Array
  fileSize: number
  readonly blockSizes: number[]
  hashCode: number
  fanout: number
}

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** Reads the protobuf message of UnixFS; undefined for bytes that are none. Integers over 2^53 are rounded. */
function readMessage(bytes: Uint8Array): Message | undefined {
  const message: Message = {
    type: undefined,
    data: new Uint8Array(),
    fileSize: 0,
    blockSizes: [],
    hashCode: 0,
    fanout: 0,
  }
  let at = 0
  while (at < bytes.length) {
    const key = readInteger(bytes, at)
    if (key === undefined) return undefined
    const wire = key.value % 8
    const field = Math.floor(key.value / 8)
    at = key.end
    if (wire === WIRE.varint) {
      const integer = readInteger(bytes, at)
      if (integer === undefined) return undefined
      takeInteger(message, field, integer.value)
      at = integer.end
    } else if (wire === WIRE.bytes) {
      const size = readInteger(bytes, at)
      if (size === undefined || size.value > bytes.length - size.end) return undefined
      at = size.end + size.value
      if (!takeBytes(message, field, bytes.subarray(size.end, at))) return undefined
    } else if (wire === WIRE.fixed64 || wire === WIRE.fixed32) {
      at += wire === WIRE.fixed64 ? 8 : 4
    } else {
      return undefined
    }
  }
  return at === bytes.length ? message : undefined
}

function takeInteger(message: Message, field: number, value: number): void {
  if (field === 1) message.type = value
  else if (field === 3) message.fileSize = value
  else if (field === 4) message.blockSizes.push(value)
  else if (field === 5) message.hashCode = value
  else if (field === 6) message.fanout = value
}

function takeBytes(message: Message, field: number, value: Uint8Array): boolean {
  if (field === 2) message.data = value
  if (field !== 4) return true
  // Writers put each block size in a field of its own; readers of protobuf take them packed into one as well.
  for (let at = 0; at < value.length; ) {
    const size = readInteger(value, at)
    if (size === undefined) return false
    message.blockSizes.push(size.value)
    at = size.end
  }
  return true
}

function readInteger(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return undefined
    value += (byte & 0x7f) * 2 ** (7 * index)
    if (byte < 0x80) return { value, end: start + index + 1 }
  }
  return undefined
}
