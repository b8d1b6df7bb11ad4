import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurableDirectory, hasCode, syncDirectory } from '@lade/node/disk/durable-directory'
import { BackupRefused } from './backup-refused.ts'
import { type CompleteBackup, type Manifest, readManifest, type StoredFile, writeManifest } from './manifest.ts'

const MANIFEST = 'backup.json'
const STATE = /^state-/
/** What may be in a folder that is empty otherwise: the lock of this program, and what a file system brings. */
const NOTHING = new Set(['lost+found', 'backup.lock', 'backup.lock-journal'])

/** The records of a backup, in the folder of their state. */
export const RECORDS_FILE = 'lade.db'

/**
 * A backup as a folder: `backup.json` names the last whole one, `state-…/` has its records and keys, and `objects/` the blobs of all.
 *
 * A new state is written beside the old one, and `backup.json` is replaced last: at every moment it names a whole backup, or none yet.
 */
export interface BackupFolder {
  readonly dir: string
  readonly manifest: Manifest
  /** Where the blobs are, in the layout of a storage on disk. */
  readonly objectsDir: string
  /** The path of a file of the last whole backup. */
  pathOf(complete: CompleteBackup, name: string): string
}

/**
 * Opens the folder for a new backup, and makes it when it is missing. Removes what a backup left that did not end.
 *
 * @throws {BackupRefused} when it is no backup and has other files in it.
 */
export async function openBackupFolder(dir: string): Promise<BackupFolder> {
  await createDurableDirectory(dir)
  const manifest = (await manifestOf(dir)) ?? (await beginFolder(dir))
  const { complete } = manifest
  for (const name of await readdir(dir)) {
    if (STATE.test(name) && name !== complete?.state) await rm(join(dir, name), { recursive: true })
  }
  return folderOver(dir, manifest)
}

/**
 * Opens the folder to read from it.
 *
 * @throws {BackupRefused} when it is no backup, or has no whole one.
 */
export async function readBackupFolder(dir: string): Promise<{ folder: BackupFolder; complete: CompleteBackup }> {
  const manifest = await manifestOf(dir)
  if (manifest === undefined) throw new BackupRefused(`${dir} is not a backup: it has no ${MANIFEST}.`)
  const { complete } = manifest
  if (complete === null) {
    throw new BackupRefused(`${dir} has no complete backup: the first one did not finish. Run "lade backup" again.`)
  }
  return { folder: folderOver(dir, manifest), complete }
}

/** Makes the folder of a new state, which nobody knows of yet. */
export async function beginState({ dir }: BackupFolder, now: Date): Promise<{ state: string; path: string }> {
  const state = `state-${now.toISOString().replaceAll(':', '-')}-${randomUUID().slice(0, 8)}`
  const path = join(dir, state)
  await mkdir(path, { mode: 0o700 })
  return { state, path }
}

/** Makes what was written there durable, and has the manifest name it. From then on the older state is of no use. */
export async function completeState(
  { dir, manifest }: BackupFolder,
  complete: Omit<CompleteBackup, 'stored'>,
): Promise<Manifest> {
  const path = join(dir, complete.state)
  const stored: StoredFile[] = []
  for (const name of (await readdir(path)).sort()) stored.push(await describeFile(join(path, name), name))
  await syncDirectory(path)
  const next = { ...manifest, complete: { ...complete, stored } }
  await replaceManifest(dir, next)
  if (manifest.complete !== null) await rm(join(dir, manifest.complete.state), { recursive: true, force: true })
  return next
}

/** Names the installation that is backed up here. */
export async function nameInstallation(folder: BackupFolder, installation: string): Promise<BackupFolder> {
  const manifest = { ...folder.manifest, installation }
  await replaceManifest(folder.dir, manifest)
  return folderOver(folder.dir, manifest)
}

/** Writes a file that nobody else can read, durably but for its name. */
export async function writePrivately(path: string, text: string): Promise<void> {
  await using handle = await open(path, 'wx', 0o600)
  await handle.writeFile(text)
  await handle.sync()
}

/** The files of the last whole backup that do not have the digest that its manifest says. */
export async function damagedFilesOf(folder: BackupFolder, complete: CompleteBackup): Promise<string[]> {
  const damaged: string[] = []
  for (const { name, sha256 } of complete.stored) {
    const file = folder.pathOf(complete, name)
    const found = await describeFile(file, name).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'EIO')) return undefined
      throw error
    })
    if (found?.sha256 !== sha256) damaged.push(file)
  }
  return damaged
}

/** Size and digest of a file. */
async function describeFile(path: string, name: string): Promise<StoredFile> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
    digest.update(chunk as Buffer)
    sizeBytes += (chunk as Buffer).length
  }
  return { name, sizeBytes, sha256: digest.digest('hex') }
}

async function beginFolder(dir: string): Promise<Manifest> {
  const others = (await readdir(dir)).filter((name) => !NOTHING.has(name) && !name.startsWith(`${MANIFEST}.`))
  if (others.length > 0) {
    throw new BackupRefused(`${dir} is neither a backup nor empty: it contains ${others[0]}. Choose an empty folder.`)
  }
  const manifest = { id: randomUUID(), installation: null, complete: null }
  await replaceManifest(dir, manifest)
  return manifest
}

async function manifestOf(dir: string): Promise<Manifest | undefined> {
  const file = join(dir, MANIFEST)
  try {
    return readManifest(await readFile(file, 'utf8'), file)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function replaceManifest(dir: string, manifest: Manifest): Promise<void> {
  const temporary = join(dir, `${MANIFEST}.new`)
  await rm(temporary, { force: true })
  await writePrivately(temporary, writeManifest(manifest))
  // What it names has to be there before it.
  await syncDirectory(dir)
  await rename(temporary, join(dir, MANIFEST))
  await syncDirectory(dir)
}

function folderOver(dir: string, manifest: Manifest): BackupFolder {
  return {
    dir,
    manifest,
    objectsDir: join(dir, 'objects'),
    pathOf: (complete, name) => join(dir, complete.state, name),
  }
}
