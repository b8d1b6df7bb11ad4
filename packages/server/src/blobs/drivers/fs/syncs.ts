import { constants } from 'node:fs'
import type { Files } from './files.ts'
import { isOutOfSpace, isReadOnly } from './fs-failure.ts'

/**
 * Every fsync of the store goes through here, so that one that failed is known to the readiness check.
 *
 * After a failed fsync the kernel may drop the dirty pages and report success on the next try, so nothing here retries:
 * the caller gives up what it was writing. A full disk fails the caller and is no sign of a bad medium.
 */
export class Syncs {
  readonly #files: Files
  #failure: unknown

  constructor(files: Files) {
    this.#files = files
  }

  /** The last failure that no later flush has answered, or `undefined`. */
  get failure(): unknown {
    return this.#failure
  }

  /** Makes the bytes and the length of an open file durable. */
  async file(fd: number): Promise<void> {
    await this.#watched(() => this.#files.fsync(fd))
    this.#failure = undefined
  }

  /** Starts bytes on their way to the medium; what it flushed is confirmed by the later `file`. */
  async fileData(fd: number): Promise<void> {
    await this.#watched(() => this.#files.fdatasync(fd))
  }

  /** Makes the names in a directory durable. */
  async directory(path: string): Promise<void> {
    const fd = await this.#files.open(path, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await this.#watched(() => this.#files.fsync(fd))
    } finally {
      await this.#files.close(fd)
    }
  }

  async #watched(sync: () => Promise<void>): Promise<void> {
    try {
      await sync()
    } catch (error) {
      if (!isOutOfSpace(error) && !isReadOnly(error)) this.#failure = error
      throw error
    }
  }
}
