import { constants } from 'node:fs'
import { join } from 'node:path'
import type { Files } from './files.ts'
import { isReadOnly } from './fs-failure.ts'

/**
 * Remembers that the file system refused a write. Whether it may be written to by its mount options is not enough to know: one that an
 * error made read-only lets files be opened for writing, and takes no bytes.
 */
export class WriteWatch {
  readonly #files: Files
  readonly #path: string
  #hasRefused = false

  /** @param dir - where a file can be made for a moment. */
  constructor(files: Files, dir: string) {
    this.#files = files
    this.#path = join(dir, 'writable.tmp')
  }

  /** Runs a change, and notes when it is refused as `EROFS`. */
  async change<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      if (isReadOnly(error)) this.#hasRefused = true
      throw error
    }
  }

  /** Tries a write if the last one was refused. @throws what the system says. */
  async confirm(): Promise<void> {
    if (!this.#hasRefused) return
    const fd = await this.#files.open(this.#path, constants.O_WRONLY | constants.O_CREAT, 0o600)
    await this.#files.close(fd)
    await this.#files.unlink(this.#path)
    this.#hasRefused = false
  }
}
