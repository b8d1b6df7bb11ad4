/**
 * Content ids computed here from the public specifications, so that the suite never checks a service with its own code.
 *
 * Multihash: a varint code, a varint length, the digest. CIDv1: 0x01, a varint codec, the multihash, in a multibase.
 */
import { createHash } from 'node:crypto'

/** Multicodec codes used by the suite (the multicodec table's numbers). */
export const CODEC = { raw: 0x55, dagPb: 0x70, dagCbor: 0x71, dagJson: 0x0129 } as const
/** Multihash codes used by the suite. */
export const HASH = {
  identity: 0x00,
  sha1: 0x11,
  sha256: 0x12,
  sha3_256: 0x16,
  keccak256: 0x1b,
  dblSha256: 0x56,
  blake2s256: 0xb260,
} as const

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest & 0x7f) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}

/** RFC 4648 base32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += BASE32.charAt((held >> bits) & 31)
    }
    held &= (1 << bits) - 1
  }
  return bits > 0 ? text + BASE32.charAt((held << (5 - bits)) & 31) : text
}

function positional(bytes: Uint8Array, alphabet: string): string {
  const base = BigInt(alphabet.length)
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
  let text = ''
  while (value > 0n) {
    text = alphabet.charAt(Number(value % base)) + text
    value /= base
  }
  let leadingZeros = 0
  while (bytes[leadingZeros] === 0) leadingZeros += 1
  return alphabet.charAt(0).repeat(leadingZeros) + text
}

export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
export const multihash = (code: number, digest: Uint8Array): Buffer =>
  Buffer.concat([varint(code), varint(digest.length), digest])
export const cidV1 = (codec: number, hash: Uint8Array): Buffer => Buffer.concat([varint(1), varint(codec), hash])

/** The multibase texts of one binary CIDv1. Base58 is the only one in which case carries meaning. */
export const multibase = (cid: Uint8Array) => ({
  base32: `b${base32(cid)}`,
  base36: `k${positional(cid, BASE36)}`,
  base16: `f${Buffer.from(cid).toString('hex')}`,
  base58: `z${positional(cid, BASE58)}`,
})

/** The 64 hex digits of the sha2-256. */
export const hexOf = (bytes: Uint8Array): string => sha256(bytes).toString('hex')
/** `bafy` and the first 52 base32 characters of the sha2-256. */
export const legacyOf = (bytes: Uint8Array): string => `bafy${base32(sha256(bytes)).slice(0, 52)}`
/** CIDv1, raw codec, sha2-256, in every multibase that fits the service's character set. */
export const rawCidOf = (bytes: Uint8Array) => multibase(cidV1(CODEC.raw, multihash(HASH.sha256, sha256(bytes))))
/** CIDv1, raw codec, identity: the bytes themselves, at most 44 of them within 80 base32 characters. */
export const identityCidOf = (bytes: Uint8Array) => multibase(cidV1(CODEC.raw, multihash(HASH.identity, bytes)))
/** CIDv1 of a block in the given codec: the sha2-256 of the body. */
export const blockCidOf = (codec: number, bytes: Uint8Array) =>
  multibase(cidV1(codec, multihash(HASH.sha256, sha256(bytes))))

/** CIDv0 of a file of one chunk (at most 256 KiB): the dag-pb block that holds a UnixFS file message. */
export function cidV0Of(bytes: Uint8Array): string {
  const field = (tag: number, value: Uint8Array) => Buffer.concat([varint(tag), varint(value.length), value])
  const unixFs = Buffer.concat([
    Buffer.from([0x08, 0x02]),
    field(0x12, bytes),
    Buffer.from([0x18]),
    varint(bytes.length),
  ])
  return positional(multihash(HASH.sha256, sha256(field(0x0a, unixFs))), BASE58)
}
