import { createHash, hash } from 'node:crypto'
import type { DigestFunction } from './digest-function.ts'

/**
 * The sha2-256 of `bytes`, 64 lower-case hex digits.
 *
 * @example
 * sha256Hex(new Uint8Array()) // 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
 */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex')
}

/**
 * sha2-256 on node:crypto, which uses the processor's SHA instructions, for whoever needs the bytes of the digest.
 *
 * Worth feeding in chunks of 64 KiB and more: each call costs about a microsecond whatever its size.
 *
 * @see FIPS 180-4
 */
export const sha256: DigestFunction = {
  create() {
    const state = createHash('sha256')
    return {
      update: (bytes) => {
        state.update(bytes)
      },
      digest: () => state.digest(),
    }
  },
  of: (bytes) => hash('sha256', bytes, 'buffer'),
}
