import { base16 } from 'multiformats/bases/base16'
import { LadeError } from '../errors/lade-error.ts'
import { readCid, type WholeCid } from './cid-bytes.ts'
import { hasLegacyShape, legacyIdOf, legacySha256 } from './legacy-id.ts'
import { decodeMultibase, encodeMultibaseLike, type MultibaseText } from './multibase.ts'
import { codecName, hashName } from './multicodec-names.ts'

/** How an id names its bytes. */
export type ContentIdForm = 'sha2-256-hex' | 'legacy' | 'cid-raw-sha2-256' | 'identity' | 'opaque'

/** A content id as a caller sent it, and what it says about the bytes. */
export interface ContentId {
  /** The id, character by character as sent. */
  readonly text: string
  readonly form: ContentIdForm
  /**
   * `sha256:<64 hex>` for every verifiable form, so that two of them have one key exactly when they name the same bytes;
   * `opaque:<text>`, case-sensitive, otherwise.
   */
  readonly key: string
  /** The sha2-256 that the bytes must have, 64 lower-case hex digits; undefined for an opaque id. */
  readonly sha256: string | undefined
  /** True when the bytes can be checked against the id, which is every form but `opaque`. */
  readonly verified: boolean
}

/** sha2-256 of some bytes as 64 lower-case hex digits. */
export type Sha256Hex = (bytes: Uint8Array) => string

const ALLOWED = /^[a-z0-9]{8,80}$/i
const SHA256_HEX = /^[0-9a-f]{64}$/i
/** A base58 CID in any case: CIDv0, and CIDv1 with a 32-byte digest as raw, dag-pb or dag-cbor. */
const BASE58_CID_SHAPE = /^(?:qm.{44}|z(?:b2rh|dj7w).{44}|zdpu.{45})$/i
/** The same in the right case, with one character lost or gained: the head of the number is then beyond recognition. */
const BASE58_CID_OFF_BY_ONE = /^(?:Qm(?:..)?|z(?:b2rh|dj7W)(?:..)?|zdpu.(?:..)?)[1-9A-HJ-NP-Za-km-z]{43}$/
const RAW = 0x55n
const SHA2_256 = 0x12n
const IDENTITY = 0x00n
const SHA2_256_BYTES = 32
/** Version 1, codec raw, hash sha2-256, digest length. */
const CID_V1_HEAD = Uint8Array.of(1, 0x55, 0x12, SHA2_256_BYTES)
const HOW_TO_NAME = 'Send the sha2-256 in hex, or a CIDv1 of codec raw with sha2-256 (bafkrei…).'

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
  if (typeof text !== 'string' || !ALLOWED.test(text)) throw refusal('A cid is 8 to 80 ASCII letters and digits.')
  if (SHA256_HEX.test(text)) return verifiable(text, 'sha2-256-hex', text.toLowerCase())
  if (hasLegacyShape(text)) return parseLegacyId(text)
  // A CIDv0 is bare base58btc; its first character is always Q, which is no multibase prefix.
  const isBare = text.startsWith('Q')
  const decoded = decodeMultibase(isBare ? `z${text}` : text)
  const cid = decoded && readCid(decoded.bytes, decoded.strayBits)
  if (decoded !== undefined && cid?.kind === 'whole') {
    const fault = faultOf(cid, decoded, isBare)
    if (fault !== undefined) throw refusal(fault)
    return cid.hash === IDENTITY
      ? verifiable(text, 'identity', sha256Hex(cid.digest))
      : verifiable(text, 'cid-raw-sha2-256', base16.baseEncode(cid.digest))
  }
  if (cid?.kind === 'damaged') throw refusal(cid.fault)
  if (BASE58_CID_SHAPE.test(text)) {
    throw refusal(
      'It has the shape of a base58 CID but does not decode as one. base58 is case-sensitive: once its case is changed, the original cannot be recovered.',
    )
  }
  if (BASE58_CID_OFF_BY_ONE.test(text)) throw refusal('It looks like a base58 CID that lost or gained a character.')
  return { text, form: 'opaque', key: `opaque:${text}`, sha256: undefined, verified: false }
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

/**
 * The id that other bytes would have in the form of `id`: what a `cid_mismatch` reports as `actual`.
 *
 * A CID keeps its multibase; bases that fold case are written in lower case. In place of an identity CID stands the CIDv1
 * raw sha2-256 in base32, in place of an opaque id the hex digest.
 *
 * @param sha256Hex - 64 lower-case hex digits.
 * @throws {TypeError} when `sha256Hex` is not that.
 */
export function nameLike(id: ContentId, sha256Hex: string): string {
  const aliases = aliasesOf(sha256Hex)
  switch (id.form) {
    case 'legacy':
      return aliases.legacy
    case 'cid-raw-sha2-256':
      return encodeMultibaseLike(id.text, cidV1Bytes(sha256Hex))
    case 'identity':
      return aliases.cidV1
    case 'sha2-256-hex':
    case 'opaque':
      return aliases.hex
  }
}

/** Every name that a sha2-256 digest gives its bytes. */
export interface ContentAliases {
  /** 64 lower-case hex digits. */
  readonly hex: string
  /** `bafy` and 52 base32 digits. */
  readonly legacy: string
  /** CIDv1, codec raw, in base32: `bafkrei…`. */
  readonly cidV1: string
}

/**
 * Names a sha2-256 digest in each form that {@link parseContentId} maps back to the same key.
 *
 * @param sha256Hex - 64 lower-case hex digits.
 * @throws {TypeError} when `sha256Hex` is not that.
 *
 * @example
 * aliasesOf('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855').cidV1
 * // 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
 */
export function aliasesOf(sha256Hex: string): ContentAliases {
  if (!/^[0-9a-f]{64}$/.test(sha256Hex)) throw new TypeError('A sha2-256 digest is 64 lower-case hex digits.')
  return {
    hex: sha256Hex,
    legacy: legacyIdOf(sha256Hex),
    cidV1: encodeMultibaseLike('b', cidV1Bytes(sha256Hex)),
  }
}

function parseLegacyId(text: string): ContentId {
  const sha256 = legacySha256(text)
  if (sha256 !== undefined) return verifiable(text, 'legacy', sha256)
  throw refusal('It has the shape of a legacy id (bafy and 52 base32 digits), but no bytes have an id that ends so.')
}

/** Why a whole CID is not accepted here; undefined when it is. */
function faultOf(cid: WholeCid, writtenIn: MultibaseText, isBare: boolean): string | undefined {
  if (cid.version === 0) return faultOfVersion0(cid, isBare)
  const isIdentity = cid.hash === IDENTITY
  if (!isIdentity && (cid.codec !== RAW || cid.hash !== SHA2_256)) {
    return `It is a CIDv1 of codec ${codecName(cid.codec)} with the hash ${hashName(cid.hash)}, which is not verified here. ${HOW_TO_NAME}`
  }
  if (!isIdentity && cid.digest.length !== SHA2_256_BYTES) {
    return `It is a CID whose sha2-256 digest has ${cid.digest.length} bytes instead of ${SHA2_256_BYTES}.`
  }
  if (isBare) return 'It is a CIDv1 without a multibase prefix, which version 1 has to have.'
  if (!writtenIn.accepted) {
    return `It is a CID written in ${writtenIn.multibase}; base32, base36, base58btc and base16 are read here.`
  }
  return undefined
}

function faultOfVersion0(cid: WholeCid, isBare: boolean): string {
  if (cid.hash !== SHA2_256 || cid.digest.length !== SHA2_256_BYTES) {
    return 'It is a CID of version 0 that is not a sha2-256 of 32 bytes, as version 0 has to be.'
  }
  if (!isBare) return 'It is a CID of version 0 inside a multibase, which version 0 does not have.'
  return `It is a CIDv0, which names a block of codec dag-pb (0x70) and is not verified here. ${HOW_TO_NAME}`
}

function verifiable(text: string, form: ContentIdForm, sha256: string): ContentId {
  return { text, form, key: `sha256:${sha256}`, sha256, verified: true }
}

function cidV1Bytes(sha256Hex: string): Uint8Array {
  const bytes = new Uint8Array(CID_V1_HEAD.length + SHA2_256_BYTES)
  bytes.set(CID_V1_HEAD)
  bytes.set(base16.baseDecode(sha256Hex), CID_V1_HEAD.length)
  return bytes
}

function refusal(reason: string): LadeError<'invalid_cid'> {
  return new LadeError('invalid_cid', { reason })
}
