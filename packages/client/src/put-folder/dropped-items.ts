import type { DroppedItem, DroppedTransfer, FolderItem } from '../folder-options.ts'

/** What browsers give for a file or folder that is dropped (File and Directory Entries API). */
interface DroppedEntry {
  readonly name: string
  readonly isDirectory: boolean
}
interface FileSystemFile extends DroppedEntry {
  file(done: (file: File) => void, failed: (error: unknown) => void): void
}
interface FileSystemFolder extends DroppedEntry {
  createReader(): {
    readEntries(done: (entries: readonly DroppedEntry[]) => void, failed: (error: unknown) => void): void
  }
}

/**
 * What is dropped on a page: files for `put`, folders for `putFolder`. Hidden files are among it, and empty folders.
 *
 * Call it in the handler of `drop` itself, before anything is waited for: afterwards browsers do not tell what was dropped.
 *
 * @throws what the browser says of files that cannot be read.
 *
 * @example
 * page.addEventListener('drop', async (event) => {
 *   event.preventDefault()
 *   for (const dropped of await droppedItems(event.dataTransfer)) {
 *     if (dropped.kind === 'file') await client.put(dropped.file)
 *     else await client.putFolder(dropped.items, { filename: dropped.name })
 *   }
 * })
 */
export async function droppedItems(transfer: DroppedTransfer): Promise<readonly DroppedItem[]> {
  const entries = Array.from(transfer.items, (item) => ({
    entry: item.webkitGetAsEntry?.() as DroppedEntry | null | undefined,
    file: item.kind === 'file' ? item.getAsFile() : null,
  }))
  const dropped: DroppedItem[] = []
  for (const { entry, file } of entries) {
    if (entry?.isDirectory === true) {
      const items: FolderItem[] = []
      await collect(entry as FileSystemFolder, '', items)
      dropped.push({ kind: 'folder', name: entry.name, items })
    } else if (file !== null) dropped.push({ kind: 'file', name: file.name, file })
  }
  return dropped
}

async function collect(folder: FileSystemFolder, prefix: string, into: FolderItem[]): Promise<void> {
  const entries = await entriesOf(folder)
  if (entries.length === 0 && prefix !== '') into.push({ path: prefix.slice(0, -1), kind: 'folder' })
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`
    if (entry.isDirectory) await collect(entry as FileSystemFolder, `${path}/`, into)
    else into.push({ path, file: await fileOf(entry as FileSystemFile) })
  }
}

/** Browsers give a hundred at a time, and an empty list at the end. */
async function entriesOf(folder: FileSystemFolder): Promise<readonly DroppedEntry[]> {
  const reader = folder.createReader()
  const all: DroppedEntry[] = []
  for (;;) {
    const some = await new Promise<readonly DroppedEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return all
    all.push(...some)
  }
}

function fileOf(entry: FileSystemFile): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}
