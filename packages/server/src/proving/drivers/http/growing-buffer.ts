/** Bytes that come piece by piece, gathered without keeping the memory that they came in. */
export class GrowingBuffer {
  #memory: Buffer<ArrayBuffer>
  readonly #maxBytes: number
  #length = 0

  /**
   * @param expectedBytes - how many there will probably be.
   * @param maxBytes - how many there may be at most.
   */
  constructor(expectedBytes: number, maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#memory = Buffer.allocUnsafeSlow(Math.min(expectedBytes, maxBytes))
  }

  get length(): number {
    return this.#length
  }

  /** @throws {RangeError} when there would be more than there may be. */
  append(chunk: Uint8Array): void {
    const neededBytes = this.#length + chunk.length
    if (neededBytes > this.#maxBytes) throw new RangeError(`there may be ${this.#maxBytes} bytes, not ${neededBytes}`)
    if (neededBytes > this.#memory.length) {
      const roomier = Buffer.allocUnsafeSlow(Math.min(Math.max(neededBytes, 2 * this.#memory.length), this.#maxBytes))
      this.#memory.copy(roomier, 0, 0, this.#length)
      // Given back at once: the collector comes by when there is much more of it.
      this.#memory.buffer.transfer(0)
      this.#memory = roomier
    }
    this.#memory.set(chunk, this.#length)
    this.#length = neededBytes
  }

  /** What has come so far. Valid until more is appended. */
  bytes(): Buffer<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length)
  }

  /** Gives the memory back; nothing that `bytes` gave may be used any more. */
  release(): void {
    this.#memory.buffer.transfer(0)
    this.#memory = Buffer.alloc(0)
    this.#length = 0
  }
}
