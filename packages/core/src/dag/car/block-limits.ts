import { fromString } from 'multiformats/bytes'
import { DAG_CBOR, DAG_JSON, DAG_PB } from '../links.ts'
import { readVarint } from './varint.ts'

/** The most links of one block. A block of 2 MiB has at most 51,150 links by sha2-256; reading these takes a third of a second. */
const MAX_LINKS = 2 ** 16
/** The most maps, lists and byte strings of one block: each becomes an object of 100 bytes and more. */
const MAX_PARTS = 2 ** 18
/** No link is shorter: an inline CID without bytes, and what stands around it. */
const MIN_LINK_BYTES = 8

const CBOR = { bytes: 2, text: 3, list: 4, map: 5, tag: 6 } as const
const LINK_TAG = 42
const PB_LINKS_FIELD = 0x12
const BRACKETS: readonly number[] = [...'[{'].map((character) => character.charCodeAt(0))
const QUOTE = '"'.charCodeAt(0)
/** The key of a dag-json link in every spelling, without its first quote. */
const JSON_LINK_KEYS = ['/"', '\\/"', '\\u002f"', '\\u002F"'].map(fromString)

/**
 * Says what a block has too much of to be decoded here, from its bytes alone: decoding is what takes time and memory.
 *
 * In dag-json, strings that contain hundreds of thousands of brackets or link keys count too. Bytes that are no block of the codec are not judged.
 *
 * @returns the end of a sentence; undefined for a block that can be decoded.
 */
export function excessOf(codec: number, bytes: Uint8Array): string | undefined {
  if (bytes.length <= Math.min(MAX_LINKS * MIN_LINK_BYTES, MAX_PARTS)) return undefined
  const { links, parts } = countsOf(codec, bytes)
  if (links > MAX_LINKS) return `has more than ${MAX_LINKS} links`
  return parts > MAX_PARTS ? `has more than ${MAX_PARTS} maps, lists and byte strings` : undefined
}

interface Counts {
  readonly links: number
  readonly parts: number
}

function countsOf(codec: number, bytes: Uint8Array): Counts {
  if (codec === DAG_PB) return { links: pbLinks(bytes), parts: 0 }
  if (codec === DAG_CBOR) return cborCounts(bytes)
  return codec === DAG_JSON ? jsonCounts(bytes) : { links: 0, parts: 0 }
}

/** The links of a dag-pb node. A field that is none ends the count, as it ends the decoding. */
function pbLinks(bytes: Uint8Array): number {
  let links = 0
  for (let at = 0; at < bytes.length; ) {
    const length = readVarint(bytes, at + 1)
    if (typeof length === 'string') break
    if (bytes[at] === PB_LINKS_FIELD) links += 1
    at = length.end + length.value
  }
  return links
}

/** One item after the other, without regard to which is inside of which. */
function cborCounts(bytes: Uint8Array): Counts {
  let links = 0
  let parts = 0
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0
    const major = first >> 5
    const short = first & 0x1f
    const argumentBytes = short < 24 ? 0 : 2 ** (short - 24)
    let value = short
    if (argumentBytes > 0) value = 0
    for (let index = 1; index <= argumentBytes && argumentBytes <= 8; index += 1) {
      value = value * 256 + (bytes[at + index] ?? 0)
    }
    at += 1 + argumentBytes
    if (major === CBOR.bytes || major === CBOR.text) at += value
    if (major === CBOR.tag && value === LINK_TAG) links += 1
    if (major === CBOR.bytes || major === CBOR.list || major === CBOR.map) parts += 1
  }
  return { links, parts }
}

function jsonCounts(bytes: Uint8Array): Counts {
  let links = 0
  let parts = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (BRACKETS.includes(byte)) parts += 1
    else if (byte === QUOTE && isLinkKey(bytes, at + 1)) links += 1
  }
  return { links, parts }
}

function isLinkKey(bytes: Uint8Array, at: number): boolean {
  return JSON_LINK_KEYS.some((key) => key.every((byte, index) => bytes[at + index] === byte))
}
