import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** The folder that a devnet keeps its state in. */
export interface DevnetFolder {
  readonly dir: string
  readonly isTemporary: boolean
  /** Removes it where it is temporary. */
  close(): Promise<void>
}

/**
 * The folder of a devnet: the one that is named, or a temporary one.
 *
 * @throws {UsageError} for a folder that has something in it: a chain that begins anew and records of another one do not go together.
 */
export async function openDevnetFolder(name: string | undefined, cwd: string): Promise<DevnetFolder> {
  if (name === undefined) {
    const dir = await mkdtemp(join(tmpdir(), 'lade-devnet-'))
    return { dir, isTemporary: true, close: () => rm(dir, { recursive: true, force: true }) }
  }
  const dir = resolve(cwd, name)
  await mkdir(dir, { recursive: true, mode: 0o700 })
  if ((await readdir(dir)).length > 0) {
    throw new UsageError(`${name} is not empty. A devnet needs an empty folder.`)
  }
  return { dir, isTemporary: false, close: async () => undefined }
}
