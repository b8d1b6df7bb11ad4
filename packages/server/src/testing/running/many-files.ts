import Database from 'better-sqlite3'
import { Client } from 'pg'
import type { Config } from '../../config/config.ts'

/** How an engine says what rows are made of: SQL in which `i` is the number of a row. */
interface RowWords {
  numbers(count: number): string
  /** 64 lower-case hex digits that differ from row to row, and from kind to kind. */
  digest(kind: string): string
  day(time: string): string
}

const SQLITE: RowWords = {
  numbers: (count) =>
    `(WITH RECURSIVE counted(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM counted WHERE i < ${count}) SELECT i FROM counted) AS numbers`,
  digest: () => 'lower(hex(randomblob(32)))',
  day: (time) => `strftime('%Y-%m-%d', ${time} / 1000, 'unixepoch')`,
}

const POSTGRES: RowWords = {
  numbers: (count) => `generate_series(1::bigint, ${count}::bigint) AS numbers(i)`,
  digest: (kind) => `encode(sha256(convert_to('${kind}' || i, 'UTF8')), 'hex')`,
  day: (time) => `to_char(to_timestamp(${time} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export interface ManyFiles {
  readonly principal: string
  readonly count: number
  /** The time of the last upload, in epoch milliseconds. */
  readonly now: number
}

/** The word in half of all names, and that in one of 5000. */
export const FREQUENT_WORD = 'report'
export const RARE_WORD = 'treasure'

/**
 * Gives a principal so many live files, in the empty database of a service that does not run. Their bytes are nowhere.
 *
 * They were uploaded a quarter of a minute after each other, the last of them just now. One in ten has a term of 35 days, and others of a
 * year. One in eight has each of eight media types, and one in 5000 is `video/mp4`.
 */
export async function fillWithFiles({ database }: Pick<Config, 'database'>, files: ManyFiles): Promise<void> {
  if (database.kind === 'sqlite') {
    const db = new Database(database.file)
    db.pragma('synchronous = OFF')
    db.pragma('foreign_keys = OFF')
    db.exec(`BEGIN; ${fillings(files, SQLITE).join('; ')}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`)
    db.close()
    return
  }
  const client = new Client({ connectionString: database.url.reveal() })
  await client.connect()
  try {
    await client.query(['BEGIN', ...fillings(files, POSTGRES), 'COMMIT'].join('; '))
    await client.query("SELECT setval('files_sequence', (SELECT MAX(sequence) FROM files))")
    await client.query("SELECT setval(pg_get_serial_sequence('objects', 'id'), (SELECT MAX(id) FROM objects))")
    await client.query('VACUUM ANALYZE')
  } finally {
    await client.end()
  }
}

function fillings({ principal, count, now }: ManyFiles, { numbers, digest, day }: RowWords): string[] {
  const uploadedAt = `(${now} - (${count} - i) * ${MINUTE_MS / 4})`
  const termOf = (unit: number): string => `(CASE WHEN i % 10 = 3 THEN ${35 * unit} ELSE ${365 * unit} END)`
  return [
    `INSERT INTO objects (id, sha256, size_bytes, place)
     SELECT i, ${digest('object')}, 1000 + i % 1000 * 1000, 'blob' FROM ${numbers(count)}`,
    `INSERT INTO files (sequence, object, principal, name, cid, content_type, filename, visibility, owner, sponsored, verified, term_days,
       uploaded_at, expires_at, deal_id, charged_day, charged_bytes)
     SELECT i, i, '${principal}', '', sha256,
       CASE WHEN i % 5000 = 1 THEN 'video/mp4' ELSE CASE i % 8 WHEN 0 THEN 'image/png' WHEN 1 THEN 'image/jpeg' WHEN 2 THEN 'audio/mpeg'
         WHEN 3 THEN 'text/plain; charset=utf-8' WHEN 4 THEN 'application/pdf' WHEN 5 THEN 'application/zip' WHEN 6 THEN 'application/json'
         ELSE 'application/octet-stream' END END,
       CASE WHEN i % 5000 = 2 THEN 'Treasure ' WHEN i % 2 = 0 THEN 'Report ' ELSE 'Notes of ' END || i || '.bin',
       CASE WHEN i % 20 = 7 THEN 'private' ELSE 'public' END, 'somebody@example.org', 0, 1, ${termOf(1)}, ${uploadedAt},
       ${uploadedAt} + ${termOf(DAY_MS)}, 'd-0x' || ${digest('deal')}, ${day(uploadedAt)}, size_bytes
     FROM ${numbers(count)} JOIN objects ON objects.id = i`,
    `INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files)
     SELECT principal, charged_day, SUM(charged_bytes), COUNT(*), SUM(charged_bytes), COUNT(*) FROM files GROUP BY principal, charged_day`,
    `INSERT INTO deals (file, copies_wanted, status, status_at, waits)
     SELECT sequence, 2, CASE WHEN sequence % 1000 = 2 THEN 'failed' WHEN sequence % 20 = 5 THEN 'proposed' ELSE 'active' END,
       uploaded_at, 0
     FROM files WHERE sequence <= ${count} - 500`,
  ]
}
