import { dirname } from 'node:path'
import type { Files } from './files.ts'
import { hasErrno, isReadOnly } from './fs-failure.ts'
import type { Syncs } from './syncs.ts'

/** Blobs are private to the service: other accounts of the machine neither list nor read them. */
const DIRECTORY_MODE = 0o700

/** Makes `path` and its missing parents, each name durable in its parent before the call resolves. */
export async function makeDurably(path: string, tools: { files: Files; syncs: Syncs }): Promise<void> {
  const { files, syncs } = tools
  const parent = dirname(path)
  try {
    await makeDirectory(files, path)
  } catch (error) {
    if (!hasErrno(error, 'ENOENT') || parent === path) throw error
    await makeDurably(parent, tools)
    await makeDirectory(files, path)
  }
  try {
    await syncs.directory(parent)
  } catch (error) {
    // A parent that may be passed but not read belongs to the operator, and so does the name in it.
    if (!hasErrno(error, 'EACCES') && !isReadOnly(error)) throw error
  }
}

/** Makes `path` unless it exists. */
export async function makeDirectory(files: Files, path: string): Promise<void> {
  try {
    await files.mkdir(path, DIRECTORY_MODE)
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error
  }
}

export async function removeIfEmpty(files: Files, path: string): Promise<void> {
  try {
    await files.rmdir(path)
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY')) throw error
  }
}
