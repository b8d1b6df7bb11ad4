const MASK = (1n << 64n) - 1n
const C1 = 0x87c37b91114253d5n
const C2 = 0x4cf5ad432745937fn

/**
 * The first 64 bits of murmur3 for x64 with seed 0, which sharded directories place names by.
 *
 * @see https://github.com/aappleby/smhasher/blob/master/src/MurmurHash3.cpp - MurmurHash3_x64_128.
 *
 * @example
 * murmur3x64(Uint8Array.from([0x34, 0x37, 0x30, 0x2e, 0x74, 0x78, 0x74])) >> 48n // 0x006e: '470.txt' in buckets 00, 6E
 */
export function murmur3x64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const bulkEnd = bytes.length - (bytes.length % 16)
  let h1 = 0n
  let h2 = 0n
  for (let at = 0; at < bulkEnd; at += 16) {
    h1 ^= mixFirst(view.getBigUint64(at, true))
    h1 = (rotate(h1, 27n) + h2) & MASK
    h1 = (h1 * 5n + 0x52dce729n) & MASK
    h2 ^= mixSecond(view.getBigUint64(at + 8, true))
    h2 = (rotate(h2, 31n) + h1) & MASK
    h2 = (h2 * 5n + 0x38495ab5n) & MASK
  }
  h1 ^= mixFirst(readShort(bytes.subarray(bulkEnd, bulkEnd + 8)))
  h2 ^= mixSecond(readShort(bytes.subarray(bulkEnd + 8)))
  const length = BigInt(bytes.length)
  h1 = (h1 ^ length) + (h2 ^ length)
  h2 = (h2 ^ length) + h1
  return (finish(h1 & MASK) + finish(h2 & MASK)) & MASK
}

function mixFirst(word: bigint): bigint {
  return (rotate((word * C1) & MASK, 31n) * C2) & MASK
}

function mixSecond(word: bigint): bigint {
  return (rotate((word * C2) & MASK, 33n) * C1) & MASK
}

function rotate(word: bigint, bits: bigint): bigint {
  return ((word << bits) | (word >> (64n - bits))) & MASK
}

function finish(word: bigint): bigint {
  let mixed = word
  mixed = ((mixed ^ (mixed >> 33n)) * 0xff51afd7ed558ccdn) & MASK
  mixed = ((mixed ^ (mixed >> 33n)) * 0xc4ceb9fe1a85ec53n) & MASK
  return mixed ^ (mixed >> 33n)
}

/** Up to eight bytes, the first one lowest. */
function readShort(bytes: Uint8Array): bigint {
  return bytes.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n)
}
