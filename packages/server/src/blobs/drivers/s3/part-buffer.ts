import { createHash, type Hash } from 'node:crypto'
import { chunkMemory, freeChunk } from '@lade/node/hashing/chunk-memory'
import type { BufferList } from '../../buffer-list.ts'
import type { CheckedBytes } from './checked-bytes.ts'

/** A part on its way to be full: its bytes, hashed as they come, so that no call hashes a whole part at once. */
export class PartBuffer {
  readonly #list: BufferList | undefined
  readonly #memory: Uint8Array
  readonly #md5: Hash = createHash('md5')
  readonly #sha256: Hash | undefined
  #filled = 0

  /**
   * @param options.list - where the memory comes from and goes back to, when its buffers have this size.
   * @param options.hashesSha256 - false when the digest of all bytes will be told.
   */
  constructor(options: { sizeBytes: number; list: BufferList; hashesSha256: boolean }) {
    const { sizeBytes, list } = options
    this.#list = list.bufferBytes === sizeBytes ? list : undefined
    this.#memory = this.#list?.take() ?? Buffer.allocUnsafeSlow(sizeBytes)
    this.#sha256 = options.hashesSha256 ? createHash('sha256') : undefined
  }

  get filledBytes(): number {
    return this.#filled
  }

  get roomBytes(): number {
    return this.#memory.length - this.#filled
  }

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#filled)
  }

  /** Takes what fits of `chunk`, and answers how much that was. */
  append(chunk: Uint8Array): number {
    const taken = chunk.subarray(0, this.roomBytes)
    this.#memory.set(taken, this.#filled)
    const copy = this.#memory.subarray(this.#filled, this.#filled + taken.length)
    // The copy is hashed and not the chunk, which others may write to: what is sent is what was hashed.
    this.#md5.update(copy)
    this.#sha256?.update(copy)
    this.#filled += taken.length
    return taken.length
  }

  /** The bytes with their digests; nothing can be appended afterwards. `sha256` is theirs, where it is known. */
  seal(sha256?: string): CheckedBytes {
    const { bytes } = this
    const digest = sha256 ?? (this.#sha256 ?? createHash('sha256').update(bytes)).digest('hex')
    return { bytes, sha256: digest, md5: this.#md5.digest('hex') }
  }

  /** The bytes so far with their digests; more can be appended. The bytes are valid until then. */
  snapshot(): CheckedBytes {
    const { bytes } = this
    const sha256 = this.#sha256?.copy() ?? createHash('sha256').update(bytes)
    return { bytes, sha256: sha256.digest('hex'), md5: this.#md5.copy().digest('hex') }
  }

  /** Gives the memory back. Nothing may read it any more. */
  release(): void {
    if (this.#list === undefined) freeChunk(chunkMemory(this.#memory))
    else this.#list.give(this.#memory)
  }
}
