/** Reads a stream that comes once, by so many bytes at a time. */
export class ChunkReader {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #signal: AbortSignal
  #rest: Uint8Array | undefined
  #isDone = false

  constructor(source: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array>, signal: AbortSignal) {
    this.#iterator = 'getReader' in source ? iterate(source) : source[Symbol.asyncIterator]()
    this.#signal = signal
  }

  /**
   * The next bytes, at least one and at most so many; undefined at the end.
   *
   * @throws what the stream ends by, or the reason of the signal, also while the stream says nothing.
   * @throws {TypeError} for what is no bytes.
   */
  async next(maxBytes: number): Promise<Uint8Array | undefined> {
    while (this.#rest === undefined || this.#rest.length === 0) {
      if (this.#isDone) return undefined
      const { done, value } = await this.#nextOrAbort()
      if (done === true) this.#isDone = true
      else if (value instanceof Uint8Array) this.#rest = value
      else throw new TypeError('A stream passed to put() must yield Uint8Arrays')
    }
    const chunk = this.#rest.subarray(0, maxBytes)
    this.#rest = this.#rest.subarray(chunk.length)
    return chunk
  }

  /** Tells the source that no more is wanted. A source that hangs is not waited for. */
  close(): void {
    if (this.#isDone) return
    this.#isDone = true
    Promise.resolve(this.#iterator.return?.()).catch(() => {})
  }

  #nextOrAbort(): Promise<IteratorResult<Uint8Array>> {
    const signal = this.#signal
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(signal.reason)
      if (signal.aborted) return giveUp()
      signal.addEventListener('abort', giveUp, { once: true })
      this.#iterator
        .next()
        .then(resolve, reject)
        .finally(() => signal.removeEventListener('abort', giveUp))
    })
  }
}

/** Not every browser's streams can be iterated. */
function iterate(stream: ReadableStream<Uint8Array>): AsyncIterator<Uint8Array> {
  const reader = stream.getReader()
  return {
    async next() {
      const { done, value } = await reader.read()
      return done ? { done: true, value: undefined } : { done: false, value }
    },
    async return() {
      await reader.cancel()
      return { done: true, value: undefined }
    },
  }
}
