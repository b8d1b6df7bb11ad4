import { varint } from 'multiformats'
import { base32 } from 'multiformats/bases/base32'
import { isNode } from './is-node.ts'
import type { PieceCommitment } from './piece-commitment.ts'
import {
  MAX_PIECE_HEIGHT,
  MIN_PIECE_HEIGHT,
  NODE_BYTES,
  paddingBytes,
  pieceHeight,
  QUAD_RAW_BYTES,
} from './piece-size.ts'

const RAW = 0x55
const FIL_COMMITMENT_UNSEALED = 0xf101
const SHA2_256_TRUNC254_PADDED = 0x1012
/** Called `fr32-sha256-trunc254-padbintree` in the table of multicodecs. */
const FR32_SHA2_256_TRUNC254_PADDED_BINARY_TREE = 0x1011
/** What the bytes of a piece CID of either version begin with. */
const V1_PREFIX = Uint8Array.of(1, ...varintBytes(FIL_COMMITMENT_UNSEALED), ...varintBytes(SHA2_256_TRUNC254_PADDED))
const V2_PREFIX = Uint8Array.of(1, ...varintBytes(RAW), ...varintBytes(FR32_SHA2_256_TRUNC254_PADDED_BINARY_TREE))
/** The multiformats varint has at most nine bytes. */
const VARINT_MAX_BYTES = 9
const HEIGHT_AND_ROOT_BYTES = 1 + NODE_BYTES

/** The parts of a CID of version 1 that tell whether it is a piece CID, and which. */
export interface CidCodes {
  readonly codec: bigint | number
  readonly hash: bigint | number
  readonly digest: Uint8Array
}

/** What a piece CID says. Version 1 knows neither the size of the bytes nor the height of their tree. */
export type PieceCid =
  | { readonly version: 1; readonly root: Uint8Array }
  | { readonly version: 2; readonly root: Uint8Array; readonly rawSizeBytes: number }

/**
 * The piece CID of version 1 for a root, in base32.
 *
 * It is the same for all bytes that differ only in the zeros at their end.
 *
 * @throws {TypeError} when `root` is not 32 bytes whose top two bits are zero.
 *
 * @example
 * pieceCidV1(zeroCommitment(30)) // 'baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq'
 */
export function pieceCidV1(root: Uint8Array): string {
  return base32.encode(pieceCidV1Bytes(root))
}

/**
 * The piece CID of version 2 for a commitment, in base32. Two commitments never share one.
 *
 * @throws {TypeError} when the root is not 32 bytes whose top two bits are zero, or the size is no size.
 * @see FRC-0069
 *
 * @example
 * pieceCidV2({ root: zeroCommitment(2), rawSizeBytes: 65 })
 * // 'bafkzcibchybdomn3tgwgrh3g532zopskstnbrd2n3sxfqbze7rxt7vqn7veigmy'
 */
export function pieceCidV2(commitment: PieceCommitment): string {
  return base32.encode(pieceCidV2Bytes(commitment))
}

/** As {@link pieceCidV1}, as the bytes that any multibase writes. */
export function pieceCidV1Bytes(root: Uint8Array): Uint8Array {
  return cidBytes(V1_PREFIX, checkedRoot(root))
}

/** As {@link pieceCidV2}, as the bytes that any multibase writes. */
export function pieceCidV2Bytes({ root, rawSizeBytes }: PieceCommitment): Uint8Array {
  const padding = paddingBytes(rawSizeBytes)
  const heightAt = varint.encodingLength(padding)
  const digest = varint.encodeTo(padding, new Uint8Array(heightAt + HEIGHT_AND_ROOT_BYTES))
  digest[heightAt] = pieceHeight(rawSizeBytes)
  digest.set(checkedRoot(root), heightAt + 1)
  return cidBytes(V2_PREFIX, digest)
}

/**
 * Reads the codes and the digest of a CIDv1 as a piece CID, of version 1 (0xf101 with 0x1012) or 2 (0x55 with 0x1011).
 *
 * One commitment has one CID of version 2: anything else that could be read as it is a fault, so that a reader may compare
 * CIDs by their text. The root is a copy.
 *
 * @returns undefined when these codes are not those of a piece CID, and the first fault, a sentence, when they are and the
 *   digest is no commitment.
 * @see FRC-0069, and go-fil-commcid for the padding
 *
 * @example
 * readPieceCid({ codec: 0x55, hash: 0x12, digest }) // undefined
 */
export function readPieceCid({ codec, hash, digest }: CidCodes): PieceCid | { readonly fault: string } | undefined {
  const codes = [Number(codec), Number(hash)]
  const isOf = (expected: readonly number[]) => codes.every((code, index) => code === expected[index])
  if (isOf([FIL_COMMITMENT_UNSEALED, SHA2_256_TRUNC254_PADDED])) return readV1(digest)
  if (isOf([RAW, FR32_SHA2_256_TRUNC254_PADDED_BINARY_TREE])) return readV2(digest)
  return undefined
}

function readV1(digest: Uint8Array): PieceCid | { fault: string } {
  if (digest.length !== NODE_BYTES) return faulty(`of version 1 whose root has ${digest.length} bytes instead of 32`)
  if (!isNode(digest)) return faulty('whose root is impossible: one of its top two bits is set')
  return { version: 1, root: digest.slice() }
}

function readV2(digest: Uint8Array): PieceCid | { fault: string } {
  const end = digest.findIndex((byte) => byte < 0x80) + 1
  if (end === 0 || end > VARINT_MAX_BYTES) return faulty('whose padding is not a number of at most nine bytes')
  if (end > 1 && digest[end - 1] === 0) return faulty('whose padding is not a minimal varint')
  const rest = digest.subarray(end)
  if (rest.length !== HEIGHT_AND_ROOT_BYTES) {
    return faulty(`of version 2 with ${rest.length} bytes after its padding; height and root have 33`)
  }
  const height = rest[0] ?? 0
  if (height < MIN_PIECE_HEIGHT || height > MAX_PIECE_HEIGHT) {
    return faulty(`of height ${height}; Lade supports heights ${MIN_PIECE_HEIGHT} to ${MAX_PIECE_HEIGHT}`)
  }
  const root = rest.slice(1)
  if (!isNode(root)) return faulty('whose root is impossible: one of its top two bits is set')

  const padding = digest.subarray(0, end).reduceRight((value, byte) => (value << 7n) | BigInt(byte & 0x7f), 0n)
  const capacity = BigInt(QUAD_RAW_BYTES) << BigInt(height - MIN_PIECE_HEIGHT)
  if (padding > capacity) return faulty(`whose padding, ${padding} bytes, is more than its tree holds`)
  const rawSizeBytes = Number(capacity - padding)
  if (!Number.isSafeInteger(rawSizeBytes)) return faulty('with too many bytes to count exactly')
  if (pieceHeight(rawSizeBytes) !== height) {
    return faulty(`of height ${height}, while its ${rawSizeBytes} bytes need ${pieceHeight(rawSizeBytes)}`)
  }
  return { version: 2, root, rawSizeBytes }
}

function faulty(what: string): { fault: string } {
  return { fault: `The cid is a piece CID ${what}.` }
}

function checkedRoot(root: Uint8Array): Uint8Array {
  if (!isNode(root)) throw new TypeError('the root of a piece is 32 bytes whose top two bits are zero')
  return root
}

/** @param digest - of at most 127 bytes, whose length is one byte. */
function cidBytes(prefix: Uint8Array, digest: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(prefix.length + 1 + digest.length)
  bytes.set(prefix)
  bytes[prefix.length] = digest.length
  bytes.set(digest, prefix.length + 1)
  return bytes
}

function varintBytes(value: number): Uint8Array {
  return varint.encodeTo(value, new Uint8Array(varint.encodingLength(value)))
}
