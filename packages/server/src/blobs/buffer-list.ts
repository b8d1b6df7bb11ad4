/**
 * Buffers of one size, kept for reuse.
 *
 * Fresh memory is dear: its first touch is a page fault for every 4 KiB. A buffer that nobody gives back is simply
 * collected, and one given back beyond `keepAtMost` is dropped, so the list bounds what is kept and never what is in use.
 * Contents are not cleared: a taker reads only what it has written.
 */
export class BufferList {
  readonly bufferBytes: number
  readonly #keepAtMost: number
  readonly #isShared: boolean
  readonly #spare: Uint8Array[] = []

  /** @param options.isShared - true for buffers that another thread is to read. @default false */
  constructor(options: { bufferBytes: number; keepAtMost: number; isShared?: boolean }) {
    this.bufferBytes = options.bufferBytes
    this.#isShared = options.isShared ?? false
    this.#keepAtMost = options.keepAtMost
  }

  take(): Uint8Array {
    const spare = this.#spare.pop()
    if (spare !== undefined) return spare
    if (this.#isShared) return new Uint8Array(new SharedArrayBuffer(this.bufferBytes))
    return Buffer.allocUnsafeSlow(this.bufferBytes)
  }

  /** Gives back a buffer of this list that nothing reads or writes any more. */
  give(buffer: Uint8Array): void {
    if (buffer.length !== this.bufferBytes) throw new TypeError('This buffer is not one of this list.')
    if (this.#spare.length < this.#keepAtMost) this.#spare.push(buffer)
  }
}
