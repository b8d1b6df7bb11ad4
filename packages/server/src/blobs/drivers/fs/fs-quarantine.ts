import { join } from 'node:path'
import { makeDirectory } from './directories.ts'
import type { OpenFile } from './files.ts'
import { unlessMissing } from './fs-failure.ts'
import type { FsStoreParts } from './fs-store-parts.ts'
import { statFile } from './stat-file.ts'

/**
 * Moves a blob to `<dir>/quarantine/<sha256>-<time in ms>`, if it is still this file and was not written to. The new name is durable
 * when this resolves.
 *
 * @returns false when the file is no longer this one.
 */
export async function quarantineFile(
  { files, syncs, dir, shards, pending }: FsStoreParts,
  sha256: string,
  { version, inode }: OpenFile,
): Promise<boolean> {
  const path = shards.pathOf(sha256)
  const quarantineDir = quarantineDirOf(dir)
  // Before the directory is made: the mount point of an unmounted disk must stay empty.
  await pending.confirmPresent()
  if ((await statFile(files, path))?.version !== version) return false
  await makeDirectory(files, quarantineDir)
  await syncs.directory(dir)
  const place = join(quarantineDir, `${sha256}-${Date.now()}`)
  if ((await unlessMissing(() => files.rename(path, place).then(() => true))) === undefined) return false
  const isSameFile = (await statFile(files, place))?.inode === inode
  // Another file was committed between the check and the move: it returns to where it was promised.
  if (!isSameFile) await files.rename(place, path)
  await syncs.directory(quarantineDir)
  await shards.sync(sha256)
  return isSameFile
}

/** Removes what was moved there of a digest; answers how many files that were. */
export async function deleteQuarantinedFiles(
  { files, syncs, dir, pending }: FsStoreParts,
  sha256: string,
): Promise<number> {
  const quarantineDir = quarantineDirOf(dir)
  await pending.confirmPresent()
  const all = (await unlessMissing(() => files.readdir(quarantineDir))) ?? []
  const names = all.filter((name) => name.startsWith(`${sha256}-`))
  for (const name of names) await unlessMissing(() => files.unlink(join(quarantineDir, name)))
  if (names.length > 0) await syncs.directory(quarantineDir)
  return names.length
}

function quarantineDirOf(dir: string): string {
  return join(dir, 'quarantine')
}
