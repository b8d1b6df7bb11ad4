import { constants } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, removeIfEmpty } from './directories.ts'
import type { Files } from './files.ts'
import { hasErrno, unlessMissing } from './fs-failure.ts'
import { PendingFile } from './pending-file.ts'
import type { Syncs } from './syncs.ts'

/** Blobs are private to the service: other accounts of the machine do not read them. */
const FILE_MODE = 0o600

/** The files on their way in: `<dir>/pending/<holder>/<n>`. */
export class FsPendingDirectory {
  readonly path: string
  readonly #files: Files
  #count = 0

  constructor(files: Files, dir: string) {
    this.#files = files
    this.path = join(dir, 'pending')
  }

  /** Makes a new file for the holder, whatever an earlier process left there. */
  async create(holder: string, sizeBytes: number | undefined): Promise<{ path: string; file: PendingFile }> {
    const holderDir = join(this.path, holder)
    let hasMadeHolderDir = false
    let path = join(holderDir, String(this.#count++))
    for (;;) {
      try {
        return { path, file: await PendingFile.create({ files: this.#files, path, mode: FILE_MODE, sizeBytes }) }
      } catch (error) {
        if (hasErrno(error, 'EEXIST')) {
          path = join(holderDir, String(this.#count++))
        } else if (hasErrno(error, 'ENOENT') && !hasMadeHolderDir) {
          await makeDirectory(this.#files, holderDir)
          hasMadeHolderDir = true
        } else {
          throw error
        }
      }
    }
  }

  /** Makes the name of a holder's file durable, and that of its directory. */
  async syncNames(syncs: Syncs, holder: string): Promise<void> {
    await syncs.directory(join(this.path, holder))
    await syncs.directory(this.path)
  }

  pathOf(holder: string, name: string): string {
    return join(this.path, holder, name)
  }

  holders(): Promise<string[]> {
    return this.#files.readdir(this.path)
  }

  /** Removes the files of a holder. Resolves to how many there were. */
  async sweep(holder: string): Promise<number> {
    const holderDir = join(this.path, holder)
    const names = (await unlessMissing(() => this.#files.readdir(holderDir))) ?? []
    for (const name of names) await unlessMissing(() => this.#files.unlink(join(holderDir, name)))
    await removeIfEmpty(this.#files, holderDir)
    return names.length
  }

  /** Rejects unless it exists. An unmounted disk has no files either: blobs are absent only from a store that is there. */
  async confirmPresent(): Promise<undefined> {
    await this.#files.sizeOf(this.path)
    return undefined
  }

  /** Rejects unless files can be made here and listed. */
  async confirmUsable(): Promise<void> {
    await this.#files.access(this.path, constants.R_OK | constants.W_OK | constants.X_OK)
  }
}
