import type { LadeClient, ListedEntry } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { CID } from 'multiformats/cid'
import { countOf, formatBytes } from '../output/amounts.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'

export interface LsFolderFlags {
  readonly long?: boolean
  readonly limit: number
  readonly json?: boolean
}

/** A folder, and a path in it. */
export interface FolderPath {
  readonly cid: string
  readonly path: string
}

const MAX_PER_PAGE = 1000
/** The CIDs that name directories: dag-pb. */
const DAG_PB = 0x70

/**
 * Reads what may name a folder: its CID, and a path behind it.
 *
 * @returns undefined for anything else, such as a part of a name.
 */
export function folderPathOf(text: string): FolderPath | undefined {
  const [cid = '', ...names] = text.replace(/^ipfs:\/\//, '').split('/')
  try {
    if (CID.parse(cid).code !== DAG_PB) return undefined
  } catch {
    return undefined
  }
  return { cid, path: names.filter((name) => name !== '').join('/') }
}

/**
 * Lists what is in a folder.
 *
 * @returns false for a CID by itself that is no folder, of which nothing is printed.
 */
export async function lsFolder(
  client: LadeClient,
  { cid, path }: FolderPath,
  flags: LsFolderFlags,
  terminal: Terminal,
): Promise<boolean> {
  const { limit, json, long = false } = flags
  const signal = terminal.interruption()
  let found: { readonly items: readonly ListedEntry[]; readonly hasMore: boolean }
  try {
    const entries = client.files.entries(cid, { path, limit: Math.min(limit + 1, MAX_PER_PAGE), signal })
    found = await takeFirst(entries, limit)
  } catch (error) {
    const isNone = LadeError.has(error, 'not_found') || LadeError.has(error, 'bad_request')
    if (isNone && path === '') return false
    throw error
  }
  if (json) terminal.print(JSON.stringify(found.items))
  else if (found.items.length === 0) terminal.note('The folder is empty.')
  else for (const line of table(found.items, long, terminal)) terminal.print(line)
  if (found.hasMore)
    terminal.note(`There are more than ${countOf(limit, 'entry', 'entries')}. Raise --limit to see them.`)
  return true
}

const COLUMNS: readonly Column[] = [
  { title: 'cid', minimum: 15 },
  { title: 'size', align: 'right' },
  { title: 'name', minimum: 10 },
]

function table(entries: readonly ListedEntry[], isLong: boolean, { stdout }: Terminal): string[] {
  const rows = entries.map((entry) => [entry.cid, sizeOf(entry, isLong), nameOf(entry)])
  const width = stdout.isTTY && !isLong ? stdout.columns : undefined
  return formatTable(COLUMNS, rows, { width, style: styleFor(stdout) })
}

function sizeOf({ size }: ListedEntry, isLong: boolean): string {
  if (size === null) return '-'
  return isLong ? String(size) : formatBytes(size)
}

function nameOf({ name, kind, target }: ListedEntry): string {
  if (kind === 'folder') return `${name}/`
  return kind === 'symlink' ? `${name} -> ${target ?? ''}` : name
}
