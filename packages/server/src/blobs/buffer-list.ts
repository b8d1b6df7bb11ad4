import { allocateReadBuffer } from '@lade/node/memory/read-buffer'

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
  readonly #spare: Uint8Array[] = []

  constructor(options: { bufferBytes: number; keepAtMost: number }) {
    this.bufferBytes = options.bufferBytes
    this.#keepAtMost = options.keepAtMost
  }

  take(): Uint8Array {
    return this.#spare.pop() ?? allocateReadBuffer(this.bufferBytes)
  }

  /** Gives back a buffer of this list that nothing reads or writes any more. */
  give(buffer: Uint8Array): void {
    if (buffer.length !== this.bufferBytes) throw new TypeError('This buffer is not one of this list.')
    if (this.#spare.length < this.#keepAtMost) this.#spare.push(buffer)
  }
}
