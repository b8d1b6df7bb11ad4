import { constants } from 'node:fs'
import type { Files } from './files.ts'
import { hasErrno } from './fs-failure.ts'

/**
 * From this size on a file is written past the page cache. It takes half the processor time, mostly for memory that would
 * hold the bytes a second time; a smaller file is soon read again, and is better found in memory.
 */
export const DIRECT_MIN_BYTES = 16 * 1024 * 1024

/** What a direct write must be a multiple of, in memory, in the file and in length: the largest sector that disks have. */
const SECTOR_BYTES = 4096

export interface PendingFileOptions {
  readonly files: Files
  readonly path: string
  readonly mode: number
  /** How long the file is going to be; undefined where nobody knows, which is taken for long. */
  readonly sizeBytes: number | undefined
}

/**
 * A file that is written once, from its beginning to its end, perhaps by one process after another, and past the page cache where that is possible.
 *
 * Direct writes need a file system that has them, and memory and lengths in whole sectors. What does not fit, most often
 * the last bytes, is written in the ordinary way to the same file; both ways never meet in one sector.
 */
export class PendingFile {
  readonly #files: Files
  readonly #fd: number
  #directFd: number | undefined
  #isDirect: boolean

  private constructor(files: Files, fd: number, directFd: number | undefined) {
    this.#files = files
    this.#fd = fd
    this.#directFd = directFd
    this.#isDirect = directFd !== undefined
  }

  /** @throws Node's own error; `EEXIST` when there is a file of this name. */
  static async create({ files, path, mode, sizeBytes }: PendingFileOptions): Promise<PendingFile> {
    const fd = await files.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode)
    try {
      const isSmall = sizeBytes !== undefined && sizeBytes < DIRECT_MIN_BYTES
      return new PendingFile(files, fd, isSmall ? undefined : await openDirect(files, path))
    } catch (error) {
      await files.close(fd)
      await files.unlink(path)
      throw error
    }
  }

  /**
   * Opens a file that was written up to here, and cuts off what is behind.
   *
   * @throws Node's own error; `ENOENT` when there is no such file.
   */
  static async reopen({
    files,
    path,
    keptBytes,
    sizeBytes,
  }: Omit<PendingFileOptions, 'mode'> & { readonly keptBytes: number }): Promise<PendingFile> {
    const fd = await files.open(path, constants.O_WRONLY)
    try {
      await files.truncate(fd, keptBytes)
      const isSmall = sizeBytes !== undefined && sizeBytes < DIRECT_MIN_BYTES
      return new PendingFile(files, fd, isSmall ? undefined : await openDirect(files, path))
    } catch (error) {
      await files.close(fd)
      throw error
    }
  }

  /** The descriptor to flush the file by. */
  get fd(): number {
    return this.#fd
  }

  /** True as long as everything but an end of less than a sector went to the medium at once. */
  get isDirect(): boolean {
    return this.#isDirect
  }

  /** Writes some of the bytes from `offset` on; answers how many. */
  async write(bytes: Uint8Array, offset: number, position: number): Promise<number> {
    const length = bytes.length - offset
    const sectorsBytes = length - (length % SECTOR_BYTES)
    const isAligned = (bytes.byteOffset + offset) % SECTOR_BYTES === 0 && position % SECTOR_BYTES === 0
    if (sectorsBytes > 0 && !isAligned) this.#isDirect = false
    if (sectorsBytes > 0 && this.#isDirect && this.#directFd !== undefined) {
      try {
        return await this.#files.write(this.#directFd, bytes, offset, sectorsBytes, position)
      } catch (error) {
        // Some file systems take the flag and not the write, and some buffers are not where they seem to be.
        if (!hasErrno(error, 'EINVAL')) throw error
        this.#isDirect = false
      }
    }
    return this.#files.write(this.#fd, bytes, offset, length, position)
  }

  /** Closes the file. A close that fails has still released the number, which may be another file's by now: never twice. */
  async close(): Promise<void> {
    const directFd = this.#directFd
    this.#directFd = undefined
    try {
      if (directFd !== undefined) await this.#files.close(directFd)
    } finally {
      await this.#files.close(this.#fd)
    }
  }
}

/** Undefined where the system or the file system has no direct writes. */
async function openDirect(files: Files, path: string): Promise<number | undefined> {
  // Not on every platform, whatever its type says.
  const flag: number | undefined = constants.O_DIRECT
  if (flag === undefined) return undefined
  try {
    return await files.open(path, constants.O_WRONLY | flag)
  } catch (error) {
    if (hasErrno(error, 'EINVAL', 'EOPNOTSUPP')) return undefined
    throw error
  }
}
