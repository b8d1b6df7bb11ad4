import { createCipheriv, createHash } from 'node:crypto'

/** Length of one block of a big body, in bytes (1 MiB). */
export const BLOCK_BYTES = 1024 * 1024

/**
 * Fills a new buffer with incompressible bytes that depend on `seed` alone, so that two processes can make the same
 * body without sending it to each other.
 *
 * @example
 * seededBytes(1, 4096).equals(seededBytes(1, 4096)) // true
 */
export function seededBytes(seed: number, sizeBytes: number): Buffer {
  const key = createHash('sha256').update(`lade-bench ${seed}`).digest().subarray(0, 16)
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes))
}

/** Writes `counter` over the first eight bytes of `bytes`: what keeps equal blocks from being equal. */
export function stamp(bytes: Buffer, counter: number): void {
  bytes.writeBigUInt64LE(BigInt(counter), 0)
}

/**
 * Computes the sha2-256 of a big body: `sizeBytes` of one seeded block repeated, each repeat stamped with its number.
 *
 * @param sizeBytes - a whole number of blocks ({@link BLOCK_BYTES}).
 * @returns 64 lower-case hex digits, which is also a content id of the body.
 */
export function bigBodySha256(seed: number, sizeBytes: number): string {
  const hash = createHash('sha256')
  for (const block of bigBodyBlocks(seed, sizeBytes)) hash.update(block)
  return hash.digest('hex')
}

/** Yields the blocks of a big body, in order. Every block is the same buffer: use it before asking for the next. */
export function* bigBodyBlocks(seed: number, sizeBytes: number): Generator<Buffer> {
  if (sizeBytes % BLOCK_BYTES !== 0) throw new TypeError(`sizeBytes must be a multiple of ${BLOCK_BYTES}`)
  const block = seededBytes(seed, BLOCK_BYTES)
  for (let index = 0; index < sizeBytes / BLOCK_BYTES; index++) {
    stamp(block, index)
    yield block
  }
}

/** The sha2-256, in 64 hex digits, of each of `count` small bodies: the seeded bytes, stamped with 0, 1, 2 and so on. */
export function smallBodyCids(seed: number, sizeBytes: number, count: number): string[] {
  const body = seededBytes(seed, sizeBytes)
  return Array.from({ length: count }, (_, index) => {
    stamp(body, index)
    return createHash('sha256').update(body).digest('hex')
  })
}
