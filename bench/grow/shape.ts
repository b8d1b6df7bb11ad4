/** How an engine says what rows are made of. Every argument and answer is SQL; `i` is the number of a row. */
export interface RowWords {
  /** A source of rows with one column `i`, the whole numbers from 1 to `count`. */
  numbers(count: number, name: string): string
  /** 64 lower-case hex digits that differ from row to row, and from kind to kind. */
  digest(kind: string): string
  /** The same as 32 bytes. */
  bytes(kind: string): string
  /** So many zero bytes. */
  zeros(count: number): string
  /** 32 bytes for each of so many blocks. */
  manyBytes(count: string): string
  /** Eight hex digits that count milliseconds, of a time in epoch milliseconds. */
  clock(time: string): string
  /** The UTC day of a time in epoch milliseconds. */
  day(time: string): string
}

/** What the results of 30 audits take. */
const AUDIT_RESULT_BYTES = 210

/** One table, and a statement that adds to it. */
export interface Filling {
  readonly table: string
  readonly sql: string
}

export interface Shape {
  /** Files of the owner; others have a tenth as many beside them. */
  readonly files: number
  /** The time at which the records are read, in epoch milliseconds. */
  readonly now: number
}

/** Who has the files that are listed. */
export const OWNER = 'user:owner'
/** Names that a search finds in one file of five thousand. */
export const RARE_WORD = 'treasure'
/** A media type that one file of five thousand has. */
export const RARE_TYPE = 'video/mp4'
/** The object that one file of a hundred was staged under; only the last of these is live. */
export const OFTEN_STAGED = 1

export const PROVERS = ['north', 'south', 'west'] as const
const OTHERS = 10_000
const DAYS = 30
const DAY_MS = 86_400_000
/** Files that nobody has enrolled, and those that wait for an aggregate. */
const UNENROLLED = 500
const WAITING = 100
const AGGREGATE_FILES = 1000
const TOKENS = 100_000

/** Every file, the owner's and the others'. */
export function totalFiles({ files }: Pick<Shape, 'files'>): number {
  return Math.floor((files * 11) / 10)
}

/**
 * Fills empty tables with what a service of this size holds after a month, in the order of their references.
 *
 * Every eleventh file is one of 10,000 other principals, a tenth of whom has half of these; half of these files are of bytes that the
 * owner has as well. A tenth of the files had a term of a week, which is over for most; one in a hundred was staged under one object and
 * removed. A tenth has blocks, a half a UnixFS name, a hundredth an opaque id. One file in twenty is a piece by itself, the others are in
 * aggregates of a thousand; a piece has two copies, each with a deal on the chain.
 */
export function fillings(shape: Shape, words: RowWords): Filling[] {
  return [
    ...fileFillings(shape, words),
    ...contentFillings(shape, words),
    ...placementFillings(shape, words),
    ...accountFillings(shape, words),
  ]
}

function isStagedAgain(total: number): string {
  return `(i % 100 = 99 AND i % 11 <> 0 OR i = ${total})`
}

const IS_SHARED = '(i % 22 = 0 AND i % 100 <> 0)'
const SIZE = '(200 + (i * 7919 % 100) * (i * 7919 % 100) * (i * 7919 % 100) * 10)'

function timesOf({ files, now }: Shape) {
  const uploadedAt = `(${now - DAYS * DAY_MS} + i * ${DAYS * DAY_MS} / ${totalFiles({ files })})`
  const termDays = 'CASE WHEN i % 10 = 3 THEN 7 ELSE 31 END'
  const expiresAt = `(${uploadedAt} + CASE WHEN i % 10 = 3 THEN ${7 * DAY_MS} ELSE ${31 * DAY_MS} END)`
  return { uploadedAt, termDays, expiresAt, isOver: `(${expiresAt} <= ${now})` }
}

function hasObject(total: number): string {
  return `(i = ${OFTEN_STAGED} OR NOT ${isStagedAgain(total)} AND NOT ${IS_SHARED})`
}

function fileFillings(shape: Shape, { numbers, digest, bytes, clock, day }: RowWords): Filling[] {
  const total = totalFiles(shape)
  const { uploadedAt, termDays, expiresAt, isOver } = timesOf(shape)
  const again = isStagedAgain(total)
  const isRemoved = `(i = ${OFTEN_STAGED} OR i <> ${total} AND ${again})`
  const rank = '((i / 11) * 7919 % 1000)'
  return [
    {
      table: 'objects',
      sql: `INSERT INTO objects (id, sha256, size_bytes, place, piece_root)
        SELECT i, ${digest('object')}, ${SIZE}, CASE WHEN ${isOver} AND (i + 1) % 22 <> 0 THEN 'none' ELSE 'blob' END,
          ${bytes('piece')}
        FROM ${numbers(total, 'numbers')} WHERE ${hasObject(total)}`,
    },
    {
      table: 'files',
      sql: `INSERT INTO files (sequence, object, principal, name, cid, content_type, filename, visibility, owner, sponsored,
          verified, term_days, uploaded_at, expires_at, ended_at, "end", deal_id, charged_day, charged_bytes)
        SELECT i, CASE WHEN ${again} THEN ${OFTEN_STAGED} WHEN ${IS_SHARED} THEN i - 1 ELSE i END,
          CASE WHEN i % 11 = 0 THEN 'user:other' || (${rank} * ${rank} * ${rank} * ${OTHERS} / 1000000000) ELSE '${OWNER}' END,
          CASE WHEN i % 100 = 50 THEN 'name' || i ELSE '' END, 'bafkrei' || substr(${digest('cid')}, 1, 52),
          CASE WHEN i % 5000 = 1 THEN '${RARE_TYPE}' WHEN i % 2 = 0 THEN 'image/png' ELSE 'text/plain; charset=utf-8' END,
          CASE WHEN i % 5000 = 2 THEN 'Treasure ' ELSE 'Report ' END || i || '.pdf',
          CASE WHEN i % 20 = 7 THEN 'private' ELSE 'public' END, 'somebody@example.org', 0, 1, ${termDays}, ${uploadedAt}, ${expiresAt},
          CASE WHEN ${isRemoved} THEN ${uploadedAt} + 60000 WHEN ${isOver} THEN ${expiresAt} END,
          CASE WHEN ${isRemoved} THEN 'removed' WHEN ${isOver} THEN 'expired' END,
          'd-0x' || ${clock(uploadedAt)} || substr(${digest('deal')}, 1, 24), ${day(uploadedAt)}, ${SIZE}
        FROM ${numbers(total, 'numbers')}`,
    },
    {
      table: 'usage',
      sql: `INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files)
        SELECT principal, charged_day, SUM(charged_bytes), COUNT(*), SUM(CASE WHEN ended_at IS NULL THEN size_bytes ELSE 0 END),
          SUM(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END)
        FROM files JOIN objects ON objects.id = files.object GROUP BY principal, charged_day`,
    },
  ]
}

function contentFillings(shape: Shape, { numbers, digest, bytes, manyBytes }: RowWords): Filling[] {
  const total = totalFiles(shape)
  const inOrder = (rows: string, by: string): string => `SELECT * FROM (${rows}) AS rows_ ORDER BY ${by}`
  return [
    {
      table: 'names',
      sql: `INSERT INTO names (name, object)
        ${inOrder("SELECT name, object FROM files WHERE name <> ''", 'name')}`,
    },
    {
      table: 'aliases',
      sql: `INSERT INTO aliases (key, object, view, since)
        ${inOrder(`SELECT 'dag-pb:' || ${digest('alias')} AS key, i AS object, 'unixfs' AS view, i AS since FROM ${numbers(total, 'numbers')} WHERE i % 2 = 1 AND ${hasObject(total)}`, 'key')}`,
    },
    {
      table: 'dags',
      sql: `INSERT INTO dags (id, object, layout, digests)
        SELECT i, i, 'unixfs-v1-2025', ${manyBytes('1 + i % 8')} FROM ${numbers(total, 'numbers')} WHERE i % 10 = 1 AND ${hasObject(total)}`,
    },
    {
      table: 'blocks',
      sql: `INSERT INTO blocks (multihash, dag, node)
        ${inOrder(
          `SELECT ${bytes('block')} AS multihash, dag, node FROM (
             SELECT dags.id * 8 + places.i AS i, dags.id AS dag, places.i - 1 AS node FROM dags CROSS JOIN ${numbers(8, 'places')}
             WHERE places.i <= 1 + dags.id % 8) AS nodes`,
          'multihash',
        )}`,
    },
  ]
}

function placementFillings({ files, now }: Shape, { bytes, numbers, zeros }: RowWords): Filling[] {
  const enrolled = totalFiles({ files }) - UNENROLLED
  const aggregates = Math.ceil(enrolled / AGGREGATE_FILES)
  const placed = `sequence <= ${enrolled - WAITING}`
  const isAlone = 'sequence % 20 = 5'
  const piece = `CASE WHEN ${isAlone} THEN ${aggregates} + sequence ELSE 1 + (sequence - 1) / ${AGGREGATE_FILES} END`
  const offset = `(sequence - 1) % ${AGGREGATE_FILES} * 1048576`
  const isNew = `pieces.id > ${aggregates + enrolled - WAITING - 400}`
  return [
    {
      table: 'pieces',
      sql: `INSERT INTO pieces (id, object, offset_bytes, size_bytes, piece_root, unsettled_at, revision, wanted, is_short, status)
        SELECT i, NULL, 0, 1073741824, ${bytes('aggregate')}, NULL, 3, 2, 0, 'active' FROM ${numbers(aggregates, 'numbers')}`,
    },
    {
      table: 'pieces',
      sql: `INSERT INTO pieces (id, object, offset_bytes, size_bytes, piece_root, unsettled_at, revision, wanted, is_short, status)
        SELECT ${aggregates} + sequence, object, 0, size_bytes, piece_root,
          CASE WHEN sequence > ${enrolled - WAITING - 400} THEN ${now} - sequence % 1000 END, 3, 2, 0, 'active'
        FROM files JOIN objects ON objects.id = files.object WHERE ${isAlone} AND ${placed}`,
    },
    {
      table: 'deals',
      sql: `INSERT INTO deals (file, copies_wanted, status, status_at, cause, waits, closed_at)
        SELECT sequence, 2, CASE WHEN NOT ${placed} THEN 'staged' WHEN sequence % 5000 = 2 THEN 'failed' ELSE 'active' END, uploaded_at,
          CASE WHEN ${placed} AND sequence % 5000 = 2 THEN 'no prover' END, CASE WHEN ${placed} THEN 0 ELSE 1 END, ended_at
        FROM files WHERE sequence <= ${enrolled}`,
    },
    {
      table: 'deal_pieces',
      sql: `INSERT INTO deal_pieces (file, position, piece, padded_offset_bytes, object, offset_bytes)
        SELECT sequence, 0, ${piece}, CASE WHEN ${isAlone} THEN NULL ELSE ${offset} END, CASE WHEN ${isAlone} THEN object END,
          CASE WHEN ${isAlone} THEN 0 END
        FROM files WHERE ${placed}`,
    },
    {
      table: 'aggregate_members',
      sql: `INSERT INTO aggregate_members (piece, padded_offset_bytes, object)
        SELECT ${piece}, ${offset}, object FROM files WHERE ${placed} AND NOT ${isAlone}`,
    },
    {
      table: 'copies',
      sql: `INSERT INTO copies (id, piece, prover, state, attempts, next_at, data_set_id, piece_id, parked_at, stored_at, proved_at,
          to_remove, onchain)
        SELECT pieces.id * 2 + places.i, pieces.id,
          CASE (pieces.id + places.i) % 3 WHEN 0 THEN '${PROVERS[0]}' WHEN 1 THEN '${PROVERS[1]}' ELSE '${PROVERS[2]}' END,
          CASE WHEN ${isNew} THEN CASE places.i WHEN 1 THEN 'pending' ELSE 'parked' END ELSE 'stored' END, 0,
          CASE WHEN ${isNew} THEN ${now} - 1000 ELSE ${now} + pieces.id * 7919 % 86400000 END,
          CASE WHEN ${isNew} THEN NULL ELSE '7' END, CASE WHEN ${isNew} THEN NULL ELSE CAST(pieces.id AS TEXT) END,
          ${now}, ${now}, ${now}, 0, CASE WHEN ${isNew} THEN 0 ELSE 1 END
        FROM pieces CROSS JOIN ${numbers(2, 'places')}`,
    },
    {
      table: 'onchain_deals',
      sql: `INSERT INTO onchain_deals (copy, state, onchain_id, ends_at, reverts, extension_failures)
        SELECT id, 'final', CAST(id AS TEXT), ${now} + id * 7919 % ${(30 * DAY_MS) / 1000} * 1000, 0, 0 FROM copies WHERE onchain = 1`,
    },
    {
      table: 'copy_audits',
      sql: `INSERT INTO copy_audits (copy, results, seed, proof)
        SELECT i, ${zeros(AUDIT_RESULT_BYTES)}, ${bytes('seed')}, NULL FROM (SELECT id AS i FROM copies WHERE state = 'stored') AS stored`,
    },
    // What triggers count, which are off meanwhile.
    {
      table: 'copy_counts',
      sql: `INSERT INTO copy_counts (prover, state, shard, count)
        SELECT prover, state, piece % 64, COUNT(*) FROM copies GROUP BY prover, state, piece % 64`,
    },
    {
      table: 'deal_counts',
      sql: `INSERT INTO deal_counts (status, waits, shard, count)
        SELECT status, waits, file % 64, COUNT(*) FROM deals WHERE closed_at IS NULL GROUP BY status, waits, file % 64`,
    },
    { table: 'cursors', sql: `INSERT INTO cursors (name, value) VALUES ('enrolled', ${enrolled})` },
  ]
}

function accountFillings({ now }: Shape, { numbers, digest, day }: RowWords): Filling[] {
  return [
    {
      table: 'tokens',
      sql: `INSERT INTO tokens (jti, sub, email, label, scopes, quota_mb, issued_at, expires_at)
        SELECT substr(${digest('token')}, 1, 32), 'other' || (i % ${OTHERS}), 'somebody@example.org', 'laptop', 'put get list pin', 1024,
          ${now} - i, ${now + 365 * DAY_MS}
        FROM ${numbers(TOKENS, 'numbers')}`,
    },
    {
      table: 'reservations',
      sql: `INSERT INTO reservations (id, instance, principal, day, bytes, cap_bytes, lease_until)
        SELECT 'reservation-' || i, 'instance-' || (i % 3), 'user:other' || i, ${day(String(now))}, 1000000, 1000000000, ${now} + 60000
        FROM ${numbers(30, 'numbers')}`,
    },
    {
      table: 'discards',
      sql: `INSERT INTO discards (sha256, put, created_at, due_at)
        SELECT ${digest('discard')}, '', ${now} - i, ${now} - i FROM ${numbers(20, 'numbers')}`,
    },
    {
      table: 'instances',
      sql: `INSERT INTO instances (id, started_at) SELECT 'instance-' || (i - 1), ${now} FROM ${numbers(3, 'numbers')}`,
    },
    {
      table: 'nonces',
      sql: `INSERT INTO nonces (account, nonce, until) SELECT 'account-' || i, ${digest('nonce')}, ${now} + i FROM ${numbers(10_000, 'numbers')}`,
    },
  ]
}
