import type { ByteRange, OpenBlob } from '../../blob-store.ts'
import type { BufferList } from '../../buffer-list.ts'
import { requireRange } from '../../store-arguments.ts'
import type { Files, OpenFile } from './files.ts'
import { translated } from './fs-failure.ts'

/** Up to here memory of the read's own size is cheaper than a buffer for reads of any size. */
const OWN_MEMORY_BYTES = 128 * 1024

export interface FsBlobBodyParts {
  readonly files: Files
  readonly fd: number
  readonly file: OpenFile
  readonly buffers: BufferList
  /** Puts this file away, if it is still the blob and was not written to. */
  readonly quarantine: (file: OpenFile) => Promise<boolean>
}

/** An open file, read by position, so that several readers share it and a rename or an unlink does not disturb them. */
export class FsBlobBody implements OpenBlob {
  readonly sizeBytes: number
  readonly version: string
  readonly #parts: FsBlobBodyParts
  /** What the descriptor has to stay open for. */
  readonly #uses = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(parts: FsBlobBodyParts) {
    this.sizeBytes = parts.file.sizeBytes
    this.version = parts.file.version
    this.#parts = parts
  }

  chunks(range?: ByteRange): AsyncIterable<Uint8Array> {
    const { offset, length } = requireRange(range, this.sizeBytes)
    return length <= this.#parts.buffers.bufferBytes ? this.#wholeAt(offset, length) : this.#aheadFrom(offset, length)
  }

  async quarantine(): Promise<boolean> {
    if (this.#closing !== undefined) throw new TypeError('This body is closed.')
    // The number of the file is its own for as long as its descriptor is open.
    return this.#holdingOpen(translated(() => this.#parts.quarantine(this.#parts.file)))
  }

  close(): Promise<void> {
    this.#closing ??= translated(async () => {
      // A descriptor closed under a read may be another file's by the time the read runs.
      await Promise.allSettled(this.#uses)
      await this.#parts.files.close(this.#parts.fd)
    })
    return this.#closing
  }

  /** A window that fits in one buffer: one read. */
  async *#wholeAt(offset: number, length: number): AsyncGenerator<Uint8Array> {
    if (length === 0) return
    if (length <= OWN_MEMORY_BYTES) {
      yield await this.#read(Buffer.allocUnsafeSlow(length), offset)
      return
    }
    const { buffers } = this.#parts
    const buffer = buffers.take()
    const read = this.#read(buffer.subarray(0, length), offset)
    try {
      yield await read
    } finally {
      // A buffer belongs to the kernel until its read has settled.
      await Promise.allSettled([read])
      buffers.give(buffer)
    }
  }

  /** The halves of a buffer in turn: the next read runs while the consumer has the current chunk. */
  async *#aheadFrom(offset: number, length: number): AsyncGenerator<Uint8Array> {
    const { buffers } = this.#parts
    const end = offset + length
    const buffer = buffers.take()
    let current = buffer.subarray(0, buffer.length / 2)
    let other = buffer.subarray(buffer.length / 2)
    let ahead = this.#readWithin(current, offset, end)
    try {
      for (let position = offset; position < end; ) {
        const chunk = await ahead
        position += chunk.length
        if (position < end) ahead = this.#readWithin(other, position, end)
        yield chunk
        const spent = current
        current = other
        other = spent
      }
    } finally {
      await Promise.allSettled([ahead])
      buffers.give(buffer)
    }
  }

  #readWithin(buffer: Uint8Array, position: number, end: number): Promise<Uint8Array> {
    return this.#read(buffer.subarray(0, Math.min(buffer.length, end - position)), position)
  }

  /** Fills `buffer` from `position`, or throws. */
  #read(buffer: Uint8Array, position: number): Promise<Uint8Array> {
    return this.#holdingOpen(this.#fill(buffer, position))
  }

  #holdingOpen<Value>(use: Promise<Value>): Promise<Value> {
    this.#uses.add(use)
    const forget = () => this.#uses.delete(use)
    // Also marks a read-ahead that fails as handled: its consumer may never ask for it.
    use.then(forget, forget)
    return use
  }

  async #fill(buffer: Uint8Array, position: number): Promise<Uint8Array> {
    if (this.#closing !== undefined) throw new TypeError('This body is closed.')
    await translated(async () => {
      for (let filled = 0; filled < buffer.length; ) {
        const { files, fd } = this.#parts
        const bytes = await files.read(fd, buffer, filled, buffer.length - filled, position + filled)
        if (bytes === 0) throw new Error('The file ends before its size.')
        filled += bytes
      }
    })
    return buffer
  }
}
