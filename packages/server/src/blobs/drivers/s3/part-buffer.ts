import { chunkMemory, freeChunk } from '@lade/node/hashing/chunk-memory'
import { partHashing } from '@lade/node/hashing/part-digests'
import type { BufferList } from '../../buffer-list.ts'
import type { CheckedBytes } from './checked-bytes.ts'

/** A part on its way to be full. Its bytes are hashed when it is sent, beside the event loop: what is sent is what was hashed. */
export class PartBuffer {
  readonly #list: BufferList | undefined
  readonly #memory: Uint8Array
  readonly #sizeBytes: number
  #filled = 0
  #hashing: Promise<unknown> | undefined

  /** @param options.lists - where the memory comes from and goes back to, when one of them has buffers that are as large and not far larger. */
  constructor(options: { sizeBytes: number; lists: readonly BufferList[] }) {
    const { sizeBytes, lists } = options
    this.#list = lists.find(({ bufferBytes }) => sizeBytes <= bufferBytes && 2 * sizeBytes > bufferBytes)
    this.#memory = this.#list?.take() ?? Buffer.allocUnsafeSlow(sizeBytes)
    this.#sizeBytes = sizeBytes
  }

  get filledBytes(): number {
    return this.#filled
  }

  get roomBytes(): number {
    return this.#sizeBytes - this.#filled
  }

  get bytes(): Uint8Array {
    return this.#memory.subarray(0, this.#filled)
  }

  /** Takes what fits of `chunk`, and answers how much that was. */
  append(chunk: Uint8Array): number {
    const taken = chunk.subarray(0, this.roomBytes)
    this.#memory.set(taken, this.#filled)
    this.#filled += taken.length
    return taken.length
  }

  /**
   * The bytes so far with their digests. They are valid until something is appended, which must wait for the promise.
   *
   * @param sha256 - of the bytes, where it is known.
   */
  async checked(sha256?: string): Promise<CheckedBytes> {
    const { bytes } = this
    const hashing = partHashing.digest(bytes, sha256)
    this.#hashing = hashing
    return { bytes, ...(await hashing) }
  }

  /** Gives the memory back, once it is not hashed any more. Nothing else may read it. */
  release(): void {
    if (this.#hashing === undefined) this.#giveBack()
    else this.#hashing.catch(() => {}).then(() => this.#giveBack())
  }

  #giveBack(): void {
    if (this.#list === undefined) freeChunk(chunkMemory(this.#memory))
    else this.#list.give(this.#memory)
  }
}
