import { createHash } from 'node:crypto'
import { createReadStream, openAsBlob } from 'node:fs'
import { lstat, mkdir, readlink, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { FolderNode, LadeClient } from '@lade/client'
import { parseContentId } from '@lade/core/content'
import { LadeError } from '@lade/core/errors'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { printable } from '../output/printable.ts'
import { LocalError } from '../usage-error.ts'
import { entryName, staysWithin } from './local-path.ts'
import { existsAlready } from './part-file.ts'
import { fetchInto } from './save-file.ts'

const FILES_AT_ONCE = 6

export interface SaveFolderOptions {
  /** Where what is in the folder is written. Made if it is not there. */
  readonly target: string
  readonly mayReplace: boolean
  readonly platform: NodeJS.Platform
  readonly signal: AbortSignal
  readonly onProgress: (progress: {
    readonly files: number
    readonly doneFiles: number
    readonly bytes: number
  }) => void
}

/** A folder that was written. */
export interface SavedFolder {
  readonly files: number
  /** Of all files. */
  readonly bytes: number
  /** Files that were fetched now; the others were there. */
  readonly fetchedFiles: number
  /** What could not be written under its name, or at all, as sentences. */
  readonly remarks: readonly string[]
}

type Node<Kind extends FolderNode['kind']> = FolderNode & { readonly kind: Kind }

/**
 * Fetches all that is in a folder, each file by its own CID, and checks it. Files that are there already are not fetched again.
 *
 * Nothing is written outside of the target: names that are none become others, no symlink on disk is followed, and symlinks of the folder are
 * made last, and only if they lead to a place in it.
 *
 * @param nodes - what is below the folder, as `client.readFolder` gives it.
 * @throws {LocalError} when something else is at a place already.
 */
export async function saveFolder(
  client: LadeClient,
  nodes: AsyncIterable<FolderNode>,
  options: SaveFolderOptions,
): Promise<SavedFolder> {
  const { target, platform, signal, onProgress } = options
  const remarks: string[] = []
  const places = new Map<string, FolderNode>()
  const tree = new Map<string, string | true>()
  for await (const node of nodes) {
    signal.throwIfAborted()
    const path = node.names.map((name) => entryName(name, node.cid, platform)).join('/')
    const own = node.names.join('/')
    if (path !== own) remarks.push(`${printable(own)} is saved as ${printable(path)}.`)
    if (places.has(path)) remarks.push(`${printable(own)} is left out: its name is there twice.`)
    else places.set(path, node)
    tree.set(path, node.kind === 'symlink' ? node.target : true)
  }
  const all = [...places]
  await mkdir(target, { recursive: true })
  for (const [path, node] of all) if (node.kind === 'folder') await ensureFolder(target, path)
  const files = all.filter((one): one is [string, Node<'file'>] => one[1].kind === 'file')
  const queue = files.values()
  let doneFiles = 0
  let bytes = 0
  let fetchedFiles = 0
  const work = async (): Promise<void> => {
    for (const [path, node] of queue) {
      signal.throwIfAborted()
      const saved = await saveOne(client, join(target, path), node, options)
      doneFiles += 1
      bytes += saved.sizeBytes
      if (saved.isFetched) fetchedFiles += 1
      onProgress({ files: files.length, doneFiles, bytes })
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: FILES_AT_ONCE }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  for (const [path, node] of all) {
    if (node.kind !== 'symlink') continue
    if (platform === 'win32' || !staysWithin(path, node.target, tree)) {
      remarks.push(`${printable(path)} is left out: it is a symbolic link to ${printable(node.target)}.`)
    } else await linkOne(join(target, path), node.target, options)
  }
  return { files: files.length, bytes, fetchedFiles, remarks }
}

/** Makes a folder below the target, and follows no link on the way. */
async function ensureFolder(target: string, path: string): Promise<void> {
  let place = target
  for (const name of path.split('/').filter((name) => name !== '')) {
    place = join(place, name)
    await mkdir(place).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
    if (!(await lstat(place)).isDirectory())
      throw new LocalError(`${place} is not a folder. Remove it, or choose another place with -o.`)
  }
}

async function saveOne(
  client: LadeClient,
  place: string,
  { cid, sizeBytes }: Node<'file'>,
  { mayReplace, signal }: SaveFolderOptions,
): Promise<{ readonly sizeBytes: number; readonly isFetched: boolean }> {
  const found = await statOrNone(place)
  if (found !== undefined) {
    const isSameSize = found.isFile() && (sizeBytes === undefined || found.size === sizeBytes)
    if (isSameSize && (await isContent(client, place, cid, signal))) return { sizeBytes: found.size, isFetched: false }
    if (!mayReplace) throw existsAlready(place)
  }
  const fresh = await client.get(cid, { signal })
  const { download } = await fetchInto(client, fresh, place, { signal, mayReplace })
  return { sizeBytes: download.sizeBytes, isFetched: true }
}

/** True when a file has the CID. Of a file of several blocks, the service is asked for its size and no bytes. */
async function isContent(client: LadeClient, place: string, cid: string, signal: AbortSignal): Promise<boolean> {
  const { sha256 } = parseContentId(cid, sha256Hex)
  if (sha256 !== undefined) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(place)) hash.update(chunk as Buffer)
    return hash.digest('hex') === sha256
  }
  try {
    const have = await openAsBlob(place)
    for await (const _ of (await client.get(cid, { have, signal })).body);
    return true
  } catch (error) {
    if (LadeError.has(error, 'cid_mismatch') || LadeError.has(error, 'range_not_satisfiable')) return false
    throw error
  }
}

async function linkOne(place: string, target: string, { mayReplace }: SaveFolderOptions): Promise<void> {
  const found = await statOrNone(place)
  if (found?.isSymbolicLink() && (await readlink(place)) === target) return
  if (found !== undefined) {
    if (!mayReplace || found.isDirectory()) throw existsAlready(place)
    await rm(place)
  }
  await symlink(target, place)
}

async function statOrNone(place: string) {
  try {
    return await lstat(place)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
