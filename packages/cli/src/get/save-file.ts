import { stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Download, GetOptions, LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { LocalError } from '../usage-error.ts'
import { exists, existsAlready, PartFile } from './part-file.ts'
import { safeName } from './safe-name.ts'

export interface SaveFileOptions extends Pick<GetOptions, 'share' | 'signal' | 'onProgress'> {
  readonly cwd: string
  /** A path, or an existing folder to save into. Absent: the working directory, under the name that the service gives. */
  readonly output?: string | undefined
  /** In place of the name that the service gives. */
  readonly name?: string | undefined
  /** Replaces a file that is there. */
  readonly mayReplace: boolean
}

/** A download that was written to a file. */
export interface SavedFile {
  readonly download: Download
  /** Relative to the working directory where it lies in it. */
  readonly shown: string
  /** What was there from an earlier fetch, and is not fetched again. */
  readonly resumedBytes: number
}

/**
 * Fetches a file and gives it its name when it is whole and has its content id. An earlier fetch that did not come to its end is gone on with.
 *
 * Nothing is written outside the folder asked for, whatever name the service suggests.
 *
 * @throws {LadeError} `cid_mismatch` when the bytes do not have the id: nothing is kept then. Others keep what has come.
 * @throws {LocalError} when there is a file already, or no folder to save into.
 */
export async function saveFile(client: LadeClient, cid: string, options: SaveFileOptions): Promise<SavedFile> {
  const { share, signal, onProgress, mayReplace, cwd } = options
  const { folder, name } = await placeOf(options)
  const refuseExisting = async (path: string) => {
    if (!mayReplace && (await exists(path))) throw existsAlready(shownPath(path, cwd))
  }
  if (name !== undefined) await refuseExisting(join(folder, name))

  // The answer says the name, and the name where an earlier part lies.
  const fresh = await client.get(cid, { share, signal, onProgress })
  const target = join(folder, name ?? options.name ?? safeName(fresh.filename, safeName(cid, 'download')))
  const shown = shownPath(target, cwd)
  try {
    await refuseExisting(target)
    const { download, resumedBytes } = await fetchInto(client, fresh, target, options)
    return { download, shown, resumedBytes }
  } finally {
    // Does nothing to a body that has been read.
    await fresh.body.cancel().catch(() => undefined)
  }
}

/**
 * Fetches what an answer has begun into its place, or goes on with what is there of it.
 *
 * @throws as `saveFile`.
 */
export async function fetchInto(
  client: LadeClient,
  fresh: Download,
  target: string,
  { share, signal, onProgress, mayReplace }: Omit<SaveFileOptions, 'cwd' | 'output' | 'name'>,
): Promise<Omit<SavedFile, 'shown'>> {
  const { cid } = fresh
  const part = new PartFile(target, cid)
  try {
    // Bytes that cannot be checked are not put together from two fetches.
    if (!fresh.verified) await part.discard()
    const left = await part.have()
    // What is longer than the file is not its beginning.
    const have = left === undefined || left.size > fresh.sizeBytes ? undefined : left
    const resumed =
      have === undefined ? undefined : await resume(client, cid, part, { share, signal, onProgress, have })
    const download = resumed?.download ?? fresh
    if (resumed === undefined) await part.write(download.body, 0)
    await part.publish({ mayReplace })
    return { download, resumedBytes: resumed?.haveBytes ?? 0 }
  } catch (error) {
    if (LadeError.has(error, 'cid_mismatch')) await part.discard()
    throw error
  } finally {
    await fresh.body.cancel().catch(() => undefined)
  }
}

/** Goes on with what is there; undefined when that turns out not to be the beginning of the file. */
async function resume(
  client: LadeClient,
  cid: string,
  part: PartFile,
  options: GetOptions & { readonly have: Blob },
): Promise<{ readonly download: Download; readonly haveBytes: number } | undefined> {
  const haveBytes = options.have.size
  try {
    const download = await client.get(cid, options)
    await part.write(download.body, haveBytes)
    return { download, haveBytes }
  } catch (error) {
    // The part may have been damaged where it lay, so the whole is fetched once more.
    if (!LadeError.has(error, 'cid_mismatch')) throw error
    await part.discard()
    return undefined
  }
}

async function placeOf({ cwd, output }: SaveFileOptions): Promise<{ folder: string; name?: string }> {
  if (output === undefined) return { folder: cwd }
  const path = resolve(cwd, output)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return { folder: path }
  if (/[/\\]$/.test(output)) throw noFolder(output)
  const folder = resolve(path, '..')
  const parent = await stat(folder).catch(() => undefined)
  if (parent?.isDirectory() !== true) throw noFolder(shownPath(folder, cwd))
  return { folder, name: relative(folder, path) }
}

function noFolder(shown: string): LocalError {
  return new LocalError(`There is no folder ${shown}. Create it first.`)
}

function shownPath(path: string, cwd: string): string {
  const fromHere = relative(cwd, path)
  return fromHere.startsWith('..') ? path : fromHere
}
