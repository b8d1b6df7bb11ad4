import * as dagCbor from '@ipld/dag-cbor'
import * as dagJson from '@ipld/dag-json'
import * as dagPb from '@ipld/dag-pb'
import { decode as decodeCbor } from 'cborg'
import { CID } from 'multiformats/cid'
import { parseLink } from './parse-link.ts'

export const RAW = 0x55
const PLAIN_CBOR = 0x51
const PLAIN_JSON = 0x0200
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
/** White space as JSON has it. */
const SPACE = '[ \\t\\n\\r]*'
const ZERO = 0x30
/** As many arguments as a call takes in every runtime. */
const PIECE_BYTES = 8192
/** A link of dag-json, its key in any spelling: what is between the quotes, and the second of them unless that is longer. */
const JSON_LINK = new RegExp(
  `\\{${SPACE}"(?:/|\\\\/|\\\\u002[fF])"${SPACE}:${SPACE}"([^"]{0,${MAX_LINK_CHARACTERS}})("?)`,
  'g',
)
/** The same to its end, where nothing else is inside of the braces. */
const CLOSED_JSON_LINK = new RegExp(`${JSON_LINK.source}${SPACE}\\}`, 'g')

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
  if (hasLongLink(asLatin1(own))) return undefined
  return decoded(() => ({ value: dagJson.decode<unknown>(own) }))
}

/** base58 takes time that grows with the square of its length: a link of a megabyte would take the better part of an hour. */
function hasLongLink(json: string): boolean {
  for (const [, , endQuote] of json.matchAll(JSON_LINK)) if (endQuote === '') return true
  return false
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
  if (!isUsualCid(bytes)) CID.decode(bytes)
  return bytes
}

/** True for bytes that `CID.decode` takes, and that have one of the two usual forms. */
export function isUsualCid(bytes: Uint8Array): boolean {
  // The two forms that nearly all CIDs have: version 0, and version 1 with a codec, a hash and a length of one byte each.
  const isVersion0 = bytes[0] === 0x12 && bytes[1] === 32 && bytes.length === 34
  const [version, codec = 0x80, hash = 0x80, length = 0x80] = bytes
  const isShort = version === 1 && codec < 0x80 && hash < 0x80 && length < 0x80 && bytes.length === length + 4
  return isVersion0 || isShort
}

/** Each link is decoded once, by itself, and what is around the links without them: a number is allowed wherever a link is. */
function linksInJson(bytes: Uint8Array<ArrayBuffer>): Uint8Array[] | undefined {
  const text = asLatin1(bytes)
  if (hasLongLink(text)) return undefined
  return decoded(() => {
    const links = Array.from(text.matchAll(JSON_LINK), ([, link = '']) => parseLink(unescaped(link)).bytes)
    dagJson.decode(links.length === 0 ? bytes : withoutLinks(bytes, text))
    return links
  })
}

function withoutLinks(bytes: Uint8Array, text: string): Uint8Array<ArrayBuffer> {
  const rest = new Uint8Array(bytes.length)
  let length = 0
  let end = 0
  for (const { 0: link, index } of text.matchAll(CLOSED_JSON_LINK)) {
    rest.set(bytes.subarray(end, index), length)
    length += index - end
    rest[length] = ZERO
    length += 1
    end = index + link.length
  }
  rest.set(bytes.subarray(end), length)
  return rest.subarray(0, length + bytes.length - end)
}

/** One character for each byte, so that places in the text are places in the bytes. */
function asLatin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES))
  }
  return text
}

function unescaped(jsonText: string): string {
  return jsonText.includes('\\') ? String(JSON.parse(`"${jsonText}"`)) : jsonText
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
export function ofOwnMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes)
}
