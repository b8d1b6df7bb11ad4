import { createBLAKE2b, createBLAKE3, type IHasher } from 'hash-wasm'
import type { DigestFunction } from './digest-function.ts'

const DIGEST_BITS = 256

/**
 * blake3 with 256 bits, in WebAssembly.
 *
 * @see https://github.com/BLAKE3-team/BLAKE3-specs
 *
 * @example
 * Buffer.from(blake3.of(Buffer.from('abc'))).toString('hex') // '6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85'
 */
export const blake3: DigestFunction = takingTurns(await createBLAKE3(DIGEST_BITS))

/**
 * blake2b with 256 bits, in WebAssembly.
 *
 * @see RFC 7693
 *
 * @example
 * Buffer.from(blake2b256.of(Buffer.from('abc'))).toString('hex') // 'bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319'
 */
export const blake2b256: DigestFunction = takingTurns(await createBLAKE2b(DIGEST_BITS))

/**
 * Lets any number of hashes run on one engine, since an engine of one's own could only be had by waiting for it.
 *
 * Each hash keeps its state, 2 KiB at the most, and puts it into the engine for as long as a call takes.
 */
function takingTurns(engine: IHasher): DigestFunction {
  const fresh = engine.init().save()
  return {
    create() {
      let state: Uint8Array | undefined = fresh
      const resume = (): IHasher => {
        if (state === undefined) throw new TypeError('this hash has ended')
        return engine.load(state)
      }
      return {
        update(bytes) {
          state = resume().update(bytes).save()
        },
        digest() {
          const digest = resume().digest('binary')
          state = undefined
          return digest
        },
      }
    },
    of: (bytes) => engine.init().update(bytes).digest('binary'),
  }
}
