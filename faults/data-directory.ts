import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'

export interface FileRow {
  readonly principal: string
  readonly sha256: string
  readonly sizeBytes: number
  readonly chargedBytes: number
  readonly isLive: boolean
}

/** What a service keeps, wherever that is, read past the service. */
export interface StoredData {
  readonly files: readonly FileRow[]
  /** Charged bytes by principal, over all days. */
  readonly usage: ReadonlyMap<string, number>
  readonly reservations: readonly string[]
  readonly discards: readonly string[]
  /** Digests of objects in the database itself. */
  readonly inlineObjects: ReadonlySet<string>
  /** Handles of objects whose bytes are those of other objects. */
  readonly composedObjects: ReadonlySet<string>
  /** Digests of objects whose bytes are in files of their own. */
  readonly blobObjects: ReadonlySet<string>
  /** Digests of what is under `objects`. */
  readonly blobs: ReadonlySet<string>
  /** What is on its way in, as `<holder>/<name>`. */
  readonly pending: readonly string[]
}

/** What is on disk. */
export interface DataDirectory extends StoredData {
  /** What SQLite says about its own file: `ok`. */
  readonly integrity: string
}

/** Reads a data directory, at rest or beside the processes that use it. @param objectsDir - where the objects are, if elsewhere. */
export function readDataDirectory(dataDir: string, objectsDir: string = join(dataDir, 'objects')): DataDirectory {
  const db = new Database(join(dataDir, 'lade.db'), { readonly: true, timeout: 10_000 })
  try {
    // One snapshot for all tables.
    return db.transaction(() => ({ ...readRecords(db), ...readObjects(objectsDir) }))()
  } finally {
    db.close()
  }
}

function readRecords(db: Database.Database): Omit<DataDirectory, 'blobs' | 'pending'> {
  const column = (sql: string): string[] => db.prepare<[], string>(sql).pluck().all()
  const files = db
    .prepare<[], Omit<FileRow, 'isLive'> & { isLive: number }>(
      `SELECT principal, sha256, size_bytes AS sizeBytes, charged_bytes AS chargedBytes, ended_at IS NULL AS isLive
       FROM files JOIN objects ON objects.id = files.object ORDER BY sequence`,
    )
    .all()
  const usage = db
    .prepare<[], { principal: string; bytes: number }>(
      'SELECT principal, SUM(bytes) AS bytes FROM usage GROUP BY principal',
    )
    .all()
  return {
    files: files.map((row) => ({ ...row, isLive: row.isLive === 1 })),
    usage: new Map(usage.map(({ principal, bytes }) => [principal, bytes])),
    reservations: column('SELECT principal FROM reservations'),
    discards: column('SELECT sha256 FROM discards'),
    inlineObjects: new Set(column("SELECT sha256 FROM objects WHERE place = 'inline' AND length(inline) = size_bytes")),
    blobObjects: new Set(
      column("SELECT sha256 FROM objects WHERE place = 'blob' AND id NOT IN (SELECT whole FROM parts)"),
    ),
    composedObjects: new Set(column('SELECT sha256 FROM objects WHERE id IN (SELECT whole FROM parts)')),
    integrity: String(db.pragma('integrity_check', { simple: true })),
  }
}

function readObjects(dir: string): Pick<DataDirectory, 'blobs' | 'pending'> {
  const list = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
  const shards = list(dir).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const holders = list(join(dir, 'pending'))
  return {
    blobs: new Set(shards.flatMap((shard) => list(join(dir, shard)))),
    pending: holders.flatMap((holder) => list(join(dir, 'pending', holder)).map((name) => `${holder}/${name}`)),
  }
}
