import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DAY_MS } from '@lade/core/time'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { digestOf, fileCommitOf, NOW, pieceRootOf, type Upload, upload } from '../../conformance/case.ts'
import { prepareReads } from '../../sql/reads.ts'
import { prepareWrites } from '../../sql/writes.ts'
import { type Connection, openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { sqliteSql } from './sqlite-sql.ts'
import { atOnce } from './testing-at-once.ts'

const FACTOR = process.env.LADE_TEST_PLAN === 'full' ? 10 : 1
const TIMEOUT_MS = 120_000 * FACTOR
const INLINE_BYTES = 4096
const TOMBSTONE_DAYS = 90
const AUDIT_DAYS = 3
/** Of the files of a day: how long they last, and after how many days their owner removes them. */
const FILES_OF_DAY = [
  { count: 5 * FACTOR, termDays: 30, removedAfterDays: undefined },
  { count: 5 * FACTOR, termDays: 30, removedAfterDays: 10 },
  { count: 20 * FACTOR, termDays: 85, removedAfterDays: undefined },
]

interface LiveFile {
  readonly of: Upload
  readonly sequence: number
  readonly copy: number
  readonly piece: number
  readonly bornOn: number
  readonly endsOn: number
  readonly isRemoved: boolean
}

let dir: string
let db: Connection
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-year-'))
  db = openConnection(join(dir, 'lade.db'))
  db.pragma('synchronous = OFF')
  migrate(db)
})
afterEach(() => {
  db.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Bytes of the file, but for pages that are free. */
function usedBytes(): number {
  const number = (name: string): number => Number(db.pragma(name, { simple: true }))
  return (number('page_count') - number('freelist_count')) * number('page_size')
}

const fileBytes = (): number =>
  Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))

test(
  'a year of uploads, audits, ends and removals takes 1.5 KB of records a file, and no more from the sixth month on',
  () => {
    const emptyBytes = usedBytes()
    const writes = atOnce(prepareWrites(sqliteSql(db)))
    const reads = atOnce(prepareReads(sqliteSql(db)))
    let live: LiveFile[] = []
    let staged = 0
    let ended = 0

    function stage(day: number, now: number, { termDays, removedAfterDays }: (typeof FILES_OF_DAY)[number]): LiveFile {
      staged += 1
      const of = upload({
        content: `file ${staged}`,
        principal: `user:${staged % 5}`,
        inline: randomBytes(INLINE_BYTES),
        sizeBytes: INLINE_BYTES,
        filename: `file-${staged}.txt`,
        capBytes: Number.MAX_SAFE_INTEGER,
        now,
        day: new Date(now).toISOString().slice(0, 10),
        expiresAt: now + termDays * DAY_MS,
      })
      const commit = fileCommitOf(of, `d-0x${digestOf(`deal ${staged}`).slice(0, 32)}`)
      const file = { ...commit.file, cid: `bafkrei${digestOf(of.content).slice(0, 52)}` }
      const recorded = writes['quotas.commitAtOnce']({ admit: of, commit: { ...commit, file } })
      if (recorded.outcome !== 'recorded' || !('sequence' in recorded)) throw new Error(recorded.outcome)
      const { sequence } = recorded
      const whole = {
        pieceRoot: pieceRootOf(of.content),
        sizeBytes: INLINE_BYTES,
        object: digestOf(of.content),
        offsetBytes: 0,
      }
      const enrolment = { file: sequence, copiesWanted: 1, as: { kind: 'pieces', pieces: [whole] } } as const
      writes['placements.enrol']({ now, upTo: sequence, enrolments: [enrolment] })
      const piece = reads['placements.deals']([sequence])[0]?.pieces[0]?.id ?? 0
      writes['placements.reconcile']({ piece, add: ['local'], release: [], nextAt: null, failure: null, now })
      const copy = reads['placements.deals']([sequence])[0]?.pieces[0]?.copies[0]?.id ?? 0
      writes['placements.parked']({ copy, now })
      const request = { prover: 'local', nonce: digestOf(`${copy}`), dataSetId: null, copies: [copy], now }
      const addition = writes['placements.openAddition'](request)
      const confirmed = { addition: addition?.id ?? 0, dataSetId: '4711', pieceIds: [`${staged}0000000000`], now }
      writes['placements.additionConfirmed'](confirmed)
      const endsOn = day + (removedAfterDays ?? termDays)
      return { of, sequence, copy, piece, bornOn: day, endsOn, isRemoved: removedAfterDays !== undefined }
    }

    function end({ of, piece, copy, isRemoved }: LiveFile, now: number): void {
      if (isRemoved) writes['files.remove']({ principal: of.principal, key: of.key, now })
      else writes['files.expire']({ now, limit: 1000 })
      writes['placements.reconcile']({ piece, add: [], release: [copy], nextAt: null, failure: null, now })
      writes['placements.removed']({ copy, now })
      ended += 1
    }

    function audit({ copy }: LiveFile, now: number): void {
      const made = { copy, at: now, seed: digestOf(`${copy} ${now}`), passed: true, cause: null, proof: null }
      writes['placements.audited']({ audit: made, nextAt: now, isFinal: false, isRetrievable: true })
    }

    function thin(now: number): void {
      const endedBefore = now - TOMBSTONE_DAYS * DAY_MS
      writes['erasure.oldFiles']({ endedBefore, limit: 10_000 })
      writes['erasure.thinEnded']({ endedBefore, after: undefined, limit: 10_000 })
      writes['erasure.forgetObjects']({ after: 0, limit: 1_000_000 })
    }

    const months: { used: number; file: number; live: number; known: number }[] = []
    for (let day = 1; day <= 365; day += 1) {
      const now = NOW + day * DAY_MS
      db.transaction(() => {
        for (const file of live.filter(({ endsOn }) => endsOn <= day)) end(file, now)
        live = live.filter(({ endsOn }) => endsOn > day)
        for (const kind of FILES_OF_DAY)
          for (let index = 0; index < kind.count; index += 1) live.push(stage(day, now, kind))
        for (const file of live) if ((day - file.bornOn) % AUDIT_DAYS === 0) audit(file, now)
        thin(now)
      })()
      if (day % 30 > 0) continue
      const known = Number(db.prepare('SELECT COUNT(*) FROM files').pluck().get())
      months.push({ used: usedBytes() - emptyBytes, file: fileBytes(), live: live.length, known })
    }

    const last = months.at(-1)
    const sixth = months[5]
    if (last === undefined || sixth === undefined) throw new Error('no months')
    const tables = db
      .prepare<[], { name: string; bytes: number }>(
        `SELECT coalesce(m.tbl_name, d.name) AS name, SUM(pgsize) AS bytes FROM dbstat AS d LEFT JOIN sqlite_schema AS m ON m.name = d.name
         GROUP BY 1 ORDER BY 2 DESC LIMIT 12`,
      )
      .all()
    // What pages of bodies leave unused counts as bodies.
    const overflow = db
      .prepare<[], { pages: number; payload: number }>(
        "SELECT SUM(pgsize) AS pages, SUM(payload) AS payload FROM dbstat WHERE name = 'objects' AND pagetype = 'overflow'",
      )
      .get() ?? { pages: 0, payload: 0 }
    const recordBytes = last.used - overflow.pages - (live.length * INLINE_BYTES - overflow.payload)
    const summary = { staged, ended, months, recordBytes, overflow, perKnownFile: recordBytes / last.known }
    console.info(JSON.stringify({ ...summary, tables }, null, 1))
    expect(reads['quotas.checkDrift'](undefined)).toEqual([])
    // A file that has ended lately has its records, too, but not its bytes.
    expect(recordBytes / last.known).toBeLessThanOrEqual(1536)
    expect(last.used / sixth.used).toBeLessThanOrEqual(1.03)
    expect(last.file / sixth.file).toBeLessThanOrEqual(1.05)
  },
  TIMEOUT_MS,
)
