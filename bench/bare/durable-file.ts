import { close, constants, fdatasync, fsync, open, write } from 'node:fs'
import { promisify } from 'node:util'

/** Flushing starts each time this much more has been written, so that little is left for the end. */
const FLUSH_EVERY_BYTES = 8 * 1024 * 1024

/** A new file that is flushed while it is still being written. */
export class DurableFile {
  readonly #descriptor: number
  #nextOffset = 0
  #writing = 0
  #sinceFlushBytes = 0
  #flushing: Promise<void> | undefined
  #failure: Error | undefined
  #onIdle: (() => void) | undefined

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Creates `path`, which must not exist. */
  static async create(path: string): Promise<DurableFile> {
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY
    return new DurableFile(await promisify(open)(path, flags, 0o600))
  }

  /** Starts writing `bytes` behind what was appended before; `onWritten` says when they may be changed again. */
  append(bytes: Uint8Array, onWritten: () => void): void {
    const offset = this.#nextOffset
    this.#nextOffset += bytes.length
    this.#writing++
    write(this.#descriptor, bytes, 0, bytes.length, offset, (error, writtenBytes) => {
      this.#writing--
      if (error !== null) this.#failure = error
      else if (writtenBytes !== bytes.length) this.#failure = new Error('a write was cut short')
      this.#sinceFlushBytes += bytes.length
      this.#startFlush()
      onWritten()
      if (this.#writing === 0) this.#onIdle?.()
    })
  }

  /** Waits until all of it is on the disk, and closes. */
  async finish(): Promise<void> {
    if (this.#writing > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    await this.#flushing
    await promisify(fsync)(this.#descriptor)
    await promisify(close)(this.#descriptor)
    if (this.#failure !== undefined) throw this.#failure
  }

  #startFlush(): void {
    if (this.#sinceFlushBytes < FLUSH_EVERY_BYTES || this.#flushing !== undefined) return
    this.#sinceFlushBytes = 0
    this.#flushing = promisify(fdatasync)(this.#descriptor)
      .catch((error: Error) => {
        this.#failure = error
      })
      .finally(() => {
        this.#flushing = undefined
      })
  }
}
