import { DAG_PB, isKnownCodec, isKnownHash, SHA2_256 } from './multicodec.ts'

/** A complete CID, of any version 1 codec and hash, or of version 0. */
export interface WholeCid {
  readonly kind: 'whole'
  readonly version: 0 | 1
  readonly codec: bigint
  readonly hash: bigint
  readonly digest: Uint8Array
}

/** Bytes that were plainly meant to be a CID, and the first thing that is wrong with them. */
export interface DamagedCid {
  readonly kind: 'damaged'
  readonly fault: string
}

interface Varint {
  readonly value: bigint
  readonly end: number
  readonly minimal: boolean
}

/** The multiformats varint has at most nine bytes, which is 63 bits. */
const VARINT_MAX_BYTES = 9

/**
 * Reads bytes as a CID, strictly, and still recognises one that is broken.
 *
 * Whole means: minimal varints, and exactly as many digest bytes as announced. Codes are not judged. Damaged means: not
 * whole, but the codec and the hash are both known ones, so that taking the bytes for anything but a CID would be a guess.
 *
 * @param bytes - what the multibase string decoded to.
 * @param strayBits - true when the string had more bits than these bytes.
 * @returns undefined when nothing says that this was meant to be a CID.
 * @see https://github.com/multiformats/cid#decoding-algorithm
 */
export function readCid(bytes: Uint8Array, strayBits: boolean): WholeCid | DamagedCid | undefined {
  const version = readVarint(bytes, 0)
  if (version === undefined) return undefined
  // The multihash code of sha2-256 in the place of a version is how a binary CIDv0 begins.
  const isBareMultihash = version.value === SHA2_256
  const codec = isBareMultihash ? { value: DAG_PB, end: 0, minimal: true } : readVarint(bytes, version.end)
  const hash = codec && readVarint(bytes, codec.end)
  if (codec === undefined || hash === undefined) return undefined
  const length = readVarint(bytes, hash.end)

  const minimal = version.minimal && codec.minimal && hash.minimal && length?.minimal !== false
  const missing = length === undefined ? undefined : length.value - BigInt(bytes.length - length.end)
  if (length !== undefined && missing === 0n && minimal && !strayBits && (version.value <= 1n || isBareMultihash)) {
    const cidVersion = version.value === 1n ? 1 : 0
    return {
      kind: 'whole',
      version: cidVersion,
      codec: codec.value,
      hash: hash.value,
      digest: bytes.subarray(length.end),
    }
  }

  if (!isKnownCodec(codec.value) || !isKnownHash(hash.value)) return undefined
  if (isBareMultihash) {
    return length?.value === 32n
      ? damaged('The cid looks like a CIDv0 with a multibase prefix, and has the wrong length. Copy it again.')
      : undefined
  }
  if (version.value === 0n) return undefined
  if (version.value > 1n) {
    return missing === 0n ? damaged(`The cid has version ${version.value}; only versions 0 and 1 exist.`) : undefined
  }
  if (!minimal) return damaged('The cid has a varint that is not minimal.')
  if (length === undefined || missing === undefined) return damaged('The cid ends before its digest. Copy it again.')
  if (missing > 0n)
    return damaged(`The cid lacks ${missing} of the ${length.value} bytes of its digest. Copy it again.`)
  if (missing < 0n)
    return damaged(`The cid is followed by ${count(-missing, 'byte')} that do not belong to it. Copy it again.`)
  return damaged('The last character of the cid has invalid bits. Copy it again.')
}

function damaged(fault: string): DamagedCid {
  return { kind: 'damaged', fault }
}

function count(amount: bigint, noun: string): string {
  return amount === 1n ? `1 ${noun}` : `${amount} ${noun}s`
}

/** Reads an unsigned varint of up to nine bytes, also a non-minimal one, exactly: codes may exceed 2^53. */
function readVarint(bytes: Uint8Array, start: number): Varint | undefined {
  let value = 0n
  for (let index = 0; index < VARINT_MAX_BYTES; index += 1) {
    const byte = bytes[start + index]
    if (byte === undefined) return undefined
    value |= BigInt(byte & 0x7f) << BigInt(7 * index)
    if (byte < 0x80) return { value, end: start + index + 1, minimal: index === 0 || byte !== 0 }
  }
  return undefined
}

/**
 * The bytes of a CIDv1 of these parts; of a CIDv0, where `version` says so, the bare multihash.
 *
 * @throws {TypeError} when a code is negative or has more than 63 bits.
 */
export function writeCid({ version, codec, hash, digest }: Omit<WholeCid, 'kind'>): Uint8Array {
  const multihash = [...varintBytes(hash), ...varintBytes(BigInt(digest.length)), ...digest]
  return Uint8Array.from(version === 0 ? multihash : [1, ...varintBytes(codec), ...multihash])
}

function varintBytes(value: bigint): number[] {
  if (value < 0n || value >> 63n !== 0n) throw new TypeError(`${value} is not a multiformats varint`)
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return bytes
}
