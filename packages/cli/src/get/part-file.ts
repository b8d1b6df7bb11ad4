import { createHash } from 'node:crypto'
import { constants, openAsBlob } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises'
import { LocalError } from '../usage-error.ts'

/**
 * A file that is being fetched: it lies beside its place as `NAME.part-…`, and takes the place when it is whole.
 *
 * The part is called after the content id, so that a later fetch of the same id goes on with it, and two at once write the
 * same bytes to the same places.
 */
export class PartFile {
  readonly path: string
  readonly #target: string

  /** @param target - the path that the file is to have. */
  constructor(target: string, cid: string) {
    this.#target = target
    this.path = `${target}.part-${createHash('sha256').update(cid).digest('hex').slice(0, 8)}`
  }

  /** What is there from an earlier fetch; undefined when nothing is. */
  async have(): Promise<Blob | undefined> {
    const found = await lstat(this.path).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    })
    return found === undefined || !found.isFile() || found.size === 0 ? undefined : openAsBlob(this.path)
  }

  /**
   * Writes `body` behind the first `haveBytes`, and makes it durable.
   *
   * When the body ends in an error, what came stays for a later fetch.
   */
  async write(body: AsyncIterable<Uint8Array>, haveBytes: number): Promise<void> {
    await using file = await this.#open()
    let offsetBytes = haveBytes
    for await (const chunk of body) {
      await writeAll(file, chunk, offsetBytes)
      offsetBytes += chunk.length
    }
    await file.truncate(offsetBytes)
    await file.sync()
  }

  /**
   * Gives the file its name. Without `mayReplace` a file that has the name keeps it, also one that came a moment ago.
   *
   * @throws {LocalError} when there is one; the part then stays.
   */
  async publish({ mayReplace }: { readonly mayReplace: boolean }): Promise<void> {
    if (mayReplace) return rename(this.path, this.#target)
    try {
      // Unlike a rename, a link never takes the place of a file.
      await link(this.path, this.#target)
    } catch (error) {
      if (hasCode(error, 'EEXIST')) throw existsAlready(this.#target)
      if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) throw error
      // A file system without links, such as FAT.
      if (await exists(this.#target)) throw existsAlready(this.#target)
      return rename(this.path, this.#target)
    }
    await rm(this.path, { force: true })
  }

  async discard(): Promise<void> {
    await rm(this.path, { force: true })
  }

  async #open(): Promise<FileHandle> {
    try {
      // In a folder where others may write, the name could be a link of theirs to a file of mine.
      return await open(this.path, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      return open(this.path, 'wx+')
    }
  }
}

/** The refusal to write where something is. */
export function existsAlready(path: string): LocalError {
  return new LocalError(`${path} already exists. Replace it with --force, or choose another name with -o.`)
}

/** True for anything at `path`, also a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

async function writeAll(file: FileHandle, chunk: Uint8Array, offsetBytes: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, offsetBytes + done)
    done += bytesWritten
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
