const SHA2_256_BYTES = 32
/** What multihashes of 32-byte digests begin with (the hash, the length), in hex, and the keys that name bytes by them. */
const KEY_KINDS: ReadonlyMap<string, string> = new Map([
  ['1220', 'sha256:'],
  ['1e20', 'blake3:'],
  ['a0e40220', 'blake2b-256:'],
])
const SHA2_256_PREFIX = Buffer.from('1220', 'hex')

/**
 * The content key of the bytes that have this multihash; undefined where no key names bytes by that hash.
 *
 * @see https://github.com/multiformats/multihash
 *
 * @example
 * keyOfMultihash(Buffer.from(`1220${'ab'.repeat(32)}`, 'hex')) // 'sha256:abab…'
 */
export function keyOfMultihash(multihash: Uint8Array): string | undefined {
  const digestOffset = multihash.length - SHA2_256_BYTES
  if (digestOffset < 0) return undefined
  const hex = Buffer.from(multihash.buffer, multihash.byteOffset, multihash.length).toString('hex')
  const kind = KEY_KINDS.get(hex.slice(0, 2 * digestOffset))
  return kind === undefined ? undefined : kind + hex.slice(2 * digestOffset)
}

/** The multihashes of a list of sha2-256 digests, 32 bytes each. */
export function sha256Multihashes(digests: Uint8Array): Uint8Array[] {
  return Array.from({ length: digests.length / SHA2_256_BYTES }, (_, index) => {
    const digest = digests.subarray(index * SHA2_256_BYTES, (index + 1) * SHA2_256_BYTES)
    return Buffer.concat([SHA2_256_PREFIX, digest])
  })
}
