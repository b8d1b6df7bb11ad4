import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Connection, leaveOpen, openConnection, openExclusively } from './connection.ts'
import { failureMark } from './failure-mark.ts'
import { type LogContent, readLog } from './read-log.ts'
import { type ByteRange, RewritableFile, SECTOR_BYTES } from './rewritable-file.ts'
import { syncPath } from './sync-path.ts'

/** For the index of the log, and what else a start writes. */
const SPARE_BYTES = 4 * 1024 * 1024
/** Of log and database, each once here and once in SQLite. */
const DESCRIPTORS = 4

interface LogState {
  readonly log: number
}

/**
 * Opens the first connection of a process that is going to write, and makes durable before what an earlier process may have left in the
 * page cache alone.
 *
 * After a failed write or fsync SQLite takes from the cache what the disk never got, appends behind it, and a power cut then ends the log
 * there. So the log is written again from what is read, before anything rests on it. A process that is alone also writes again the pages
 * of the database that the log has, moves the log into it, and so begins with an empty log. One that shares the records holds the write
 * lock meanwhile.
 *
 * @param options.othersEndMs - how long other processes may take to end after the disk failed one of them. They look once a second.
 * @param options.busyMs - how long somebody else may hold the write lock. @default half a minute
 * @throws {Error} when the disk fails again, or the file is no database; the process must not start then.
 */
export function openDurable(
  file: string,
  { othersEndMs = 20_000, busyMs }: { readonly othersEndMs?: number; readonly busyMs?: number } = {},
): Connection {
  const isAlone = mendAlone(file, othersEndMs)
  const connection = openConnection(file)
  try {
    if (busyMs !== undefined) connection.pragma(`busy_timeout = ${busyMs}`)
    if (!isAlone) rewriteLogOfAll(connection, file)
    // SQLite does not look at what became of its own fsync of the directory.
    orDiskFailed(file, () => syncDirectoryOf(file))
    return connection
  } catch (error) {
    endUse(connection, error)
    throw error
  }
}

/**
 * @returns false when it was not done: others have the records open, who found them durable when they started; or there is no room to move
 *   the log into the database, which would take the last of it.
 */
function mendAlone(file: string, othersEndMs: number): boolean {
  const mark = failureMark(file)
  if (sizeOf(file) === 0 || (sizeOf(logOf(file)) === 0 && !mark.isSet())) return true
  if (!mark.isSet() && !hasRoomFor(sizeOf(logOf(file)), file)) return false
  const connection = openExclusively(file, mark.isSet() ? othersEndMs : 0)
  if (connection === undefined) {
    if (!mark.isSet()) return false
    throw new Error(
      `The disk failed while the records were written, and another process still uses them. Stop every process that uses ${file}, then start again.`,
    )
  }
  let database: RewritableFile
  try {
    database = orDiskFailed(file, () => mendWith(connection, file))
  } catch (error) {
    endUse(connection, error)
    throw error
  }
  mark.clear()
  connection.close()
  // Not before: the lock of the connection would end with it.
  database.close()
  return true
}

/** Makes log and database durable and empties the log. @returns the open database. */
function mendWith(connection: Connection, file: string): RewritableFile {
  const database = new RewritableFile(file)
  const mend = (): void => {
    rewriteLog(file)
    const content = readLog(logOf(file))
    requireWhole(content, connection, file)
    if (content !== undefined) database.rewrite(pagesOf(content, sizeOf(file)))
    emptyLog(connection)
  }
  if (sizeOf(logOf(file)) > 0) withoutOldErrors(mend)
  return database
}

/** On a full disk the log stays, durable by now, and what it holds can be read and removed all the same. */
function emptyLog(connection: Connection): void {
  try {
    connection.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!hasCode(error, 'SQLITE_FULL')) throw error
  }
}

/** The first fsync of a descriptor may report what failed before, under another process. Everything is then written once more. */
function withoutOldErrors(write: () => void): void {
  for (let descriptor = 0; descriptor < DESCRIPTORS; descriptor += 1) {
    try {
      write()
      return
    } catch {
      // That was the report, or the disk fails now, which the last attempt tells.
    }
  }
  write()
}

function rewriteLogOfAll(connection: Connection, file: string): void {
  connection.exec('BEGIN IMMEDIATE')
  try {
    orDiskFailed(file, () => withoutOldErrors(() => rewriteLog(file)))
  } finally {
    connection.exec('ROLLBACK')
  }
}

function rewriteLog(file: string): void {
  const end = Math.ceil(sizeOf(logOf(file)) / SECTOR_BYTES) * SECTOR_BYTES
  if (end === 0) return
  const log = new RewritableFile(logOf(file))
  try {
    log.rewrite([{ start: 0, end }])
  } finally {
    log.close()
  }
}

/** The cache may have lost a page between the recovery and the rewriting, and with it what nobody was promised. */
function requireWhole(content: LogContent | undefined, connection: Connection, file: string): void {
  const [state] = connection.pragma('wal_checkpoint(NOOP)') as LogState[]
  if ((content?.committedFrames ?? 0) >= (state?.log ?? 0)) return
  throw new Error(`${logOf(file)} changed while it was recovered. Start again.`)
}

/**
 * The sectors of pages whose last checkpoint may have failed, neighbours as one range. The pages are in the log, so what they hold does not
 * matter, only that the disk takes them.
 */
function* pagesOf({ pageBytes, pages }: LogContent, sizeBytes: number): Generator<ByteRange> {
  const wholeBytes = Math.floor(sizeBytes / SECTOR_BYTES) * SECTOR_BYTES
  let range: ByteRange | undefined
  for (const page of [...pages].sort((one, other) => one - other)) {
    const start = Math.floor(((page - 1) * pageBytes) / SECTOR_BYTES) * SECTOR_BYTES
    const end = Math.min(wholeBytes, Math.ceil((page * pageBytes) / SECTOR_BYTES) * SECTOR_BYTES)
    if (end <= start) break
    if (range !== undefined && start <= range.end) {
      range = { start: range.start, end }
      continue
    }
    if (range !== undefined) yield range
    range = { start, end }
  }
  if (range !== undefined) yield range
}

/** After a failure of the disk a connection stays open. A disk without room, or that takes no writes, has failed nothing, and is tried again. */
function endUse(connection: Connection, error: unknown): void {
  if (isRefusal(error)) connection.close()
  else leaveOpen(connection)
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return /^(ENOSPC|EDQUOT|EROFS|SQLITE_(FULL|READONLY|BUSY).*)$/.test(code) || isRefusal(error.cause)
}

function orDiskFailed<Result>(file: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new Error(`The disk under ${file} fails: ${said}. Check the disk, then start again.`, { cause: error })
  }
}

function hasRoomFor(bytes: number, file: string): boolean {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize > bytes + SPARE_BYTES
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function logOf(file: string): string {
  return `${file}-wal`
}

/** 0 also when there is no such file. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function syncDirectoryOf(file: string): void {
  try {
    syncPath(dirname(file))
  } catch (error) {
    // A folder that may be written and not read belongs to the operator.
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error
  }
}
