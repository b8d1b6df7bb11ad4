import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createDurableDirectory } from '@lade/node/disk/durable-directory'
import { type BackedUpBlobs, backUpBlobs } from '../backup/backup-blobs.ts'
import {
  type BackupFolder,
  beginState,
  completeState,
  damagedFilesOf,
  openBackupFolder,
  RECORDS_FILE,
  writePrivately,
} from '../backup/backup-folder.ts'
import type { VerifyScope } from '../backup/backup-one-blob.ts'
import { BackupRefused } from '../backup/backup-refused.ts'
import { type InlineProblem, withCheckedInline } from '../backup/checked-inline.ts'
import { isGone } from '../backup/gone-meanwhile.ts'
import { holdRemovals } from '../backup/hold-removals.ts'
import { removeUnneeded } from '../backup/remove-unneeded.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openFsBlobStore } from '../blobs/drivers/fs/fs-blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase, describeStorage } from '../config/describe.ts'
import { openInlineBytes, openSnapshotFile } from '../records/drivers/sqlite/snapshot-file.ts'
import { createSqliteTableFile } from '../records/drivers/sqlite/table-file.ts'
import type { InstanceLocks } from '../records/instance-locks.ts'
import { SQLITE_MIGRATIONS } from '../records/migrations/sqlite.ts'
import type { RecordStore } from '../records/record-store.ts'
import { moveRecords } from '../storage-move/move-records.ts'
import type { Amount } from '../storage-move/scan-blobs.ts'
import { keyFileName, readKeyFileText } from '../tokens/key-file.ts'
import { closeAll, openBlobs } from '../wiring/open-drivers.ts'
import { requireMounted, requireOwnFolder } from './backup-installation.ts'
import { lockFolder, openSnapshotSource, requireSameSchema } from './backup-source.ts'
import { type MoveSurroundings, openForMove } from './move-source.ts'

export type { SourceProblem, VerifyScope } from '../backup/backup-one-blob.ts'
export { BackupRefused } from '../backup/backup-refused.ts'
export type { InlineProblem } from '../backup/checked-inline.ts'

/** How often the records are taken again because blobs of them were removed before they were copied. */
const MOST_ROUNDS = 5

/** How far a backup has come. */
export type BackupProgress =
  | { readonly phase: 'records'; readonly table: string; readonly rows: number; readonly totalRows: number }
  | { readonly phase: 'blobs'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly phase: 'removing' }

export interface BackupOptions extends Omit<MoveSurroundings, 'closers'> {
  readonly config: Config
  /** The folder of the backup. */
  readonly dir: string
  /** The version of Lade. */
  readonly version: string
  readonly verify: VerifyScope
  /** Puts good copies back where the service's own bytes are wrong or missing. */
  readonly heal: boolean
  /** Blobs on their way at a time. */
  readonly jobs: number
  /** Read from the service at most; absent: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined
  readonly onProgress: (progress: BackupProgress) => void
}

/** What a backup holds, and what was wrong with its source. */
export interface BackupReport {
  /** When the records were as they are in the backup. */
  readonly at: Date
  readonly rows: number
  /** Files that had not ended. */
  readonly files: number
  readonly recordsBytes: number
  readonly blobs: BackedUpBlobs
  readonly inlineProblems: readonly InlineProblem[]
  /** True when the records that the backup had before had rotted. */
  readonly wereRecordsDamaged: boolean
  /** What the backup had and these records do not need. */
  readonly removed: Amount
  /** Whether a signing key is in the backup. */
  readonly hasKey: boolean
}

type Backup = BackupOptions & MoveSurroundings

/**
 * Backs an installation up into a folder, while it runs or not. What the folder has already is not copied again.
 *
 * It may end anywhere and be run again: until it has finished, the folder holds the last whole backup.
 *
 * @throws {BackupRefused} when it would do harm: the folder is no backup, or that of another installation.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`, `auth_offline`; the reason of `signal`.
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const backup: Backup = { ...options, dir: resolve(options.dir), closers: [] }
  try {
    return await backUpHere(backup)
  } finally {
    await closeAll(backup.closers)
  }
}

async function backUpHere(backup: Backup): Promise<BackupReport> {
  const { config, dir, closers } = backup
  if (config.database.kind === 'sqlite' && !existsSync(config.database.file)) {
    throw new BackupRefused(`There are no records at ${config.database.file}. Check LADE_DATA_DIR and LADE_DATABASE.`)
  }
  await requireSameSchema(config)
  const { records, locks } = await openForMove(config, backup)
  await createDurableDirectory(dir)
  const lock = await lockFolder(dir, 'backup')
  closers.push(() => lock.release())
  const opened = await openBackupFolder(dir)
  await requireMounted(config, records)
  const source = (await openBlobs(config, { records })) ?? openMemoryBlobStore()
  closers.push(() => source.close())
  const folder = await requireOwnFolder(config, { records, source, folder: opened })
  const hold = await holdRemovals({
    records,
    holder: `backup-${opened.manifest.id}`,
    now: () => backup.now().getTime(),
    onWarning: backup.onWarning,
  })
  closers.push(() => hold.release())
  const copy = await openFsBlobStore({ dir: folder.objectsDir, minFreeBytes: 0 })
  closers.push(() => copy.close())
  const healAs = backup.heal ? await holdInstance(locks, closers) : undefined
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const report = await takeState(backup, { records, folder, source, copy, healAs })
    if (report !== 'again') return report
  }
  throw new BackupRefused(
    `Files were removed faster than they could be copied, ${MOST_ROUNDS} times in a row. The previous backup is still complete. Try again later.`,
  )
}

interface Places {
  readonly records: RecordStore
  readonly folder: BackupFolder
  readonly source: BlobStore
  readonly copy: BlobStore
  readonly healAs: string | undefined
}

/** One state, from its records to the manifest; `again` when a blob was removed before it could be copied. */
async function takeState(backup: Backup, places: Places): Promise<BackupReport | 'again'> {
  const { config, version, signal, now, onProgress } = backup
  const { records, folder, source, copy, healAs } = places
  const { state, path } = await beginState(folder, now())
  const taken = await takeRecords(backup, folder, path)
  const hasKey = await takeKeys(config, path)
  const snapshot = openSnapshotFile({ file: join(path, RECORDS_FILE) })
  try {
    const { inventory } = snapshot
    const found = await backUpBlobs({
      ...backup,
      inventory,
      source,
      copy,
      healAs,
      onProgress: (made) => onProgress({ phase: 'blobs', ...made }),
    })
    const blobs = await withoutGone(records, found)
    if (blobs === 'again') return 'again'
    // What was wrong with them is remembered until right bytes are in their place.
    for (const { sha256 } of blobs.problems.filter(({ healed }) => healed)) await records.integrity.clearDamaged(sha256)
    signal.throwIfAborted()
    const files = snapshot.liveFiles()
    const { complete } = await completeState(folder, {
      state,
      at: taken.at.toISOString(),
      finishedAt: now().toISOString(),
      lade: version,
      schemaVersion: SQLITE_MIGRATIONS.length,
      database: describeDatabase(config.database),
      storage: describeStorage(config.storage),
      rows: taken.rows,
      files,
      blobs: blobs.needed,
      missing: blobs.problems.filter((problem) => problem.copy !== 'good').length,
    })
    onProgress({ phase: 'removing' })
    const removed = await removeUnneeded({ inventory, store: copy, signal })
    const recordsBytes = complete?.stored.find(({ name }) => name === RECORDS_FILE)?.sizeBytes ?? 0
    return { ...taken, files, recordsBytes, blobs, removed, hasKey }
  } finally {
    snapshot.close()
  }
}

/** Writes one moment of the records into a new file. */
async function takeRecords(
  { config, signal, now, onProgress }: Backup,
  folder: BackupFolder,
  path: string,
): Promise<Pick<BackupReport, 'at' | 'rows' | 'inlineProblems' | 'wereRecordsDamaged'>> {
  const inlineProblems: InlineProblem[] = []
  const tables = await openSnapshotSource(config)
  const { complete } = folder.manifest
  const wereRecordsDamaged = complete !== null && (await damagedFilesOf(folder, complete)).length > 0
  const before =
    complete === null || wereRecordsDamaged
      ? undefined
      : openInlineBytes({ file: folder.pathOf(complete, RECORDS_FILE) })
  try {
    const at = now()
    let totalRows = 0
    for (const table of tables.tables) totalRows += await tables.countRows(table)
    let rows = 0
    await moveRecords({
      source: withCheckedInline({
        source: tables,
        findGood: (sha256) => before?.inlineBytes(sha256),
        onProblem: (problem) => inlineProblems.push(problem),
      }),
      target: createSqliteTableFile({ file: join(path, RECORDS_FILE) }),
      place: path,
      secrets: [],
      now: at,
      signal,
      onRows(written) {
        rows += written.rows
        onProgress({ phase: 'records', table: written.table, rows, totalRows })
      },
    })
    return { at, rows, inlineProblems, wereRecordsDamaged }
  } finally {
    before?.close()
    await tables.close()
  }
}

/** The keys of the data directory; those of PostgreSQL are among its records. */
async function takeKeys({ dataDir, database, tokenKey }: Config, path: string): Promise<boolean> {
  if (tokenKey !== undefined) return false
  if (database.kind === 'postgres') return true
  let hasKey = false
  for (const alg of ['HS256', 'RS256'] as const) {
    const name = keyFileName(alg)
    const text = await readKeyFileText({ file: join(dataDir, name), alg })
    if (text === undefined) continue
    await writePrivately(join(path, name), text)
    hasKey = true
  }
  return hasKey
}

/** Has the service take this process for a living instance, whose pending blobs it leaves alone. */
async function holdInstance(locks: InstanceLocks, closers: Backup['closers']): Promise<string> {
  const instanceId = randomUUID()
  const lock = await locks.hold(instanceId)
  closers.push(() => lock.release())
  return instanceId
}

/** The outcome without the blobs that nobody needs any more; `again` when the backup lacks one of them. */
async function withoutGone({ inventory }: RecordStore, found: BackedUpBlobs): Promise<BackedUpBlobs | 'again'> {
  const problems: BackedUpBlobs['problems'][number][] = []
  for (const problem of found.problems) {
    if (problem.problem !== 'missing' || !(await isGone(inventory, problem.sha256))) problems.push(problem)
    else if (problem.copy !== 'good') return 'again'
  }
  return { ...found, problems }
}
