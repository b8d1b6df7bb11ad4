import type { FolderItem, FolderSource } from '../folder-options.ts'
import { memorySource } from '../platform/known-source.ts'
import type { Platform } from '../platform/platform.ts'
import type { OpenedFolder, SourceItem, WalkOptions } from './source-item.ts'

/** @throws {TypeError} for what is no folder. */
export async function openFolder(
  platform: Platform,
  source: FolderSource,
  options: WalkOptions,
): Promise<OpenedFolder> {
  if (typeof source === 'string' || source instanceof URL) return platform.openFolder(source, options)
  const isList = typeof source === 'object' && source !== null
  if (!isList || source instanceof Blob || !(Symbol.iterator in source || Symbol.asyncIterator in source)) {
    throw new TypeError('putFolder() accepts a path, a list of what is in the folder, or the files of an input')
  }
  if (Symbol.asyncIterator in source) return { name: undefined, items: itemsOf(source) }
  const list = [...source]
  return { name: chosenFolder(list[0]), items: list.map(itemOf) }
}

async function* itemsOf(source: AsyncIterable<FolderItem | File>): AsyncGenerator<SourceItem, void, undefined> {
  for await (const item of source) yield itemOf(item)
}

function itemOf(item: FolderItem | File): SourceItem {
  if (item instanceof Blob) return fileOf(pathBelowChosen(item as File), item)
  if (typeof item !== 'object' || item === null || typeof item.path !== 'string') {
    throw new TypeError('an item of a folder is a File, or has a path and a file or a kind')
  }
  if ('file' in item) {
    if (!(item.file instanceof Blob)) throw new TypeError(`the file of ${item.path} must be a Blob`)
    return fileOf(item.path, item.file)
  }
  if (item.kind === 'folder') return { kind: 'folder', path: item.path }
  if (item.kind === 'symlink') return { kind: 'symlink', path: item.path, target: item.target }
  throw new TypeError(`the item ${(item as { path: string }).path} has neither a file nor the kind folder or symlink`)
}

function fileOf(path: string, blob: Blob): SourceItem {
  const { sizeBytes, fingerprint } = memorySource(blob)
  return { kind: 'file', path, sizeBytes, fingerprint, source: blob, open: async () => memorySource(blob) }
}

/** What a file of `<input webkitdirectory>` knows of where it is: the chosen folder, and the path below it. */
function relativePath(file: unknown): string {
  return (file as { readonly webkitRelativePath?: string } | undefined)?.webkitRelativePath ?? ''
}

function pathBelowChosen(file: File): string {
  const path = relativePath(file)
  return path === '' ? file.name : path.slice(path.indexOf('/') + 1)
}

function chosenFolder(first: unknown): string | undefined {
  const path = relativePath(first)
  return path === '' ? undefined : path.slice(0, path.indexOf('/'))
}
