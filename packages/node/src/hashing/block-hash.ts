import { createHash, hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { blake2b, blake2s } from '@noble/hashes/blake2.js'
import { keccak_224, keccak_256, keccak_384, keccak_512 } from '@noble/hashes/sha3.js'
import { blake2b256, blake3 } from './blake.ts'
import type { DigestFunction } from './digest-function.ts'
import { sha256 } from './sha256.ts'

/** Of a hash in JavaScript, what is hashed between two turns of the event loop: about 2 ms. */
const TURN_BYTES = 32 * 1024
/** How much longer than sha2-256 the hashes in JavaScript take, and those of SHA-3. */
const SLOW_WEIGHT = 16
const SHA3_WEIGHT = 3

/** What noble makes of a hash. */
interface NobleHash {
  update(bytes: Uint8Array): NobleHash
  digest(): Uint8Array
}

interface BlockHash {
  readonly digests: DigestFunction
  /** What a byte costs, in bytes of sha2-256. */
  readonly weight: number
}

const HASHES: ReadonlyMap<number, BlockHash> = new Map([
  [0x12, fast(sha256)],
  [0x13, fast(openssl('sha512'))],
  [0x14, { digests: openssl('sha3-512'), weight: SHA3_WEIGHT }],
  [0x15, { digests: openssl('sha3-384'), weight: SHA3_WEIGHT }],
  [0x16, { digests: openssl('sha3-256'), weight: SHA3_WEIGHT }],
  [0x17, { digests: openssl('sha3-224'), weight: SHA3_WEIGHT }],
  [0x19, { digests: openssl('shake256', 64), weight: SHA3_WEIGHT }],
  [0x1a, slow(() => keccak_224.create())],
  [0x1b, slow(() => keccak_256.create())],
  [0x1c, slow(() => keccak_384.create())],
  [0x1d, slow(() => keccak_512.create())],
  [0x1e, fast(blake3)],
  [0x56, fast(twice(sha256))],
  ...Array.from({ length: 45 }, (_, index) => blake2Entry(0xb200, index + 20, (dkLen) => blake2b.create({ dkLen }))),
  ...Array.from({ length: 13 }, (_, index) => blake2Entry(0xb240, index + 20, (dkLen) => blake2s.create({ dkLen }))),
  // These have faster implementations.
  [0xb220, fast(blake2b256)],
  [0xb240, fast(openssl('blake2b512'))],
  [0xb260, fast(openssl('blake2s256'))],
])

/**
 * The function behind a multihash code, for blocks, whose bytes are all there: the hashes that kubo takes by default, but for sha1.
 *
 * Some are computed in JavaScript, 60 ms for a MiB: on the thread of a server, use `blockDigestInTurns`.
 *
 * @returns undefined for hashes that are not checked here.
 * @see https://github.com/multiformats/multicodec/blob/master/table.csv
 *
 * @example
 * blockHashOf(0x12)?.(Buffer.from('abc')) // 32 bytes, ba7816bf…f20015ad
 */
export function blockHashOf(multihashCode: number): ((bytes: Uint8Array) => Uint8Array) | undefined {
  return HASHES.get(multihashCode)?.digests.of
}

/** The digest of a block, as `blockHashOf`; a hash that takes long gives up the event loop every 2 ms. */
export async function blockDigestInTurns(multihashCode: number, bytes: Uint8Array): Promise<Uint8Array | undefined> {
  const found = HASHES.get(multihashCode)
  if (found === undefined) return undefined
  const { digests, weight } = found
  if (weight < SLOW_WEIGHT || bytes.length <= TURN_BYTES) return digests.of(bytes)
  const running = digests.create()
  for (let at = 0; at < bytes.length; at += TURN_BYTES) {
    running.update(bytes.subarray(at, at + TURN_BYTES))
    await nextTurn()
  }
  return running.digest()
}

/** How much longer than sha2-256 a hash takes; 1 for hashes that are not checked here. */
export function blockHashWeight(multihashCode: number): number {
  return HASHES.get(multihashCode)?.weight ?? 1
}

function fast(digests: DigestFunction): BlockHash {
  return { digests, weight: 1 }
}

function slow(create: () => NobleHash): BlockHash {
  return { digests: { create, of: (bytes) => create().update(bytes).digest() }, weight: SLOW_WEIGHT }
}

function blake2Entry(
  base: number,
  digestBytes: number,
  create: (digestBytes: number) => NobleHash,
): [number, BlockHash] {
  return [base + digestBytes, slow(() => create(digestBytes))]
}

/** @param outputLength - of a hash whose digests can have any length. */
function openssl(name: string, outputLength?: number): DigestFunction {
  const create = () => createHash(name, outputLength === undefined ? undefined : { outputLength })
  return {
    create,
    of: (bytes) => (outputLength === undefined ? hash(name, bytes, 'buffer') : create().update(bytes).digest()),
  }
}

function twice({ create, of }: DigestFunction): DigestFunction {
  return {
    create() {
      const running = create()
      return { update: (bytes) => running.update(bytes), digest: () => of(running.digest()) }
    },
    of: (bytes) => of(of(bytes)),
  }
}
