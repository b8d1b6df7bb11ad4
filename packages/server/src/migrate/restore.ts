import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createDurableDirectory } from '@lade/node/disk/durable-directory'
import { type BackupFolder, damagedFilesOf, RECORDS_FILE, readBackupFolder } from '../backup/backup-folder.ts'
import { BackupRefused } from '../backup/backup-refused.ts'
import { type InlineProblem, withCheckedInline } from '../backup/checked-inline.ts'
import { copyStoredFile } from '../backup/copy-stored-file.ts'
import type { CompleteBackup } from '../backup/manifest.ts'
import { markRestore, unmarkRestore } from '../backup/restore-mark.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openFsBlobStore } from '../blobs/drivers/fs/fs-blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase, describeStorage } from '../config/describe.ts'
import { renewInstallation } from '../installation/renew-installation.ts'
import { clearRestoredFile } from '../records/drivers/sqlite/restored-file.ts'
import { secretIn } from '../records/drivers/sqlite/snapshot-file.ts'
import { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
import { openSqliteTables } from '../records/drivers/sqlite/table-source.ts'
import type { RecordStore, UsageDrift } from '../records/record-store.ts'
import { type CopiedBlobs, copyBlobs } from '../storage-move/copy-blobs.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { nameProblems } from '../storage-move/name-problems.ts'
import { scanBlobs } from '../storage-move/scan-blobs.ts'
import { keptKeyName } from '../tokens/kept-key.ts'
import { keyFileName } from '../tokens/key-file.ts'
import { closeAll, openBlobs } from '../wiring/open-drivers.ts'
import { noteRestoredFrom } from './backup-installation.ts'
import { lockFolder, lockToRead } from './backup-source.ts'
import type { MoveSurroundings } from './move-source.ts'
import { openRestoreTarget, type RestoredKey, type RestoreTarget } from './restore-target.ts'

export { BackupRefused } from '../backup/backup-refused.ts'
export type { InlineProblem } from '../backup/checked-inline.ts'
export type { CompleteBackup } from '../backup/manifest.ts'

const ALGORITHMS = ['HS256', 'RS256'] as const

/** How far a restore has come. */
export type RestoreProgress =
  | { readonly phase: 'checking' }
  | { readonly phase: 'blobs'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly phase: 'records'; readonly table: string; readonly rows: number; readonly totalRows: number }

export interface RestoreOptions extends Omit<MoveSurroundings, 'closers'> {
  /** Where the installation is to be. */
  readonly config: Config
  /** The folder of the backup. */
  readonly dir: string
  /** Brings the signing key back, so that tokens stay good: also those that were revoked after the backup. */
  readonly keepTokens: boolean
  /** Blobs on their way at a time. */
  readonly jobs: number
  /** Absent: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined
  readonly onProgress: (progress: RestoreProgress) => void
}

/** What was restored, and what was wrong with the backup. */
export interface RestoreReport {
  readonly backup: CompleteBackup
  /** Where it was restored to, without secrets. */
  readonly place: { readonly database: string; readonly storage: string }
  /** True when a restore went on that had begun before. */
  readonly isResumed: boolean
  readonly blobs: CopiedBlobs
  readonly inlineProblems: readonly InlineProblem[]
  /** Days whose counters are not the sum of their files, as they were when the backup was taken. */
  readonly drift: readonly UsageDrift[]
  /** What became of tokens. `setting`: `LADE_TOKEN_KEY` decides. `none`: the backup has no key. */
  readonly tokens: 'ended' | 'kept' | 'setting' | 'none'
}

type Restore = RestoreOptions & MoveSurroundings

/**
 * Restores the last whole backup of a folder into an empty place: the records and the storage of the configuration.
 *
 * It may end anywhere and be run again, and no service starts there until it has finished.
 *
 * @throws {BackupRefused} when the folder has no whole backup, or the place is not empty.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; the reason of `signal`.
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const here: Restore = { ...options, dir: resolve(options.dir), closers: [] }
  try {
    return await restoreHere(here)
  } catch (error) {
    throw error instanceof MoveRefused ? new BackupRefused(error.message) : error
  } finally {
    await closeAll(here.closers)
  }
}

/** What is restored from, and to. */
interface Places {
  readonly folder: BackupFolder
  readonly complete: CompleteBackup
  readonly storage: BlobStore
  readonly target: RestoreTarget
}

async function restoreHere(here: Restore): Promise<RestoreReport> {
  const { config, dir, keepTokens, closers, onProgress } = here
  const { folder, complete } = await readBackupFolder(dir)
  const reading = await lockToRead(dir)
  closers.push(() => reading?.release())
  onProgress({ phase: 'checking' })
  const [damaged] = await damagedFilesOf(folder, complete)
  if (damaged !== undefined) {
    throw new BackupRefused(`${damaged} is damaged: its digest differs from backup.json. Use another copy.`)
  }
  await createDurableDirectory(config.dataDir)
  const lock = await lockFolder(config.dataDir, 'restore')
  closers.push(() => lock.release())
  const storage = await openStorage(config, complete)
  closers.push(() => storage.close())
  const target = await openRestoreTarget(config, here)
  const mark = {
    backup: folder.manifest.id,
    state: complete.state,
    database: describeDatabase(config.database),
    storage: describeStorage(config.storage),
    keepsTokens: keepTokens,
  }
  const begun = await markRestore(config.dataDir, mark, async () => {
    await target.requireEmpty()
    await requireEmptyStorage(storage, config)
  })
  const places = { folder, complete, storage, target }
  const keys = await keysOf(places)
  const place = { database: mark.database, storage: mark.storage }
  const report = { backup: complete, place, isResumed: begun === 'resumed', tokens: tokensAfter(here, keys) }
  if (begun === 'resumed' && (await target.isPublished())) {
    // All but the last step was done.
    await unmarkRestore(config.dataDir)
    const blobs = { copied: { count: 0, bytes: 0 }, there: complete.blobs, problems: [] }
    return { ...report, blobs, inlineProblems: [], drift: [] }
  }
  await target.hold(dir)
  if (!existsSync(target.workingFile)) await prepareRecords(here, places)
  const found = await restoreBlobs(here, places)
  let rows = 0
  await target.publish(keepTokens && config.tokenKey === undefined ? keys : [], (written, totalRows) => {
    rows += written.rows
    onProgress({ phase: 'records', table: written.table, rows, totalRows })
  })
  await unmarkRestore(config.dataDir)
  return { ...report, ...found }
}

async function openStorage(config: Config, { blobs }: CompleteBackup): Promise<BlobStore> {
  const storage = await openBlobs(config)
  if (storage === undefined && blobs.count > 0) {
    throw new BackupRefused(`LADE_STORAGE is none, but the backup has ${blobs.count} blobs.`)
  }
  return storage ?? openMemoryBlobStore()
}

async function requireEmptyStorage(storage: BlobStore, config: Config): Promise<void> {
  if ((await storage.installation.read()) !== undefined) {
    throw new BackupRefused(`${describeStorage(config.storage)} belongs to an installation. Choose an empty storage.`)
  }
  for await (const { sha256 } of storage.list({ limit: 1 })) {
    throw new BackupRefused(
      `${describeStorage(config.storage)} is not empty: it contains ${sha256}. Choose an empty storage.`,
    )
  }
}

/** The records as they are to be, in a file that has its name only when it is ready. */
async function prepareRecords(here: Restore, { folder, complete, target }: Places): Promise<void> {
  const { signal, onWarning } = here
  const stored = complete.stored.find(({ name }) => name === RECORDS_FILE)
  if (stored === undefined) throw new BackupRefused(`${folder.dir} has no records.`)
  const file = `${target.workingFile}.new`
  await copyStoredFile({ from: folder.pathOf(complete, RECORDS_FILE), to: file, stored, signal })
  // Brings the schema up to date.
  const records = await openSqliteRecordStore({ file, onFatal: (error) => onWarning(error.message) })
  await noteRestoredFrom(records, folder)
  await records.close()
  clearRestoredFile({ file, secrets: ALGORITHMS.map(keptKeyName) })
  await rename(file, target.workingFile)
}

async function restoreBlobs(
  here: Restore,
  { folder, storage, target: { workingFile } }: Places,
): Promise<Pick<RestoreReport, 'blobs' | 'inlineProblems' | 'drift'>> {
  const { signal, jobs, bytesPerSecond, now, onWarning, onProgress } = here
  const source = await openFsBlobStore({ dir: folder.objectsDir, minFreeBytes: 0 })
  const records = await openSqliteRecordStore({ file: workingFile, onFatal: (error) => onWarning(error.message) })
  try {
    const { inventory, files, quotas } = records
    const totalBytes = await bytesToCopy(here, { records, source, storage })
    let doneBytes = 0
    const onBytes = (sizeBytes: number): void => {
      doneBytes += sizeBytes
      onProgress({ phase: 'blobs', doneBytes, totalBytes })
    }
    const copying = { inventory, source, destination: storage, jobs, verify: true, bytesPerSecond, signal, onBytes }
    const copied = await copyBlobs(copying)
    // The installation that the backup is of may live on.
    await renewInstallation({ installation: records.installation, store: storage, id: randomUUID() })
    const problems = await nameProblems(files, copied.problems, now().getTime())
    const inlineProblems = await inlineProblemsIn(workingFile)
    await markDamaged(records, { blobs: copied.problems, inlineProblems, now: now().getTime() })
    return { blobs: { ...copied, problems }, inlineProblems, drift: await quotas.checkDrift() }
  } finally {
    await records.close()
    await source.close()
  }
}

/** Has the service know from its start what it cannot serve. */
async function markDamaged(
  { integrity }: RecordStore,
  found: Pick<RestoreReport, 'inlineProblems'> & {
    readonly blobs: readonly { sha256: string }[]
    readonly now: number
  },
): Promise<void> {
  const { now } = found
  for (const { sha256 } of found.blobs) await integrity.setDamaged({ object: sha256, kind: 'missing', now })
  for (const { sha256 } of found.inlineProblems) await integrity.setDamaged({ object: sha256, kind: 'inline', now })
}

async function bytesToCopy(
  { signal, dir }: Restore,
  { records, source, storage }: { records: RecordStore; source: BlobStore; storage: BlobStore },
): Promise<number> {
  try {
    const { inventory } = records
    const { toCopy } = await scanBlobs({ inventory, source, destination: storage }, signal)
    await storage.requireRoom(toCopy.bytes)
    return toCopy.bytes
  } catch (error) {
    if (!(error instanceof MoveRefused)) throw error
    throw new BackupRefused(`${dir} has none of the blobs that its records need.`)
  }
}

async function inlineProblemsIn(file: string): Promise<InlineProblem[]> {
  const problems: InlineProblem[] = []
  const source = openSqliteTables({ file, isReadOnly: true })
  try {
    const checked = withCheckedInline({
      source,
      findGood: () => undefined,
      onProblem: (problem) => problems.push(problem),
    })
    for (const table of source.tables.filter(({ name }) => name === 'objects')) {
      for await (const _ of checked.batches(table)) {
        // Each batch is checked as it is read.
      }
    }
  } finally {
    source.close()
  }
  return problems
}

/** The keys of the backup: beside its records, or among them where they are from PostgreSQL. */
async function keysOf({ folder, complete }: Places): Promise<RestoredKey[]> {
  const keys: RestoredKey[] = []
  for (const alg of ALGORITHMS) {
    const isStored = complete.stored.some(({ name }) => name === keyFileName(alg))
    const text = isStored
      ? await readFile(folder.pathOf(complete, keyFileName(alg)), 'utf8')
      : secretIn({ file: folder.pathOf(complete, RECORDS_FILE), name: keptKeyName(alg) })
    if (text !== undefined) keys.push({ alg, text })
  }
  return keys
}

function tokensAfter({ config, keepTokens }: Restore, keys: readonly RestoredKey[]): RestoreReport['tokens'] {
  if (config.tokenKey !== undefined) return 'setting'
  if (keys.length === 0) return 'none'
  return keepTokens ? 'kept' : 'ended'
}
