import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BlobStore } from '../../blob-store.ts'
import { openFsBlobStore } from './fs-blob-store.ts'
import { WatchedFiles } from './testing-watched-files.ts'

/** A store in a directory of its own, with watched system calls, for tests. */
export interface TempStore {
  readonly root: string
  /** Where the store lives: a directory in `root` that the store itself has made. */
  readonly dir: string
  readonly watched: WatchedFiles
  readonly store: BlobStore
  /** Opens the same directory again, as another process would. */
  again(): Promise<BlobStore>
  remove(): Promise<void>
}

export async function openTempStore(
  options: { minFreeBytes?: number; mostBytesPerCall?: number } = {},
): Promise<TempStore> {
  const root = await mkdtemp(join(tmpdir(), 'lade-blobs-'))
  const dir = join(root, 'objects')
  const watched = new WatchedFiles()
  watched.mostBytesPerCall = options.mostBytesPerCall ?? watched.mostBytesPerCall
  const again = () => openFsBlobStore({ dir, minFreeBytes: options.minFreeBytes ?? 0, files: watched.files })
  return { root, dir, watched, store: await again(), again, remove: () => rm(root, { recursive: true, force: true }) }
}
