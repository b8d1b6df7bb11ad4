import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '@lade/node/disk/durable-directory'
import { writePrivately } from '../backup/backup-folder.ts'
import { BackupRefused } from '../backup/backup-refused.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase } from '../config/describe.ts'
import { publishRestoredFile } from '../records/drivers/sqlite/restored-file.ts'
import { isMarkedRestoring, markRestoring } from '../records/drivers/sqlite/set-aside.ts'
import { openSqliteTables } from '../records/drivers/sqlite/table-source.ts'
import { moveRecords } from '../storage-move/move-records.ts'
import { keptKeyName } from '../tokens/kept-key.ts'
import { keyFileName } from '../tokens/key-file.ts'
import { type MoveSurroundings, openForMove } from './move-source.ts'

/** A signing key of a backup, as the text of its file. */
export interface RestoredKey {
  readonly alg: 'HS256' | 'RS256'
  readonly text: string
}

/** Where records are restored to. */
export interface RestoreTarget {
  /** Where the records are made ready, as a file of SQLite in either case. */
  readonly workingFile: string
  /** @throws {BackupRefused} when there are records or keys. */
  requireEmpty(): Promise<void>
  /** Keeps every service from starting here until the records are published. */
  hold(from: string): Promise<void>
  /** True when `publish` has come to its end before. */
  isPublished(): Promise<boolean>
  /** Brings the records and keys where a service finds them, durably, and removes the working file. Repeating it is safe. */
  publish(keys: readonly RestoredKey[], onRows: OnRows): Promise<void>
}

type OnRows = (written: { readonly table: string; readonly rows: number }, totalRows: number) => void

/**
 * Opens the place of the records.
 *
 * @throws {BackupRefused} when a service runs on it.
 * @throws {LadeError} `storage_failed`.
 */
export async function openRestoreTarget(config: Config, surroundings: MoveSurroundings): Promise<RestoreTarget> {
  return config.database.kind === 'sqlite'
    ? sqliteTarget(config, config.database.file)
    : postgresTarget(config, config.database.url.reveal(), surroundings)
}

function sqliteTarget({ dataDir }: Config, file: string): RestoreTarget {
  const workingFile = `${file}.restoring`
  return {
    workingFile,
    async requireEmpty() {
      for (const name of [file, `${file}-wal`]) {
        if (existsSync(name)) throw new BackupRefused(`${name} already exists. Restore into an empty folder.`)
      }
      for (const alg of ['HS256', 'RS256'] as const) {
        const key = join(dataDir, keyFileName(alg))
        if (existsSync(key)) throw new BackupRefused(`${key} already exists. Restore into an empty folder.`)
      }
    },
    async hold(from) {
      if (!existsSync(file)) markRestoring({ file, from })
    },
    isPublished: async () => existsSync(file) && !existsSync(workingFile) && !isMarkedRestoring(file),
    async publish(keys) {
      // Whatever is there now came after the hold, and is nobody's to write over.
      if (!isMarkedRestoring(file)) throw new BackupRefused(`${file} was changed since the restore started.`)
      for (const { alg, text } of keys) await placeKey(join(dataDir, keyFileName(alg)), text)
      await syncDirectory(dataDir)
      publishRestoredFile({ file: workingFile, as: file })
    },
  }
}

async function placeKey(file: string, text: string): Promise<void> {
  if (existsSync(file) && (await readFile(file, 'utf8')) === text) return
  await rm(`${file}.restoring`, { force: true })
  await writePrivately(`${file}.restoring`, text)
  await rename(`${file}.restoring`, file)
}

async function postgresTarget(config: Config, url: string, surroundings: MoveSurroundings): Promise<RestoreTarget> {
  const { closers, now, signal } = surroundings
  const workingFile = join(config.dataDir, 'lade.db.restoring')
  const place = describeDatabase(config.database)
  // Brings the schema up to date.
  const { requireNobody } = await openForMove(config, surroundings)
  await requireNobody()
  const { openPostgresTableTarget } = await import('../records/drivers/postgres/table-target.ts')
  const { holdPostgresStill } = await import('../records/drivers/postgres/standstill.ts')
  const target = await openPostgresTableTarget({ url })
  closers.push(() => target.close())
  let still: { close(): Promise<void> } | undefined
  closers.push(() => still?.close())
  return {
    workingFile,
    async requireEmpty() {
      const { occupied } = await target.state()
      if (occupied.length > 0)
        throw new BackupRefused(`${place} has data in ${occupied.join(', ')}. Choose an empty database.`)
    },
    async hold() {
      still = await holdPostgresStill({ url })
      await requireNobody()
    },
    isPublished: async () => !existsSync(workingFile) && (await target.state()).occupied.length > 0,
    async publish(keys, onRows) {
      const source = openSqliteTables({ file: workingFile, isReadOnly: true })
      try {
        const totalRows = source.tables.reduce((sum, table) => sum + source.countRows(table), 0)
        // The import locks what this holds.
        await still?.close()
        await moveRecords({
          source,
          target,
          place,
          secrets: keys.map(({ alg, text }) => ({ name: keptKeyName(alg), value: text })),
          now: now(),
          signal,
          onRows: (written) => onRows(written, totalRows),
        })
      } finally {
        source.close()
      }
      // A reader leaves the log's files, which must not outlive what they belong to.
      for (const name of ['-wal', '-shm', '']) await rm(`${workingFile}${name}`, { force: true })
    },
  }
}
