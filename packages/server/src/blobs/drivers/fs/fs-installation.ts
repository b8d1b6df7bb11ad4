import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { join } from 'node:path'
import type { InstallationText } from '../../blob-store.ts'
import type { Files } from './files.ts'
import { hasErrno, translated, unlessMissing } from './fs-failure.ts'
import type { Syncs } from './syncs.ts'

const NAME = 'installation.json'
const TEMPORARY = /^installation\.json\.[0-9a-f]{16}\.tmp$/
const FILE_MODE = 0o600
/** More than any text that is written here. */
const MOST_BYTES = 65_536

export interface FsInstallationOptions {
  readonly dir: string
  readonly files: Files
  readonly syncs: Syncs
  /** Rejects when the place of the blobs is not there. */
  readonly confirmPresent: () => Promise<undefined>
}

/** The text in `<dir>/installation.json`: a temporary file, fsync, rename, fsync of the directory. */
export function fsInstallation({ dir, files, syncs, confirmPresent }: FsInstallationOptions): InstallationText {
  const path = join(dir, NAME)

  async function readText(): Promise<string | undefined> {
    const fd = await unlessMissing(() => files.open(path, constants.O_RDONLY))
    if (fd === undefined) return confirmPresent()
    try {
      const buffer = new Uint8Array(MOST_BYTES)
      let length = 0
      for (;;) {
        const read = await files.read(fd, buffer, length, MOST_BYTES - length, length)
        length += read
        if (read === 0 || length === MOST_BYTES) break
      }
      return Buffer.from(buffer.subarray(0, length)).toString('utf8')
    } finally {
      await files.close(fd)
    }
  }

  async function writeTemporary(text: string): Promise<string> {
    const temporary = `${path}.${randomBytes(8).toString('hex')}.tmp`
    const fd = await files.open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, FILE_MODE)
    try {
      const bytes = Buffer.from(text)
      for (let done = 0; done < bytes.length; ) {
        done += await files.write(fd, bytes, done, bytes.length - done, done)
      }
      await syncs.file(fd)
    } catch (error) {
      await files.unlink(temporary).catch(() => {})
      throw error
    } finally {
      await files.close(fd)
    }
    return temporary
  }

  /** @returns false when the name is taken. */
  async function linkUnlessTaken(temporary: string): Promise<boolean> {
    try {
      await files.link(temporary, path)
      return true
    } catch (error) {
      if (hasErrno(error, 'EEXIST')) return false
      if (!hasErrno(error, 'EPERM', 'ENOTSUP', 'ENOSYS')) throw error
      // A file system without second names.
      if ((await readText()) !== undefined) return false
      await files.rename(temporary, path)
      return true
    } finally {
      await unlessMissing(() => files.unlink(temporary)).catch(() => {})
    }
  }

  async function writeText(text: string, ifAbsent: boolean): Promise<boolean> {
    // The empty place of an unmounted disk must stay empty.
    await confirmPresent()
    try {
      return await publish(text, ifAbsent)
    } catch (error) {
      if (!hasErrno(error, 'ENOENT')) throw error
      // Another process opened the store meanwhile, and took the temporary file for one that a crash left.
      return publish(text, ifAbsent)
    }
  }

  async function publish(text: string, ifAbsent: boolean): Promise<boolean> {
    const temporary = await writeTemporary(text)
    if (ifAbsent) {
      if (!(await linkUnlessTaken(temporary))) return false
    } else {
      try {
        await files.rename(temporary, path)
      } catch (error) {
        await files.unlink(temporary).catch(() => {})
        throw error
      }
    }
    await syncs.directory(dir)
    return true
  }

  return {
    read: () => translated(readText),
    write: (text, { ifAbsent = false } = {}) => translated(() => writeText(text, ifAbsent)),
  }
}

/** True for the name of a file that a crash left while the text was being written. */
export function isLeftInstallationFile(name: string): boolean {
  return TEMPORARY.test(name)
}

/** True for a directory that holds a store, by the names in it: a mount point without its disk does not. */
export function holdsStore(names: readonly string[]): boolean {
  return names.some((name) => name === NAME || name === 'pending' || /^[0-9a-f]{2}$/.test(name))
}
