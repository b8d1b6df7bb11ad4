import type { DroppedItem, DroppedTransfer, FolderItem } from '@lade/client'
import { itemReader } from '../app/client.ts'

/** A folder as somebody has dropped or chosen it. */
export interface ChosenFolder {
  readonly name: string
  /** What is uploaded of it. */
  readonly items: readonly FolderItem[]
  /** What is left out: files and folders whose names begin with a dot, as the command line leaves them out, with all that is in them. */
  readonly hidden: readonly FolderItem[]
  readonly files: number
  readonly sizeBytes: number
}

/**
 * A folder of items.
 *
 * @param takesHidden - true to leave nothing out.
 * @example
 * folderOf('site', [{ path: 'index.html', file }, { path: '.git/config', file: other }], false).files // 1
 */
export function folderOf(name: string, all: readonly FolderItem[], takesHidden: boolean): ChosenFolder {
  const hidden = takesHidden ? [] : all.filter(({ path }) => isHidden(path))
  // A folder stays when all that is in it is left out.
  const around = new Set(hidden.map(({ path }) => visiblePart(path)).filter((path) => path !== ''))
  const items = [
    ...all.filter(({ path }) => takesHidden || !isHidden(path)),
    ...[...around].map((path) => ({ path, kind: 'folder' as const })),
  ]
  const files = items.flatMap((item) => ('file' in item ? item.file : []))
  return { name, items, hidden, files: files.length, sizeBytes: files.reduce((sum, { size }) => sum + size, 0) }
}

/** The folder of an `<input webkitdirectory>`: its files say where they are. */
export function folderOfInput(files: readonly File[]): ChosenFolder | undefined {
  const [first] = files
  if (first === undefined) return undefined
  const [name = ''] = first.webkitRelativePath.split('/', 1)
  const items = files.map((file) => ({ path: file.webkitRelativePath.slice(name.length + 1), file }))
  return folderOf(name, items, false)
}

/** What was dropped or pasted. */
export interface Dropped {
  readonly files: readonly File[]
  readonly folders: readonly ChosenFolder[]
}

/**
 * Takes what was dropped or pasted, which browsers tell during the event alone. So call it in the handler, before anything is waited for.
 *
 * @returns what reads the folders; undefined where there are only files.
 */
export function takeDropped(data: DataTransfer | null): {
  readonly files: readonly File[]
  readonly read: (() => Promise<Dropped>) | undefined
} {
  if (data === null) return { files: [], read: undefined }
  const taken = [...data.items].map((item) => ({
    kind: item.kind,
    file: item.kind === 'file' ? item.getAsFile() : null,
    entry: item.kind === 'file' ? item.webkitGetAsEntry() : null,
  }))
  if (taken.length === 0) return { files: [...data.files], read: undefined }
  if (!taken.some(({ entry }) => entry?.isDirectory)) {
    return { files: taken.flatMap(({ file }) => file ?? []), read: undefined }
  }
  const items: DroppedTransfer['items'] = taken.map(({ kind, file, entry }) => ({
    kind,
    getAsFile: () => file,
    webkitGetAsEntry: () => entry,
  }))
  return { files: [], read: async () => droppedOf(await (await itemReader())({ items })) }
}

function droppedOf(items: readonly DroppedItem[]): Dropped {
  return {
    files: items.flatMap((item) => (item.kind === 'file' ? item.file : [])),
    folders: items.flatMap((item) => (item.kind === 'folder' ? folderOf(item.name, item.items, false) : [])),
  }
}

/** The folder that the first hidden name of a path is in; empty for the top. */
function visiblePart(path: string): string {
  const names = path.split('/')
  return names
    .slice(
      0,
      names.findIndex((name) => name.startsWith('.')),
    )
    .join('/')
}

function isHidden(path: string): boolean {
  return path.split('/').some((name) => name.startsWith('.'))
}
