import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { prepareReads } from '../../sql/reads.ts'
import type { Sql } from '../../sql/sql.ts'
import { prepareWrites } from '../../sql/writes.ts'
import { type Connection, openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { sqliteSql } from './sqlite-sql.ts'

const DUE_COPIES =
  'SELECT copies.*, (SELECT revision FROM pieces WHERE pieces.id = copies.piece) AS revision FROM copies'
/** What reads a table from end to end, and why that is no harm. */
const SCANS = [
  // A few rows: processes, uploads in flight, bytes that wait to be removed.
  'SELECT id FROM instances ORDER BY id',
  'SELECT 1 FROM reservations WHERE claimed_sha256 = ? LIMIT 1',
  'SELECT claimed_put FROM reservations WHERE claimed_sha256 = ?',
  'SELECT 1 FROM reservations WHERE claimed_sha256 = ? AND claimed_put = ? LIMIT 1',
  'SELECT id FROM reservations WHERE instance = ?',
  'SELECT id FROM reservations WHERE lease_until < ?',
  'UPDATE reservations SET lease_until = ? WHERE instance = ?',
  'UPDATE discards SET instance = NULL WHERE instance = ?',
  'INSERT INTO discards (sha256, put, created_at, due_at)\n       SELECT sha256, put, ?, ? FROM objects',
  // The rows that stand in the statement itself.
  'UPDATE usage SET stored_bytes = stored_bytes - ended.column3',
  // Blobs of an older version, until a scrub has read them; bytes that are damaged.
  'SELECT COUNT(*) FROM blobs_without_chunks',
  'SELECT sha256 AS object, kind, noticed_at AS "noticedAt" FROM damaged',
  'SELECT COUNT(*) FROM damaged',
  // For operators, over all principals.
  'SELECT SUM(bytes) AS bytes, SUM(files) AS files, COUNT(*) AS principals',
  'SELECT COUNT(*) AS count, SUM(bytes) AS bytes FROM reservations',
  'SELECT principal, SUM(stored_bytes) AS "storedBytes"',
  'SELECT id, principal, instance, day, bytes, lease_until AS "leaseUntil" FROM reservations',
  'SELECT name, holder, "until", fence FROM leases',
  'SELECT COUNT(*) AS waiting, SUM(is_orphan) AS orphans FROM discards',
  // Once a signup, over the addresses of two hours.
  'DELETE FROM signups WHERE hour < ?',
  // A few rows for each prover.
  'SELECT prover FROM copy_counts WHERE state = ? GROUP BY prover',
  // The calls that are under way: a few for each prover.
  'SELECT * FROM additions ORDER BY id',
  // Indexes of no more than what is asked for, in its order.
  'SELECT deals.file, sha256 AS object, objects.size_bytes AS "sizeBytes"',
  'UPDATE pieces SET unsettled_at = :now, revision = revision + 1\n     WHERE is_short = 1',
  'SELECT * FROM blocked_callers WHERE is_removing = 1 ORDER BY id',
  // Once, by "lade doctor --adopt", over what uploads hold and what is to be removed.
  'UPDATE discards SET is_orphan = 1',
  'INSERT INTO discards (sha256, put, created_at, due_at, is_orphan)\n     SELECT DISTINCT',
  "UPDATE reservations SET claimed_sha256 = NULL, claimed_put = ''",
  // Once, after a move.
  "UPDATE objects SET put = '' WHERE put <> ''",
  // All of it is what is asked for.
  'SELECT principal, day, SUM(counter) AS "counterBytes"',
  'SELECT prover, state, SUM(count) AS count FROM copy_counts',
  'SELECT status, SUM(count) AS count FROM deal_counts',
  'SELECT SUM(count) FROM deal_counts WHERE waits = 1',
]

describe('lookups', () => {
  let dir: string
  let connection: Connection
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-lookups-'))
    connection = openConnection(join(dir, 'lade.db'))
    migrate(connection)
  })
  afterEach(() => {
    connection.close()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Every statement that the driver may run, each once. */
  function statements(): string[] {
    const written = new Set<string>()
    const sql = sqliteSql(connection)
    const noting: Sql = {
      dialect: sql.dialect,
      prepare(text) {
        written.add(text)
        return sql.prepare(text)
      },
      prepareInsertion(key, text) {
        written.add(text)
        return sql.prepareInsertion(key, text)
      },
    }
    prepareReads(noting)
    prepareWrites(noting)
    return [...written]
  }

  function planOf(statement: string): string[] {
    // What an insertion returns is the row that it made, which the plan calls a scan.
    const sql = statement.startsWith('INSERT') ? statement.replace(/RETURNING \w+$/, '') : statement
    const explained = connection.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    const named = [...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, 1])
    const values = named.length > 0 ? [Object.fromEntries(named)] : [...sql.matchAll(/\?/g)].map(() => 1)
    return explained.all(...values).map(({ detail }) => detail)
  }

  test('no trigger fires when a file or its object is added', () => {
    const triggers = connection.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'").pluck().all()
    expect(triggers.length).toBeGreaterThan(10)
    expect(triggers.filter((sql) => /AFTER INSERT ON (files|objects)\b/.test(String(sql)))).toEqual([])
  })

  test('every statement fits the schema', () => {
    for (const sql of statements()) expect(() => connection.prepare(sql)).not.toThrow()
  })

  test('every statement finds its rows by an index, but for those that mean all rows', () => {
    const all = statements()
    expect(all.length).toBeGreaterThan(60)
    const scanning = all.filter((sql) => planOf(sql).some((detail) => /^SCAN (?!CONSTANT|\d+-ROW VALUES)/.test(detail)))
    expect(scanning.filter((sql) => !SCANS.some((known) => sql.startsWith(known)))).toEqual([])
    expect(SCANS.filter((known) => !scanning.some((sql) => sql.startsWith(known)))).toEqual([])
  })

  test.each([
    [
      'SELECT id FROM objects WHERE piece_root = :root AND substr(piece_root, 1, 6) = substr(:root, 1, 6) AND size_bytes',
      /USING INDEX objects_by_piece/,
    ],
    [
      'SELECT MIN(id) FROM objects WHERE piece_root = :root AND substr(piece_root, 1, 6) = substr(:root, 1, 6)',
      /USING INDEX objects_by_piece/,
    ],
    ['SELECT bytes, files FROM network_usage', /PRIMARY KEY \(network=\? AND day=\?\)/],
    [
      'SELECT SUM(bytes) AS bytes, COUNT(*) AS files FROM reservations\n     WHERE principal > ?',
      /COVERING INDEX reservations_by_principal \(principal>\? AND principal<\?\)/,
    ],
    ['SELECT part FROM parts WHERE whole', /PRIMARY KEY \(whole=\?\)/],
    ['SELECT id FROM objects WHERE (SELECT 1 FROM files', /SEARCH parts USING .*parts_by_part \(part=\?\)/],
    [
      'UPDATE usage SET stored_bytes = stored_bytes - ended',
      /SEARCH usage USING PRIMARY KEY \(principal=\? AND day=\?\)/,
    ],
    [
      'INSERT INTO discards (sha256, put, created_at, due_at)\n       SELECT sha256, put, ?, ? FROM objects',
      /SEARCH objects USING (INTEGER PRIMARY KEY|.*rowid=)/,
    ],
    [
      'SELECT object, view, since, seal, piece_root, size_bytes FROM aliases JOIN',
      /aliases USING PRIMARY KEY \(key=\?\)/,
    ],
    ['SELECT dag, layout', /blocks USING PRIMARY KEY \(multihash=\?\)/],
    ['SELECT substr(digests', /dags USING INTEGER PRIMARY KEY/],
    ['SELECT id FROM dags WHERE object IS NULL', /COVERING INDEX sqlite_autoindex_dags_1 \(object=\?\)/],
    ['SELECT sequence AS file', /SEARCH files USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/],
    ['SELECT deals.file, sha256', /USING INDEX deals_waiting/],
    ['SELECT id, revision FROM pieces', /^SEARCH pieces USING INDEX pieces_unsettled \(unsettled_at<\?\)$/],
    [
      `${DUE_COPIES} WHERE state`,
      /^SEARCH copies USING INDEX copies_due \(state=\? AND next_at<\?\); CORRELATED SCALAR SUBQUERY 1; SEARCH pieces USING INTEGER PRIMARY KEY/,
    ],
    [`${DUE_COPIES} WHERE prover`, /^SEARCH copies USING INDEX copies_by_prover \(prover=\? AND state=\? AND ne/],
    ['SELECT MIN(id) FROM (SELECT id FROM copies', /COVERING INDEX copies_by_prover \(prover=\? AND state=\?\)/],
    ['SELECT * FROM copies WHERE to_remove', /^SEARCH copies USING INDEX copies_to_remove \(next_at<\?\)$/],
    ['SELECT id FROM pieces WHERE', /USING INDEX pieces_by_root \(<expr>=\?\)/],
    ['UPDATE pieces SET unsettled_at = :now', /USING INDEX pieces_short/],
    ['UPDATE deals SET closed_at', /^SEARCH deals USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
    ['SELECT object, offset_bytes AS "offsetBytes" FROM offers', /USING INDEX offers_by_piece/],
    ['SELECT pieces.piece_root AS root, pieces.size_bytes AS "sizeBytes"', /files USING .*files_by_object/],
    ['SELECT files.sequence, object, principal', /^SEARCH files USING INDEX files_thin \(ended_at<\?\)|ended_at>\?/],
    [
      "SELECT id FROM objects WHERE place = 'none'",
      /COVERING INDEX objects_without_bytes \(id>\?\)|objects_without_bytes/,
    ],
    [
      'SELECT sha256, put, size_bytes AS "sizeBytes" FROM objects',
      /^SEARCH objects USING COVERING INDEX objects_in_blobs \(sha256>\? AND sha256<\?\)/,
    ],
    ['SELECT at, seed, passed, cause, proof FROM audits', /^SEARCH audits USING INDEX audits_by_copy \(copy=\?\)$/],
    ['DELETE FROM audits', /audits_by_copy \(copy=\?\)/],
    ['SELECT copy FROM audits', /^SEARCH audits USING COVERING INDEX audits_by_copy \(copy>\?\)$/],
  ])('%s uses the index that was made for it', (beginning, index) => {
    const [sql = ''] = statements().filter((one) => one.trimStart().startsWith(beginning))
    expect(planOf(sql).join('; ')).toMatch(index)
  })

  test('deals are found by the head of their id', () => {
    const ofDeals = statements().filter((sql) => sql.includes('deal_id, 1, 12'))
    expect(ofDeals).toHaveLength(3)
    for (const sql of ofDeals) expect(planOf(sql).join('; ')).toMatch(/USING INDEX files_by_deal \(<expr>=\?/)
  })

  test('live files are found among themselves, page by page and without sorting', () => {
    const lists = statements().filter((sql) => /principal = :principal AND sequence < :before/.test(sql))
    expect(lists).toHaveLength(6)
    const plans = lists.map((sql) => planOf(sql).join('; '))
    const using = (index: string): number =>
      plans.filter((plan) => plan.includes(`USING ${index} (principal=? AND sequence>? AND sequence<?)`)).length
    expect(using('INDEX files_live_by_principal')).toBe(2)
    expect(using('INDEX files_by_principal')).toBe(2)
    expect(using('COVERING INDEX files_live_by_principal')).toBe(1)
    expect(using('COVERING INDEX files_by_principal')).toBe(1)
    expect(plans.filter((plan) => plan.includes('TEMP B-TREE'))).toEqual([])
  })

  test('the live files of an object are found among themselves, the earliest first', () => {
    const ofObjects = statements().filter((sql) => sql.includes('INDEXED BY files_live_by_object'))
    expect(ofObjects.length).toBeGreaterThan(5)
    for (const sql of ofObjects) {
      const plan = planOf(sql).join('; ')
      expect(plan).toMatch(/files (EXISTS )?USING (COVERING )?INDEX files_live_by_object \(object=\?/)
      if (sql.includes('ORDER BY sequence')) expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})
