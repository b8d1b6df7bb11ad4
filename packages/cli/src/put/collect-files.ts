import type { Dirent, Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { statOf } from '../local-file.ts'
import { LocalError, UsageError } from '../usage-error.ts'

/** A file to be put. */
export interface LocalFile {
  /** Absolute. */
  readonly path: string
  /** As it is called in what is printed: as named on the command line, or below what was. */
  readonly shown: string
  /** The name it is staged under. */
  readonly name: string
  readonly sizeBytes: number
  /** Tells two states of the file apart: its size, its times and where it lies. */
  readonly version: string
}

/** A folder that is put as one. */
export interface LocalFolder {
  /** Absolute. */
  readonly folder: string
  readonly shown: string
}

/** Something in a folder that is not put, and why. */
export interface LeftOut {
  readonly shown: string
  readonly because: 'hidden' | 'link' | 'special'
}

/** The files below the paths that were named, and the entries that are left out. */
export interface Collected {
  readonly files: readonly LocalFile[]
  /** Folders that are put as one, each with all that is in it. */
  readonly folders: readonly LocalFolder[]
  readonly leftOut: readonly LeftOut[]
}

export interface CollectOptions {
  readonly cwd: string
  /** Takes folders, and everything below them. */
  readonly isRecursive: boolean
  /** Takes each file of a folder by itself, and no folder as one. */
  readonly isLoose: boolean
  /** Takes what begins with a dot, too, when it is met in a folder. */
  readonly takesHidden: boolean
}

/**
 * Finds the files that `names` mean, in the order of their paths.
 *
 * What is named is taken whatever it is called, and followed where it is a link. Below a folder, links are not followed,
 * and hidden files and what is no file are left out, and listed.
 *
 * @throws {LocalError} for a name that leads to nothing, or to what cannot be put.
 * @throws {UsageError} for a folder without `isRecursive`.
 */
export async function collectFiles(names: readonly string[], options: CollectOptions): Promise<Collected> {
  const files: LocalFile[] = []
  const folders: LocalFolder[] = []
  const leftOut: LeftOut[] = []
  for (const shown of names) {
    const path = resolve(options.cwd, shown)
    const found = await statOf(path, shown)
    if (found.isDirectory()) {
      if (!options.isRecursive) throw new UsageError(`${shown} is a folder. Add -r to upload it.`)
      if (options.isLoose) await collectFolder(path, shown, options, { files, leftOut })
      else folders.push({ folder: path, shown })
    } else if (!found.isFile()) {
      throw new LocalError(`${shown} is not a regular file. Pipe its content into "lade put -".`)
    } else files.push(localFileOf(path, shown, found))
  }
  return { files, folders, leftOut }
}

async function collectFolder(
  folder: string,
  shownFolder: string,
  options: CollectOptions,
  into: { readonly files: LocalFile[]; readonly leftOut: LeftOut[] },
): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true })
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const path = join(folder, entry.name)
    const shown = join(shownFolder, entry.name)
    const because = reasonAgainst(entry, options)
    if (because !== undefined) into.leftOut.push({ shown, because })
    else if (entry.isDirectory()) await collectFolder(path, shown, options, into)
    else into.files.push(localFileOf(path, shown, await statOf(path, shown)))
  }
}

function reasonAgainst(entry: Dirent, { takesHidden }: CollectOptions): LeftOut['because'] | undefined {
  if (entry.name.startsWith('.') && !takesHidden) return 'hidden'
  if (entry.isSymbolicLink()) return 'link'
  return entry.isFile() || entry.isDirectory() ? undefined : 'special'
}

function localFileOf(path: string, shown: string, { size, mtimeMs, ctimeMs, ino }: Stats): LocalFile {
  return { path, shown, name: basename(path), sizeBytes: size, version: [size, mtimeMs, ctimeMs, ino].join(' ') }
}
