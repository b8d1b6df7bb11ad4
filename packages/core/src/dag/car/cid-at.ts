import { CID } from 'multiformats/cid'
import { create as createDigest, decode as decodeDigest } from 'multiformats/hashes/digest'
import { DAG_PB } from '../links.ts'
import { readVarint } from './varint.ts'

/** A block by its CID: how that is written, what the bytes are decoded as, and what they hash to. */
export interface BlockName {
  readonly version: 0 | 1
  readonly codec: number
  readonly multihash: Uint8Array
}

/** A CID at the head of some bytes: its parts as views of them, and where what follows it begins. */
export interface CidAtHead extends BlockName {
  readonly hashCode: number
  readonly digest: Uint8Array
  readonly endBytes: number
}

/** The length of the digest of a CID of version 0. */
const DIGEST_BYTES = 32

/**
 * Reads the CID at the head of a CAR section, of version 0 or 1, whose varints have to be minimal.
 *
 * @returns undefined for bytes that do not begin with a whole CID.
 * @see https://github.com/multiformats/cid#decoding-algorithm
 */
export function readCidAtHead(bytes: Uint8Array): CidAtHead | undefined {
  if (bytes[0] === 0x12 && bytes[1] === DIGEST_BYTES)
    return readMultihash(bytes, { version: 0, codec: DAG_PB, start: 0 })
  const version = readVarint(bytes, 0)
  if (typeof version === 'string' || version.value !== 1) return undefined
  const codec = readVarint(bytes, version.end)
  if (typeof codec === 'string') return undefined
  return readMultihash(bytes, { version: 1, codec: codec.value, start: codec.end })
}

function readMultihash(
  bytes: Uint8Array,
  { version, codec, start }: { readonly version: 0 | 1; readonly codec: number; readonly start: number },
): CidAtHead | undefined {
  const hash = readVarint(bytes, start)
  if (typeof hash === 'string') return undefined
  const size = readVarint(bytes, hash.end)
  if (typeof size === 'string' || size.value > bytes.length - size.end) return undefined
  const endBytes = size.end + size.value
  return {
    version,
    codec,
    hashCode: hash.value,
    multihash: bytes.subarray(start, endBytes),
    digest: bytes.subarray(size.end, endBytes),
    endBytes,
  }
}

/** The CID of a block as text: base58 for version 0, else base32. */
export function cidText({ version, codec, multihash }: BlockName): string {
  return CID.create(version, codec, decodeDigest(new Uint8Array(multihash))).toString()
}

/** The multihash of a digest. */
export function multihashOf(hashCode: number, digest: Uint8Array): Uint8Array {
  return createDigest(hashCode, digest).bytes
}
