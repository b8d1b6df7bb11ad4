import { RAW } from '../links.ts'
import { readUnixfsNode, type UnixfsFault, type UnixfsFileNode } from '../unixfs-file.ts'
import { utf8Bytes, utf8Text } from '../utf8.ts'
import { excessOf } from './block-limits.ts'
import { EMPTY_LIST, type LinkList, listBytes, packLinks } from './link-list.ts'

/** A node of UnixFS in a few arrays, as `LinkList` is one of links. */
export type PackedNode =
  | PackedFile
  | PackedDirectory
  | PackedShard
  /** `target` is the path that the link leads to; bytes that are no UTF-8 are replaced in it. */
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'other' }
  | UnixfsFault

/** A file node of UnixFS, or a raw block. */
export interface PackedFile {
  readonly kind: 'file'
  readonly sizeBytes: number
  /** Where in the block the node's own bytes lie. */
  readonly dataStart: number
  readonly dataEnd: number
  readonly links: LinkList
  /** The size that is announced for each part. */
  readonly partSizes: Float64Array<ArrayBuffer>
}

/** A directory node of UnixFS in one block. */
export interface PackedDirectory {
  readonly kind: 'directory'
  readonly links: LinkList
  readonly names: PackedTexts
  /** The Tsize of each link; NaN where it has none. */
  readonly dagSizes: Float64Array<ArrayBuffer>
}

/** A node of a sharded UnixFS directory. */
export interface PackedShard {
  readonly kind: 'hamt'
  readonly fanout: number
  readonly hashCode: number
  readonly links: LinkList
  /** Of each link the bucket, and behind it the name where it leads to an entry. */
  readonly names: PackedTexts
  /** 1 for each link that leads to the next shard. */
  readonly isShard: Uint8Array<ArrayBuffer>
  /** The Tsize of each link; NaN where it has none. */
  readonly dagSizes: Float64Array<ArrayBuffer>
}

/** Texts in UTF-8, end to end, and where each ends. */
export interface PackedTexts {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly ends: Uint32Array<ArrayBuffer>
}

/** `readUnixfsNode`, packed. */
export function readPackedNode(codec: number, bytes: Uint8Array): PackedNode {
  if (codec === RAW) return rawFile(bytes.length)
  const excess = excessOf(codec, bytes)
  if (excess !== undefined) return { kind: 'fault', of: 'block', reason: `It ${excess}.` }
  const node = readUnixfsNode(codec, bytes)
  switch (node.kind) {
    case 'file':
      return packFile(node, bytes)
    case 'directory':
      return {
        kind: 'directory',
        links: packLinks(node.entries.map(({ cid }) => cid.bytes)),
        names: packTexts(node.entries.map(({ name }) => name)),
        dagSizes: packDagSizes(node.entries),
      }
    case 'hamt':
      return {
        kind: 'hamt',
        fanout: node.fanout,
        hashCode: node.hashCode,
        links: packLinks(node.links.map(({ cid }) => cid.bytes)),
        names: packTexts(node.links.map(({ bucket, name = '' }) => bucket + name)),
        isShard: Uint8Array.from(node.links, ({ name }) => (name === undefined ? 1 : 0)),
        dagSizes: packDagSizes(node.links),
      }
    case 'symlink':
      return { kind: 'symlink', target: utf8Text(node.target) }
    default:
      return node
  }
}

/** The place of the first text that is one of `wanted`; undefined when none is. */
export function placeOfText({ bytes, ends }: PackedTexts, wanted: readonly string[]): number | undefined {
  const texts = wanted.map((text) => utf8Bytes(text))
  let start = 0
  for (let place = 0; place < ends.length; place += 1) {
    const end = ends[place] ?? 0
    if (texts.some((text) => isAt(text, bytes, start, end))) return place
    start = end
  }
  return undefined
}

/** The memory that a node takes. */
export function nodeBytes(node: PackedNode): number {
  if (!('links' in node)) return 0
  if (node.kind === 'file') return listBytes(node.links) + node.partSizes.byteLength
  const { links, names, dagSizes } = node
  return listBytes(links) + names.bytes.length + names.ends.byteLength + dagSizes.byteLength
}

/** The text at a place of the list. */
export function textAt({ bytes, ends }: PackedTexts, place: number): string {
  return utf8Text(bytes.subarray(ends[place - 1] ?? 0, ends[place]))
}

function isAt(text: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== text.length) return false
  for (let index = 0; index < text.length; index += 1) if (bytes[start + index] !== text[index]) return false
  return true
}

function rawFile(sizeBytes: number): PackedFile {
  const partSizes = new Float64Array()
  return { kind: 'file', sizeBytes, dataStart: 0, dataEnd: sizeBytes, links: EMPTY_LIST, partSizes }
}

function packFile({ sizeBytes, data, children }: UnixfsFileNode, bytes: Uint8Array): PackedFile {
  // Bytes in shared memory were copied before they were decoded, and the copy begins where its buffer does.
  const start = data.buffer === bytes.buffer ? data.byteOffset - bytes.byteOffset : data.byteOffset
  const dataStart = data.length === 0 ? 0 : start
  const links = packLinks(children.map(({ cid }) => cid.bytes))
  const partSizes = Float64Array.from(children, (child) => child.sizeBytes)
  return { kind: 'file', sizeBytes, dataStart, dataEnd: dataStart + data.length, links, partSizes }
}

function packDagSizes(links: readonly { readonly dagBytes: number | undefined }[]): Float64Array<ArrayBuffer> {
  return Float64Array.from(links, ({ dagBytes = Number.NaN }) => dagBytes)
}

function packTexts(texts: readonly string[]): PackedTexts {
  const encoded = texts.map((text) => utf8Bytes(text))
  const ends = new Uint32Array(texts.length)
  let sizeBytes = 0
  for (const [index, { length }] of encoded.entries()) {
    sizeBytes += length
    ends[index] = sizeBytes
  }
  const bytes = new Uint8Array(sizeBytes)
  for (const [index, text] of encoded.entries()) bytes.set(text, ends[index - 1] ?? 0)
  return { bytes, ends }
}
