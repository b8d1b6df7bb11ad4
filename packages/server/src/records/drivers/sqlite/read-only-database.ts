import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import { openForReading } from './connection.ts'
import { immutableSql } from './immutable-sql.ts'
import { type ReadingDatabase, readingOn } from './reading-database.ts'

/**
 * Opens a database for reading where nothing can be written beside it, with everything that was committed.
 *
 * SQLite reads the log with an index that it keeps in a file beside it (`-shm`), or in memory where that file exists and cannot be written.
 * Where it does not exist, and cannot be made:
 * - after a clean end there is no log, and the file alone is opened as one that nobody changes;
 * - a log without an index is copied to the temporary directory with the database.
 *
 * @throws {Error} when the file is missing, is not of this version, or has a log and there is no room for a copy.
 */
export async function openReadOnly(file: string): Promise<ReadingDatabase> {
  return openBesideLog(file) ?? (sizeOf(logOf(file)) === 0 ? await openImmutable(file) : openCopy(file))
}

/** @returns undefined when SQLite would have to make a file. */
function openBesideLog(file: string): ReadingDatabase | undefined {
  try {
    return openReading(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^SQLITE_(CANTOPEN|IOERR_SHM)/.test(String(error.code))) {
      // Thrown where the file is missing, which no other way of opening it makes up for.
      statSync(file)
      return undefined
    }
    throw error
  }
}

function openReading(file: string): ReadingDatabase {
  const connection = openForReading(file)
  try {
    requireVersion(Number(connection.pragma('user_version', { simple: true })))
    return readingOn(connection)
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Opens a database without a log, beside which nobody can write. */
export async function openImmutable(file: string): Promise<ReadingDatabase> {
  const seen = stateOf(file)
  // Loaded when it is needed: Node says at once that it is experimental.
  const { DatabaseSync } = await import('node:sqlite')
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true })
  try {
    requireVersion(Number(database.prepare('PRAGMA user_version').get()?.user_version))
  } catch (error) {
    database.close()
    throw error
  }
  return {
    sql: immutableSql(database),
    inSnapshot: (run) => run(),
    dataVersion: () => 0,
    servingChanges: () => 0,
    isOutdated: () => stateOf(file) !== seen,
    close: () => database.close(),
    abandon: () => {},
  }
}

/** Opens a copy of a database and its log. */
export function openCopy(file: string): ReadingDatabase {
  const seen = stateOf(file)
  const dir = mkdtempSync(join(tmpdir(), 'lade-records-'))
  const remove = (): void => rmSync(dir, { recursive: true, force: true })
  try {
    const copy = join(dir, 'lade.db')
    copyFileSync(file, copy)
    copyFileSync(logOf(file), logOf(copy))
    if (stateOf(file) !== seen) throw new Error(`${file} changed while it was copied.`)
    const database = openReading(copy)
    return {
      ...database,
      isOutdated: () => stateOf(file) !== seen,
      close() {
        database.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

function requireVersion(version: number): void {
  const known = SQLITE_MIGRATIONS.length
  if (version === known) return
  throw new Error(
    version > known
      ? `This data has schema version ${version}; this Lade knows versions up to ${known}.`
      : `This data has schema version ${version} and must be upgraded to ${known}, but the disk is read-only.`,
  )
}

/** Changes with every change of the database: each one is in the log first, and only then in the file. */
function stateOf(file: string): string {
  return [file, logOf(file)]
    .map((name) => {
      const found = statSync(name, { bigint: true, throwIfNoEntry: false })
      return found === undefined ? 'none' : `${found.ino} ${found.size} ${found.mtimeNs}`
    })
    .join('; ')
}

function logOf(file: string): string {
  return `${file}-wal`
}

/** 0 also when there is no such file. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
