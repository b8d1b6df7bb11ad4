import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { toString as asCharacters } from 'multiformats/bytes'
import { CID } from 'multiformats/cid'

export const RAW = 0x55
export const PLAIN_CBOR = 0x51
export const PLAIN_JSON = 0x0200
export const DAG_PB = 0x70
export const DAG_CBOR = 0x71
export const DAG_JSON = 0x0129
/** The hash that is none: its digest is the block. */
export const IDENTITY = 0x00

/** The codecs whose links are known; those before `FIRST_LINKED_CODEC` have none. */
export const READABLE_CODECS: readonly number[] = [RAW, PLAIN_CBOR, PLAIN_JSON, DAG_PB, DAG_CBOR, DAG_JSON]
/** The place in `READABLE_CODECS` of the first codec whose blocks can link to others. */
export const FIRST_LINKED_CODEC = 3

/** The links of a block, or why they cannot be told. */
export type Links = { readonly links: readonly CID[] } | LinksFault

/** `unsupported`: this codec is not read here, whatever the bytes. `undecodable`: the bytes are no block of this codec. */
export interface LinksFault {
  readonly fault: 'unsupported' | 'undecodable'
}

const LINK_TAG = 42
/** More characters than any CID that is taken has. */
const MAX_LINK_CHARACTERS = 512
/** A link of dag-json, its key in any spelling: what is between the quotes, and the second of them unless that is longer. */
const JSON_LINK = new RegExp(`\\{\\s*"(?:/|\\\\/|\\\\u002[fF])"\\s*:\\s*"([^"]{0,${MAX_LINK_CHARACTERS}})("?)`, 'g')

const NO_LINKS: Links = { links: [] }

/**
 * Lists the links of one block, in the order in which the block has them, repeated where it repeats them.
 *
 * raw, cbor and json blocks have none; dag-pb, dag-cbor and dag-json blocks are decoded strictly. Identity CIDs are listed
 * like all others: `inlineBytes` gives the block that one carries, whose own links are not in this list.
 *
 * Bytes that share memory between threads are copied before they are decoded; otherwise the CIDs may be views of `bytes`.
 *
 * @param codec - the multicodec of the block's CID.
 * @returns never throws for what is in the bytes: faults are results.
 *
 * @example
 * linksOf(0x55, new Uint8Array(3)) // { links: [] }
 * linksOf(0x85, new Uint8Array(3)) // { fault: 'unsupported' }
 */
export function linksOf(codec: number, bytes: Uint8Array): Links {
  const place = READABLE_CODECS.indexOf(codec)
  if (place < 0) return { fault: 'unsupported' }
  if (place < FIRST_LINKED_CODEC) return NO_LINKS
  if (codec === DAG_PB) {
    const node = decodeDagPb(bytes)
    return node === undefined ? { fault: 'undecodable' } : { links: node.Links.map(({ Hash }) => Hash) }
  }
  if (decodeData(codec, bytes) === undefined) return { fault: 'undecodable' }
  // Read from the bytes: in what they decode to, keys that look like numbers come before all others.
  const own = ofOwnMemory(bytes)
  const links = decoded(() => (codec === DAG_CBOR ? linksInCbor(own) : linksInJson(asCharacters(own))))
  return links === undefined ? { fault: 'undecodable' } : { links }
}

/** The block that an identity CID carries; undefined for every other CID. */
export function inlineBytes({ multihash }: CID): Uint8Array | undefined {
  return multihash.code === IDENTITY ? multihash.digest : undefined
}

/** A dag-pb block as its node; undefined when it is none. */
export function decodeDagPb(bytes: Uint8Array): dagPb.PBNode | undefined {
  return decoded(() => dagPb.decode(ofOwnMemory(bytes)))
}

/** A dag-cbor or dag-json block as its value; undefined when it is none. */
export function decodeData(codec: number, bytes: Uint8Array): { readonly value: unknown } | undefined {
  const own = ofOwnMemory(bytes)
  if (codec === DAG_CBOR) return decoded(() => ({ value: dagCbor.decode<unknown>(own) }))
  // base58 takes time that grows with the square of its length: a link of a megabyte would take the better part of an hour.
  for (const [, , endQuote] of asCharacters(own).matchAll(JSON_LINK)) if (endQuote === '') return undefined
  return decoded(() => ({ value: dagJson.decode<unknown>(own) }))
}

/** The CID that a decoded value is; undefined for maps, lists and scalars. */
export function asLink(value: unknown): CID | undefined {
  // A map of the keys "/" and "bytes" is not taken for a CID: two values of a block are never one array.
  if (typeof value !== 'object' || value === null || !('bytes' in value && value.bytes instanceof Uint8Array)) return
  return CID.asCID(value) ?? undefined
}

/** The links of bytes that are known to be dag-cbor: one item after the other, without regard to which is inside of which. */
function linksInCbor(bytes: Uint8Array): CID[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const links: CID[] = []
  let isTagged = false
  for (let at = 0; at < bytes.length; ) {
    const major = view.getUint8(at) >> 5
    const { value, end } = readArgument(view, at)
    const hasContent = major === MAJOR.bytes || major === MAJOR.text
    at = hasContent ? end + value : end
    // The byte string of a link begins with a zero, for the multibase that it is not written in.
    if (isTagged && hasContent) links.push(CID.decode(bytes.subarray(end + 1, at)))
    isTagged = major === MAJOR.tag && value === LINK_TAG
  }
  return links
}

const MAJOR = { bytes: 2, text: 3, tag: 6 } as const

/** The number in the head of a CBOR item, and where the head ends. */
function readArgument(view: DataView, at: number): { readonly value: number; readonly end: number } {
  const short = view.getUint8(at) & 0x1f
  if (short < 24) return { value: short, end: at + 1 }
  if (short === 24) return { value: view.getUint8(at + 1), end: at + 2 }
  if (short === 25) return { value: view.getUint16(at + 1), end: at + 3 }
  if (short === 26) return { value: view.getUint32(at + 1), end: at + 5 }
  return { value: Number(view.getBigUint64(at + 1)), end: at + 9 }
}

/** The links of text that is known to be dag-json. */
function linksInJson(text: string): CID[] {
  return Array.from(text.matchAll(JSON_LINK), ([, link]) => CID.parse(String(JSON.parse(`"${link}"`))))
}

/** The decoders throw plain errors of every kind, down to an exhausted stack, and all of them mean the same. */
function decoded<Value>(decode: () => Value): Value | undefined {
  try {
    return decode()
  } catch {
    return undefined
  }
}

/** Text decoders and CIDs refuse shared memory in some runtimes, and a node must not change while it is read. */
function ofOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
}
