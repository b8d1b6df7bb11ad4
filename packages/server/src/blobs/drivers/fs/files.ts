import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** What one look at an open file tells. */
export interface OpenFile {
  readonly sizeBytes: number
  /** Changes whenever the file is another one, or was written to or renamed since. */
  readonly version: string
  /** How many names it has. */
  readonly links: number
  /** The file itself, whatever it is called and holds: no other one has this number while it is open. */
  readonly inode: bigint
}

/**
 * The calls that the fs store makes, each one system call, so that a test can watch and fail every one of them.
 *
 * Descriptors are plain numbers: the hot path pays for no wrapper object. Failures are Node's, with their `code`.
 */
export interface Files {
  open(path: string, flags: number, mode?: number): Promise<number>
  close(fd: number): Promise<void>
  /** Bytes read, 0 at the end of the file. */
  read(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>
  /** Bytes written, which may be fewer than asked. */
  write(fd: number, buffer: Uint8Array, offset: number, length: number, position: number): Promise<number>
  fsync(fd: number): Promise<void>
  fdatasync(fd: number): Promise<void>
  /** Cuts an open file to this length. */
  truncate(fd: number, length: number): Promise<void>
  statOpen(fd: number): Promise<OpenFile>
  sizeOf(path: string): Promise<number>
  rename(from: string, to: string): Promise<void>
  /** Gives a file a second name, which must not be taken (`EEXIST`). */
  link(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string, mode: number): Promise<void>
  rmdir(path: string): Promise<void>
  readdir(path: string): Promise<string[]>
  /** Rejects unless this process may do what `mode` (`R_OK`, `W_OK`, `X_OK`) says. */
  access(path: string, mode: number): Promise<void>
  /** Bytes that an unprivileged process may still write to the file system of `path`. */
  freeBytes(path: string): Promise<number>
}

const open = promisify(fs.open)
const fstat = (fd: number) =>
  new Promise<fs.BigIntStats>((resolve, reject) => {
    fs.fstat(fd, { bigint: true }, (error, stats) => (error === null ? resolve(stats) : reject(error)))
  })
const stat = promisify(fs.stat)
const statfs = promisify(fs.statfs)
const mkdir = promisify(fs.mkdir)
const readdir = promisify(fs.readdir)

/** The real ones, on the thread pool of Node. */
export const nodeFiles: Files = {
  open: (path, flags, mode) => open(path, flags, mode),
  close: promisify(fs.close),
  read: (fd, buffer, offset, length, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, buffer, offset, length, position, (error, bytes) => (error === null ? resolve(bytes) : reject(error)))
    }),
  write: (fd, buffer, offset, length, position) =>
    new Promise((resolve, reject) => {
      fs.write(fd, buffer, offset, length, position, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      )
    }),
  fsync: promisify(fs.fsync),
  fdatasync: promisify(fs.fdatasync),
  truncate: promisify(fs.ftruncate),
  statOpen: async (fd) => {
    const { ino, mtimeNs, ctimeNs, size, nlink } = await fstat(fd)
    const version = `${ino}-${mtimeNs}-${ctimeNs}-${size}`
    return { sizeBytes: Number(size), version, links: Number(nlink), inode: ino }
  },
  sizeOf: async (path) => (await stat(path)).size,
  rename: promisify(fs.rename),
  link: promisify(fs.link),
  unlink: promisify(fs.unlink),
  mkdir: async (path, mode) => {
    await mkdir(path, { mode })
  },
  rmdir: promisify(fs.rmdir),
  readdir: (path) => readdir(path),
  access: (path, mode) => promisify(fs.access)(path, mode),
  freeBytes: async (path) => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  },
}
