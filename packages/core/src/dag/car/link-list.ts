import { CID } from 'multiformats/cid'
import { FIRST_LINKED_CODEC, IDENTITY, type LinksFault, linkBytesOf, READABLE_CODECS } from '../links.ts'
import { excessOf } from './block-limits.ts'
import { readCidAtHead } from './cid-at.ts'
import { DagReadError } from './dag-read-error.ts'
import { MAX_DIGEST_BYTES } from './digest-length.ts'

/** The links of a block in two arrays: they cross from one thread to another in one piece, and a CID is made when it is needed. */
export interface LinkList {
  /** The CIDs in binary form, end to end. */
  readonly cids: Uint8Array<ArrayBuffer>
  /** Where each of them ends. */
  readonly ends: Uint32Array<ArrayBuffer>
  /** How many links were read to make the list, those of inline blocks among them. */
  readonly linkCount: number
}

/** A block with more links or parts than are read: decoding it would take too much time and memory. */
export interface Excess {
  readonly fault: 'excessive'
}

const EXCESS: Excess = { fault: 'excessive' }

export const EMPTY_LIST: LinkList = { cids: new Uint8Array(), ends: new Uint32Array(), linkCount: 0 }

/**
 * @param cids - in binary form.
 * @param linkCount - how many links were read for them. @default as many as there are
 */
export function packLinks(cids: readonly Uint8Array[], linkCount = cids.length): LinkList {
  const ends = new Uint32Array(cids.length)
  let sizeBytes = 0
  for (const [index, { length }] of cids.entries()) {
    sizeBytes += length
    ends[index] = sizeBytes
  }
  const packed = new Uint8Array(sizeBytes)
  for (const [index, bytes] of cids.entries()) packed.set(bytes, ends[index - 1] ?? 0)
  return { cids: packed, ends, linkCount }
}

/**
 * One link of a list.
 *
 * @throws {DagReadError} `unsupported` for a digest that is longer than those of CARs may be.
 */
export function linkAt({ cids, ends }: LinkList, place: number): CID {
  const cid = CID.decode(cids.subarray(ends[place - 1] ?? 0, ends[place]))
  if (cid.multihash.digest.length > MAX_DIGEST_BYTES) throw new DagReadError('unsupported', cid)
  return cid
}

/** The memory that a list takes. */
export function listBytes({ cids, ends }: LinkList): number {
  return cids.byteLength + ends.byteLength
}

/**
 * What a walk goes on to from a block: its links in order, and in place of an inline block, which its link carries, the links of that one.
 *
 * Inline blocks that cannot be read stay in the list, so that the walk ends where it comes to them.
 *
 * @param codec - the multicodec of the block's CID.
 * @returns never throws for what is in the bytes: faults of the block itself are results.
 */
export function readLinks(codec: number, bytes: Uint8Array): LinkList | LinksFault | Excess {
  if (hasNoLinks(codec)) return EMPTY_LIST
  if (excessOf(codec, bytes) !== undefined) return EXCESS
  const read = linkBytesOf(codec, bytes)
  if ('fault' in read) return read
  const found: Uint8Array[] = []
  let linkCount = 0
  const open = [read.links.values()]
  for (let links = open.at(-1); links !== undefined; links = open.at(-1)) {
    const { value: link } = links.next()
    if (link === undefined) {
      open.pop()
      continue
    }
    linkCount += 1
    const name = readCidAtHead(link)
    const isOpened = name?.hashCode === IDENTITY && name.digest.length <= MAX_DIGEST_BYTES
    if (isOpened && hasNoLinks(name.codec)) continue
    const below = isOpened ? linkBytesOf(name.codec, name.digest) : undefined
    if (below !== undefined && 'links' in below) open.push(below.links.values())
    else found.push(link)
  }
  return packLinks(found, linkCount)
}

function hasNoLinks(codec: number): boolean {
  const place = READABLE_CODECS.indexOf(codec)
  return place >= 0 && place < FIRST_LINKED_CODEC
}
