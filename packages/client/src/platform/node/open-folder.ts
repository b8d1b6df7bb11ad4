import { type Dirent, lstatSync } from 'node:fs'
import { readdir, readlink, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { LadeError } from '@lade/core/errors'
import type { OpenedFolder, SourceFile, SourceItem, WalkOptions } from '../../put-folder/source-item.ts'
import { fingerprintOf, openFile } from './path-source.ts'
import { SmallFiles } from './small-files.ts'
import { Turns } from './turns.ts'

const DOT = '.'.charCodeAt(0)
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type Names = Dirent<Buffer>

/**
 * Opens a folder on disk to be put. The path itself is followed where it is a symbolic link; links below it are items.
 *
 * @throws {Error} the system's own when it cannot be read.
 * @throws {TypeError} when it is no folder.
 */
export async function openFolder(path: string | URL, options: WalkOptions): Promise<OpenedFolder> {
  const root = resolve(path instanceof URL ? fileURLToPath(path) : path)
  if (!(await stat(root)).isDirectory()) throw new TypeError(`${root} is not a folder. Use put() for files`)
  const turns = new Turns()
  const walking = { ...options, turns, smallFiles: new SmallFiles(turns) }
  return { name: basename(root) || undefined, items: walk(root, '', walking) }
}

interface Walk extends WalkOptions {
  readonly turns: Turns
  readonly smallFiles: SmallFiles
}

/** Everything in a folder, in the order of the bytes of the names, folders before what is in them. */
async function* walk(folder: string, prefix: string, options: Walk): AsyncGenerator<SourceItem, void, undefined> {
  const entries: Names[] = await readdir(folder, { withFileTypes: true, encoding: 'buffer' })
  let isEmpty = true
  for (const entry of entries.sort((a, b) => Buffer.compare(a.name, b.name))) {
    const name = textOf(entry.name, folder)
    const path = `${prefix}${name}`
    if (entry.name[0] === DOT && !options.hidden) {
      options.onLeftOut?.(path, 'hidden')
      continue
    }
    const place = join(folder, name)
    if (entry.isDirectory()) yield* walk(place, `${path}/`, options)
    else if (entry.isFile()) {
      await options.turns.next()
      yield fileAt(place, path, options)
    } else if (entry.isSymbolicLink()) yield { kind: 'symlink', path, target: await targetOf(place) }
    else {
      options.onLeftOut?.(path, 'special')
      continue
    }
    isEmpty = false
  }
  if (isEmpty && prefix !== '') yield { kind: 'folder', path: prefix.slice(0, -1) }
}

function fileAt(place: string, path: string, { smallFiles }: Walk): SourceFile {
  const found = lstatSync(place, { bigint: true })
  const listed = { sizeBytes: Number(found.size), fingerprint: fingerprintOf(found) }
  return {
    kind: 'file',
    path,
    ...listed,
    source: place,
    open: () => openFile(place),
    readAtOnce: () => smallFiles.read(place, listed),
  }
}

async function targetOf(place: string): Promise<string> {
  return textOf(await readlink(place, { encoding: 'buffer' }), place)
}

/** @throws {LadeError} `bad_request` for a name that no CID of a folder can have. */
function textOf(bytes: Buffer, where: string): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const shown = JSON.stringify(bytes.toString('latin1'))
    throw new LadeError('bad_request', { reason: `${shown} in ${where} is not UTF-8. Rename it.` }, { cause })
  }
}
