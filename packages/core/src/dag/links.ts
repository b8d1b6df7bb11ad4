import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { decode as decodeCbor } from 'cborg'
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

/** The same, with each link as the bytes of its CID. */
export type LinkBytes = { readonly links: readonly Uint8Array[] } | LinksFault

/** `unsupported`: this codec is not read here, whatever the bytes. `undecodable`: the bytes are no block of this codec. */
export interface LinksFault {
  readonly fault: 'unsupported' | 'undecodable'
}

const LINK_TAG = 42
/** More characters than any CID that is taken has. */
const MAX_LINK_CHARACTERS = 512
/** A link of dag-json, its key in any spelling: what is between the quotes, and the second of them unless that is longer. */
const JSON_LINK = new RegExp(`\\{\\s*"(?:/|\\\\/|\\\\u002[fF])"\\s*:\\s*"([^"]{0,${MAX_LINK_CHARACTERS}})("?)`, 'g')

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
  const read = linkBytesOf(codec, bytes)
  return 'fault' in read ? read : { links: read.links.map((link) => CID.decode(link)) }
}

/**
 * The same with links as the bytes of their CIDs, which `CID.decode` takes: for blocks with so many links that an object for each counts.
 *
 * @example
 * linkBytesOf(0x55, new Uint8Array(3)) // { links: [] }
 */
export function linkBytesOf(codec: number, bytes: Uint8Array): LinkBytes {
  const place = READABLE_CODECS.indexOf(codec)
  if (place < 0) return { fault: 'unsupported' }
  if (place < FIRST_LINKED_CODEC) return { links: [] }
  const own = ofOwnMemory(bytes)
  const links = codec === DAG_PB ? linksInPb(own) : codec === DAG_CBOR ? linksInCbor(own) : linksInJson(own)
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

/** The links of a dag-pb block; undefined when it is none. */
function linksInPb(bytes: Uint8Array): Uint8Array[] | undefined {
  return decodeDagPb(bytes)?.Links.map(({ Hash }) => Hash.bytes)
}

/**
 * The links of a dag-cbor block; undefined when it is none.
 *
 * Decoded as dag-cbor is, by its own options, but for the links: making a CID of each would take most of the time of a block that has many.
 */
function linksInCbor(bytes: Uint8Array): Uint8Array[] | undefined {
  const links: Uint8Array[] = []
  const keepLink = (decode: () => unknown): null => {
    const link = decode()
    // The byte string of a link begins with a zero, for the multibase that it is not written in.
    if (!(link instanceof Uint8Array) || link[0] !== 0) throw new TypeError('not a link')
    links.push(checkedCid(link.subarray(1)))
    return null
  }
  const options = { ...dagCbor.decodeOptions, tags: { ...dagCbor.decodeOptions.tags, [LINK_TAG]: keepLink } }
  return decoded(() => {
    decodeCbor(bytes, options)
    return links
  })
}

/** @throws for bytes that are no CID, as `CID.decode`. */
function checkedCid(bytes: Uint8Array): Uint8Array {
  // The two forms that nearly all CIDs have: version 0, and version 1 with a codec, a hash and a length of one byte each.
  const isVersion0 = bytes[0] === 0x12 && bytes[1] === 32 && bytes.length === 34
  const [version, codec = 0x80, hash = 0x80, length = 0x80] = bytes
  const isShort = version === 1 && codec < 0x80 && hash < 0x80 && length < 0x80 && bytes.length === length + 4
  if (!isVersion0 && !isShort) CID.decode(bytes)
  return bytes
}

/** The links of a dag-json block; undefined when it is none. */
function linksInJson(bytes: Uint8Array): Uint8Array[] | undefined {
  const tree = decodeData(DAG_JSON, bytes)
  if (tree === undefined) return undefined
  const cids = new Map<string, CID>()
  collectCids(tree.value, cids)
  // Read from the text: in what it decodes to, keys that look like numbers come before all others.
  const links = Array.from(
    asCharacters(bytes).matchAll(JSON_LINK),
    ([, link = '']) => cids.get(link) ?? cidOfJson(link),
  )
  return links.map((cid) => cid.bytes)
}

/** A CID as JSON spells it, escapes and all. */
function cidOfJson(text: string): CID {
  return CID.parse(String(JSON.parse(`"${text}"`)))
}

/** Collects the CIDs of a decoded value by their text. */
function collectCids(value: unknown, cids: Map<string, CID>): void {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    const cid = asLink(next)
    if (cid !== undefined) cids.set(cid.toString(), cid)
    else if (typeof next === 'object' && next !== null && !(next instanceof Uint8Array)) {
      for (const inner of Object.values(next)) open.push(inner)
    }
  }
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
