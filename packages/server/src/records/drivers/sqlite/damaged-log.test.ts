import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { dropDamagedLog, findDamagedLog } from './damaged-log.ts'

const FRAME_BYTES = 24 + 4096
const HEADER_BYTES = 32

describe('findDamagedLog', () => {
  let dir: string
  let file: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-log-'))
    file = join(dir, 'crashed.db')
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  /** Runs on a database as long as it is open. */
  const use = (path: string, work: (db: Connection) => void): void => {
    const db = openConnection(path)
    db.pragma('wal_autocheckpoint = 0')
    work(db)
    cpSync(path, `${path}.copy`)
    cpSync(`${path}-wal`, `${path}-wal.copy`)
    db.close()
    // As a crash leaves it: the database, and the log that nobody has folded in.
    cpSync(`${path}.copy`, path)
    cpSync(`${path}-wal.copy`, `${path}-wal`)
  }
  const insert = (db: Connection, bytes: number): void => {
    db.prepare('INSERT INTO t (v) VALUES (randomblob(?))').run(bytes)
  }
  /** Leaves a log of one transaction for each size; returns the number of frames after each. */
  const crashAfter = (sizes: readonly number[]): number[] => {
    const ends: number[] = []
    use(file, (db) => {
      db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, v BLOB)')
      for (const size of sizes) {
        insert(db, size)
        ends.push((readFileSync(`${file}-wal`).length - HEADER_BYTES) / FRAME_BYTES)
      }
    })
    return ends
  }
  const log = (): Buffer => readFileSync(`${file}-wal`)
  const flip = (bytes: Buffer, bit: number): Buffer => {
    const flipped = Buffer.from(bytes)
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    return flipped
  }

  it('finds nothing in a log that is absent, empty, whole, or cut off anywhere', () => {
    expect(findDamagedLog(file)).toBeUndefined()
    crashAfter([10, 20_000, 10])
    expect(findDamagedLog(file)).toBeUndefined()
    for (let length = log().length; length >= 0; length = length === 0 ? -1 : Math.max(0, length - 1500)) {
      truncateSync(`${file}-wal`, length)
      expect(findDamagedLog(file), `${length} bytes`).toBeUndefined()
    }
  })

  it('finds any flipped bit that is followed by a whole later transaction', () => {
    const ends = crashAfter([10, 20_000, 10, 9000, 10])
    const whole = log()
    const before = HEADER_BYTES + (ends[2] ?? 0) * FRAME_BYTES
    fc.assert(
      fc.property(fc.integer({ min: HEADER_BYTES * 8, max: before * 8 - 1 }), (bit) => {
        writeFileSync(`${file}-wal`, flip(whole, bit))
        const frame = Math.floor(((bit >> 3) - HEADER_BYTES) / FRAME_BYTES)
        expect(findDamagedLog(file)).toMatchObject({ offset: HEADER_BYTES + frame * FRAME_BYTES })
      }),
      { numRuns: 200 },
    )
  })

  it('never takes a last transaction that a power cut has torn for damage, also behind what older cuts have left', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 2, maxLength: 5 }),
        fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        (sizes, cuts) => {
          rmSync(dir, { recursive: true })
          dir = mkdtempSync(join(tmpdir(), 'lade-log-'))
          file = join(dir, 'crashed.db')
          let ends = crashAfter(sizes)
          for (const torn of cuts) {
            const [start = 0, end = 0] = ends.slice(-2)
            const bytes = log()
            // Any sectors of the last transaction did not reach the medium.
            const from = HEADER_BYTES + start * FRAME_BYTES
            const sectors = Math.floor(((end - start) * FRAME_BYTES) / 512)
            for (const sector of torn) {
              const at = from + (sector % sectors) * 512
              bytes.fill(0, at, at + 512)
            }
            writeFileSync(`${file}-wal`, bytes)
            expect(findDamagedLog(file)).toBeUndefined()
            // The next process goes on behind what is good, over what is left.
            ends = [start]
            use(file, (db) => {
              const used = () => Number((db.pragma('wal_checkpoint(NOOP)') as { log: number }[])[0]?.log)
              for (const size of [1, 6000]) {
                insert(db, size)
                ends.push(used())
              }
            })
            expect(findDamagedLog(file)).toBeUndefined()
          }
        },
      ),
      { numRuns: 25 },
    )
  })

  it('drops what cannot be read, keeps a copy, and finds no damage after that', () => {
    const ends = crashAfter([10, 10, 10, 10])
    const damaged = flip(log(), (HEADER_BYTES + (ends[1] ?? 0) * FRAME_BYTES + 200) * 8)
    writeFileSync(`${file}-wal`, damaged)
    expect(findDamagedLog(file)).toMatchObject({ laterTransactions: 1 })
    const copy = dropDamagedLog(file, new Date(Date.UTC(2026, 10, 21)))
    expect(copy).toBe(`${file}-wal.damaged-20261121T000000Z`)
    expect(readFileSync(copy ?? '').equals(damaged)).toBe(true)
    expect(findDamagedLog(file)).toBeUndefined()
    const db = openConnection(file)
    expect(db.prepare('SELECT count(*) FROM t').pluck().get()).toBe(2)
    db.close()
  })
})
