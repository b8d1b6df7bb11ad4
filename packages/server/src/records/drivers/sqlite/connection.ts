import Database from 'better-sqlite3'

export type Connection = Database.Database

/**
 * Opens one connection with the settings that "a 200 survives a power cut" rests on, and checks that SQLite took them.
 *
 * better-sqlite3 is compiled with `synchronous=NORMAL` for WAL, which loses the last commits at a power cut, so FULL is
 * set here and read back, on every connection.
 *
 * @throws {Error} when a setting did not take; the process must not start on such a connection.
 */
export function openConnection(
  file: string,
  options: { readonly maxSizeBytes?: number | undefined; readonly mustExist?: boolean } = {},
): Connection {
  const connection = new Database(file, { fileMustExist: options.mustExist === true })
  try {
    connection.pragma('busy_timeout = 30000')
    useWal(connection)
    connection.pragma('synchronous = FULL')
    connection.pragma('foreign_keys = ON')
    // SQLite keeps to itself what became of the checkpoints that it makes by itself, see `createCheckpointer`.
    connection.pragma('wal_autocheckpoint = 0')
    connection.pragma(`journal_size_limit = ${64 * 1024 * 1024}`)
    if (options.maxSizeBytes !== undefined) {
      const pageBytes = Number(connection.pragma('page_size', { simple: true }))
      connection.pragma(`max_page_count = ${Math.floor(options.maxSizeBytes / pageBytes)}`)
    }
    assertDurable(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/**
 * A connection that keeps everybody else out until it is closed, for work before the first ordinary one.
 *
 * @param waitMs - how long others may take to close theirs.
 * @returns undefined when somebody has the file open.
 */
export function openExclusively(file: string, waitMs: number): Connection | undefined {
  const connection = new Database(file, { fileMustExist: true, timeout: waitMs })
  try {
    connection.pragma('locking_mode = EXCLUSIVE')
    connection.pragma('synchronous = FULL')
    connection.exec('BEGIN EXCLUSIVE')
    connection.exec('ROLLBACK')
    return connection
  } catch (error) {
    connection.close()
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY') return undefined
    throw error
  }
}

const leftOpen = new Set<Connection>()

/**
 * Keeps a connection open until the process ends, after a failure of the disk. The last connection that closes moves the log into the
 * database and deletes it, which is for the next start to do, once it has made the log durable. Neither the garbage collector nor Node's
 * own cleanup at its end closes it.
 */
export function leaveOpen(connection: Connection): void {
  if (leftOpen.size === 0) process.once('exit', () => process.exit())
  leftOpen.add(connection)
}

/**
 * A connection that only reads, and writes nothing beside the file where that cannot be done.
 *
 * @throws {Error} `SQLITE_CANTOPEN` also when a file beside it is missing that SQLite would have to make.
 */
export function openForReading(file: string): Connection {
  return new Database(file, { readonly: true, fileMustExist: true, timeout: 30_000 })
}

const WAL_ATTEMPTS = 500
const WAL_WAIT_MS = 20

/** Turns the log on. Processes that do so at the same moment on a new file find it locked, and SQLite does not wait for that. */
function useWal(connection: Connection): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      connection.pragma('journal_mode = WAL')
      return
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === 'SQLITE_BUSY'
      if (!isBusy || attempt === WAL_ATTEMPTS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_WAIT_MS)
    }
  }
}

/**
 * From now on the connection keeps in memory, and not in a temporary file, what a statement puts back if it fails halfway: the pages that
 * it changes. For statements that change few rows each, so not before the schema is upgraded.
 */
export function undoInMemory(connection: Connection): void {
  connection.pragma('temp_store = MEMORY')
}

/** Frees the pages that a connection keeps to read them faster the next time; up to 16 MB. */
export function freePages(connection: Connection): void {
  if (connection.open) connection.pragma('shrink_memory')
}

/** The settings of a connection that matter for durability, as SQLite reports them. */
export function durabilityOf(connection: Connection): {
  journalMode: string
  synchronous: number
  foreignKeys: number
} {
  return {
    journalMode: String(connection.pragma('journal_mode', { simple: true })),
    synchronous: Number(connection.pragma('synchronous', { simple: true })),
    foreignKeys: Number(connection.pragma('foreign_keys', { simple: true })),
  }
}

function assertDurable(connection: Connection): void {
  const { journalMode, synchronous, foreignKeys } = durabilityOf(connection)
  if (journalMode !== 'wal' || synchronous < 2 || foreignKeys !== 1) {
    throw new Error(
      `SQLite refused the durable settings: journal_mode=${journalMode} synchronous=${synchronous} foreign_keys=${foreignKeys}`,
    )
  }
}
