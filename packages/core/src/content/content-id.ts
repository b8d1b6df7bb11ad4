import { base16 } from 'multiformats/bases/base16'
import { LadeError } from '../errors/lade-error.ts'
import { readPieceCid } from '../piece/piece-cid.ts'
import { readCid, type WholeCid } from './cid-bytes.ts'
import { hasLegacyShape, legacySha256 } from './legacy-id.ts'
import { decodeMultibase, type MultibaseText } from './multibase.ts'
import {
  BLAKE2B_256,
  BLAKE3,
  codecName,
  DAG_PB,
  FIL_COMMITMENT_SEALED,
  FIL_COMMITMENT_UNSEALED,
  hashName,
  IDENTITY,
  LIBP2P_KEY,
  RAW,
  SHA2_256,
} from './multicodec.ts'

/** How an id names its bytes. */
export type ContentIdForm =
  | 'sha2-256-hex'
  | 'legacy'
  /** CIDv1 of codec raw with sha2-256, blake3 or blake2b-256: the bytes themselves, of any size. */
  | 'cid-raw'
  /** CIDv0, and CIDv1 of codec dag-pb with sha2-256: a UnixFS file by its root, or that root block. */
  | 'cid-dag-pb'
  /** CIDv1 of any other codec, with one of the three hashes: one block. */
  | 'cid-block'
  | 'identity'
  | 'piece-v1'
  | 'piece-v2'
  | 'opaque'

/** A content id as a caller sent it, and what it says about the bytes. */
export interface ContentId {
  /** The id, character by character as sent. */
  readonly text: string
  readonly form: ContentIdForm
  /**
   * What the id commits to, without its spelling: `sha256:<64 hex>`, `blake3:<64 hex>`, `blake2b-256:<64 hex>`,
   * `dag-pb:<64 hex of the root>`, `piece:<64 hex of the root>:<raw size>`, `piece-v1:<64 hex of the root>`, and
   * `opaque:<text>`, case-sensitive. Two ids of one key name the same bytes.
   */
  readonly key: string
  /** The sha2-256 that the bytes must have, 64 lower-case hex digits; undefined where the id does not say. */
  readonly sha256: string | undefined
  /** True when the bytes can be checked against the id, which is every form but `opaque`. */
  readonly verified: boolean
  /** The largest body that can have this id: blocks of the network have at most 2 MiB. Undefined without such a bound. */
  readonly maxBytes: number | undefined
  /** The id as a CID; undefined for the forms that are none. */
  readonly cid: Cid | undefined
}

/** The parts of a complete CID. */
export type Cid = Omit<WholeCid, 'kind'>

/** sha2-256 of some bytes as 64 lower-case hex digits. */
export type Sha256Hex = (bytes: Uint8Array) => string

/** The largest block that peers of the network take from each other. */
export const MAX_BLOCK_BYTES = 2 * 1024 * 1024

/** The forms that are checked against the bytes, in words. */
export const VERIFIED_FORMS: readonly string[] = [
  'sha2-256 hex',
  'legacy bafy',
  'CIDv1 raw: sha2-256, blake3, blake2b-256',
  'CIDv0 and CIDv1 dag-pb: UnixFS files',
  'CIDv1 of any codec: one block',
  'piece CID v1 and v2',
  'identity',
]

const ALLOWED = /^[a-z0-9]{8,80}$/i
const SHA256_HEX = /^[0-9a-f]{64}$/i
const SHA512_HEX = /^[0-9a-f]{128}$/i
/** More than a CID with a digest of 64 bytes has. */
const MAX_LONG_CID_CHARACTERS = 160
/** A base58 CID in any case: CIDv0, and CIDv1 with a 32-byte digest as raw, dag-pb or dag-cbor. */
const BASE58_CID_SHAPE = /^(?:qm.{44}|z(?:b2rh|dj7w).{44}|zdpu.{45})$/i
/** The same in the right case, with one character lost or gained: the head of the number is then beyond recognition. */
const BASE58_CID_OFF_BY_ONE = /^(?:Qm(?:..)?|z(?:b2rh|dj7W)(?:..)?|zdpu.(?:..)?)[1-9A-HJ-NP-Za-km-z]{43}$/
const DIGEST_BYTES = 32
/** Codecs whose CIDs name something else than a block. */
const NO_BLOCKS: readonly bigint[] = [LIBP2P_KEY, FIL_COMMITMENT_UNSEALED, FIL_COMMITMENT_SEALED]
/** The hashes that are checked here, by the name that keys have for them. */
const HASH_KEYS: ReadonlyMap<bigint, string> = new Map([
  [SHA2_256, 'sha256'],
  [BLAKE3, 'blake3'],
  [BLAKE2B_256, 'blake2b-256'],
])

/**
 * Reads and classifies a content id.
 *
 * In order: 64 hex digits; the legacy id; a CID, in any multibase; else opaque. A real CID that cannot be verified here is
 * refused rather than taken as opaque, and so is a plainly damaged one, because its sender believes that it is checked.
 * base16, base32 and base36 fold case; base58 does not.
 *
 * @param text - the id as sent; 8 to 80 ASCII letters and digits.
 * @param sha256Hex - the hasher, called only for the inline bytes (at most 59) of an identity CID.
 * @throws {LadeError} `invalid_cid`, whose reason names what is not accepted.
 * @see https://github.com/multiformats/cid
 *
 * @example
 * const id = parseContentId('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e', sha256Hex)
 * id.key // 'sha256:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'
 */
export function parseContentId(text: string, sha256Hex: Sha256Hex): ContentId {
  // A query parameter that is absent or repeated reaches an untyped caller as no string, and `undefined` has nine letters.
  if (typeof text !== 'string' || !ALLOWED.test(text)) throw refusal(faultOfCharacters(text))
  if (SHA256_HEX.test(text)) return digestId(text, 'sha2-256-hex', text.toLowerCase())
  if (hasLegacyShape(text)) return parseLegacyId(text)
  // A CIDv0 is bare base58btc; its first character is always Q, which is no multibase prefix.
  const isBare = text.startsWith('Q')
  const decoded = decodeMultibase(isBare ? `z${text}` : text)
  const read = decoded && readCid(decoded.bytes, decoded.strayBits)
  if (decoded !== undefined && read?.kind === 'whole') {
    const fault = faultOfSpelling(read, decoded, isBare)
    if (fault !== undefined) throw refusal(fault)
    return classify(text, read, sha256Hex)
  }
  if (read?.kind === 'damaged') throw refusal(read.fault)
  if (BASE58_CID_SHAPE.test(text)) {
    throw refusal(
      'The cid looks like base58 but cannot be decoded. base58 is case-sensitive: send the CID in its original case.',
    )
  }
  if (BASE58_CID_OFF_BY_ONE.test(text))
    throw refusal('The cid looks like a base58 CID that lost or gained a character. Copy it again.')
  return {
    text,
    form: 'opaque',
    key: `opaque:${text}`,
    sha256: undefined,
    verified: false,
    maxBytes: undefined,
    cid: undefined,
  }
}

/** As {@link parseContentId}, but undefined where that throws `invalid_cid`. */
export function tryParseContentId(text: string, sha256Hex: Sha256Hex): ContentId | undefined {
  try {
    return parseContentId(text, sha256Hex)
  } catch (error) {
    if (LadeError.has(error, 'invalid_cid')) return undefined
    throw error
  }
}

/** What is wrong with the characters of a text that is no id of any form. */
function faultOfCharacters(text: unknown): string {
  const rule = 'A cid is 8 to 80 ASCII letters and digits'
  if (typeof text !== 'string') return `${rule}.`
  if (/^ipfs:\/\//i.test(text)) return `${rule}. Send the cid without ipfs://.`
  const [, before] = /^((?:https?:\/\/[^/]+)?\/(?:p|ipfs)\/)[a-z0-9]/i.exec(text.slice(0, 300)) ?? []
  if (before !== undefined) return `${rule}. Send the cid without ${before}`
  const stray = text.search(/[^a-z0-9]/i)
  if (stray === -1) return faultOfLongCid(text) ?? `${rule}; this cid has ${text.length} characters.`
  const character = String.fromCodePoint(text.codePointAt(stray) ?? 0)
  const shown = /[\x21-\x7e]/.test(character) ? character : `U+${hexOf(character)}`
  const hint = shown === '.' ? ' `lade hash FILE` prints the ids of a file.' : ''
  return `${rule}; this cid has ${shown} at position ${stray + 1}.${hint}`
}

/** What to say of letters and digits that are a digest or a CID, but too long to be taken; undefined for what is neither. */
function faultOfLongCid(text: string): string | undefined {
  if (SHA512_HEX.test(text)) return '128 hex digits look like SHA-512. Send the SHA-256, of 64 hex digits.'
  if (text.length > MAX_LONG_CID_CHARACTERS) return undefined
  const decoded = decodeMultibase(text)
  const read = decoded && readCid(decoded.bytes, decoded.strayBits)
  return read?.kind === 'whole' && read.hash !== IDENTITY && !HASH_KEYS.has(read.hash) ? unverifiable(read) : undefined
}

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}

function parseLegacyId(text: string): ContentId {
  const sha256 = legacySha256(text)
  if (sha256 !== undefined) return digestId(text, 'legacy', sha256)
  throw refusal(
    'The cid has 56 characters. A CIDv1 in base32 has 59, and a legacy id (bafy and 52 digits) ends in a or q. Copy it again.',
  )
}

/** Why a whole CID may not be written like this; undefined when it may. */
function faultOfSpelling(cid: WholeCid, writtenIn: MultibaseText, isBare: boolean): string | undefined {
  if (cid.version === 0) {
    if (cid.hash !== SHA2_256 || cid.digest.length !== DIGEST_BYTES) {
      return 'The cid is a CIDv0 without a sha2-256 digest of 32 bytes.'
    }
    return isBare ? undefined : 'The cid is a CIDv0 with a multibase prefix. Leave the prefix out.'
  }
  if (isBare) return 'The cid is a CIDv1 without its multibase prefix. Add the prefix, such as z for base58btc.'
  if (!writtenIn.accepted) {
    return `The cid is written in ${writtenIn.multibase}. Use base32, base36, base58btc or base16.`
  }
  return undefined
}

/** What a well-spelled CID names. */
function classify(text: string, whole: WholeCid, sha256Hex: Sha256Hex): ContentId {
  const { codec, hash, digest } = whole
  const cid = { version: whole.version, codec, hash, digest }
  if (hash === IDENTITY) return { ...digestId(text, 'identity', sha256Hex(digest)), cid }
  const piece = readPieceCid(cid)
  if (piece !== undefined) {
    if ('fault' in piece) throw refusal(piece.fault)
    const root = base16.baseEncode(piece.root)
    const names = piece.version === 1 ? `piece-v1:${root}` : `piece:${root}:${piece.rawSizeBytes}`
    const form = piece.version === 1 ? 'piece-v1' : 'piece-v2'
    return { text, form, key: names, sha256: undefined, verified: true, maxBytes: undefined, cid }
  }
  const hashKey = HASH_KEYS.get(hash)
  if (hashKey === undefined || NO_BLOCKS.includes(codec)) {
    throw refusal(unverifiable(whole))
  }
  if (digest.length !== DIGEST_BYTES) {
    throw refusal(
      `The cid has a ${hashName(hash)} digest of ${digest.length} bytes instead of ${DIGEST_BYTES}. Copy it again.`,
    )
  }
  const hex = base16.baseEncode(digest)
  const form = codec === RAW ? 'cid-raw' : codec === DAG_PB && hash === SHA2_256 ? 'cid-dag-pb' : 'cid-block'
  return {
    text,
    form,
    key: `${form === 'cid-dag-pb' ? 'dag-pb' : hashKey}:${hex}`,
    sha256: form !== 'cid-dag-pb' && hash === SHA2_256 ? hex : undefined,
    verified: true,
    maxBytes: form === 'cid-block' ? MAX_BLOCK_BYTES : undefined,
    cid,
  }
}

function unverifiable({ codec, hash }: WholeCid): string {
  return `Lade cannot verify a cid with the codec ${codecName(codec)} and the hash ${hashName(hash)}. Use sha2-256, blake3, blake2b-256 or a piece CID.`
}

function digestId(text: string, form: ContentIdForm, sha256: string): ContentId {
  return { text, form, key: `sha256:${sha256}`, sha256, verified: true, maxBytes: undefined, cid: undefined }
}

function refusal(reason: string): LadeError<'invalid_cid'> {
  return new LadeError('invalid_cid', { reason })
}
