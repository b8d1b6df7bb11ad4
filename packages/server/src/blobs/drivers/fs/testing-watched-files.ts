import { basename, dirname } from 'node:path'
import { type Files, nodeFiles } from './files.ts'

export type FileCall = keyof Files

/** A call as the log keeps it: its name and what it worked on, such as `fsync pending/i-1/0`. */
export interface LoggedCall {
  readonly call: FileCall
  readonly path: string
}

interface Fault {
  readonly call: FileCall | 'any'
  readonly errno: string
  /** How many matching calls still pass. */
  skip: number
}

/**
 * System calls that keep a log, count open descriptors, and fail on request: for tests of the fs store.
 *
 * A faulted call is not made, as with a real EIO its effect is unknown at best.
 */
export class WatchedFiles {
  readonly log: LoggedCall[] = []
  readonly openPaths = new Map<number, string>()
  readonly files: Files
  /** Bounds what one `write` or `read` moves, as a kernel may. */
  mostBytesPerCall = Number.POSITIVE_INFINITY
  /** Answers instead of the medium's own free space. */
  freeBytes: number | undefined
  #faults: Fault[] = []

  constructor() {
    const shorten = (length: number) => Math.min(length, this.mostBytesPerCall)
    this.files = {
      open: async (path, flags, mode) => {
        await this.#note('open', path)
        const fd = await nodeFiles.open(path, flags, mode)
        this.openPaths.set(fd, path)
        return fd
      },
      close: async (fd) => {
        const path = this.#pathOf(fd)
        this.openPaths.delete(fd)
        // The descriptor goes even when the close fails, as the kernel's does.
        await nodeFiles.close(fd)
        await this.#note('close', path)
      },
      read: async (fd, buffer, offset, length, position) => {
        await this.#note('read', this.#pathOf(fd))
        return nodeFiles.read(fd, buffer, offset, shorten(length), position)
      },
      write: async (fd, buffer, offset, length, position) => {
        await this.#note('write', this.#pathOf(fd))
        return nodeFiles.write(fd, buffer, offset, shorten(length), position)
      },
      fsync: async (fd) => {
        await this.#note('fsync', this.#pathOf(fd))
        await nodeFiles.fsync(fd)
      },
      fdatasync: async (fd) => {
        await this.#note('fdatasync', this.#pathOf(fd))
        await nodeFiles.fdatasync(fd)
      },
      truncate: async (fd, length) => {
        await this.#note('truncate', this.#pathOf(fd))
        await nodeFiles.truncate(fd, length)
      },
      statOpen: async (fd) => {
        await this.#note('statOpen', this.#pathOf(fd))
        return nodeFiles.statOpen(fd)
      },
      sizeOf: async (path) => {
        await this.#note('sizeOf', path)
        return nodeFiles.sizeOf(path)
      },
      rename: async (from, to) => {
        await this.#note('rename', to)
        await nodeFiles.rename(from, to)
      },
      link: async (from, to) => {
        await this.#note('link', to)
        await nodeFiles.link(from, to)
      },
      unlink: async (path) => {
        await this.#note('unlink', path)
        await nodeFiles.unlink(path)
      },
      mkdir: async (path, mode) => {
        await this.#note('mkdir', path)
        await nodeFiles.mkdir(path, mode)
      },
      rmdir: async (path) => {
        await this.#note('rmdir', path)
        await nodeFiles.rmdir(path)
      },
      readdir: async (path) => {
        await this.#note('readdir', path)
        return nodeFiles.readdir(path)
      },
      access: async (path, mode) => {
        await this.#note('access', path)
        await nodeFiles.access(path, mode)
      },
      freeBytes: async (path) => {
        await this.#note('freeBytes', path)
        return this.freeBytes ?? nodeFiles.freeBytes(path)
      },
    }
  }

  /** Makes the next `call` (after `skip` of them) fail with `errno`, once. */
  failNext(call: FileCall | 'any', errno = 'EIO', skip = 0): void {
    this.#faults.push({ call, errno, skip })
  }

  /** The calls since the last `forget`, each with the last two names of its path. */
  calls(...only: readonly FileCall[]): string[] {
    return this.log
      .filter(({ call }) => only.length === 0 || only.includes(call))
      .map(({ call, path }) => `${call} ${basename(dirname(path))}/${basename(path)}`)
  }

  forget(): void {
    this.log.length = 0
    this.#faults = []
  }

  #pathOf(fd: number): string {
    const path = this.openPaths.get(fd)
    if (path === undefined) throw new TypeError(`Descriptor ${fd} is not open.`)
    return path
  }

  async #note(call: FileCall, path: string): Promise<void> {
    this.log.push({ call, path })
    const fault = this.#faults.find((item) => item.call === call || item.call === 'any')
    if (fault === undefined) return
    if (fault.skip > 0) {
      fault.skip -= 1
      return
    }
    this.#faults.splice(this.#faults.indexOf(fault), 1)
    throw Object.assign(new Error(`${fault.errno}: injected, ${call}`), { code: fault.errno, syscall: call })
  }
}
