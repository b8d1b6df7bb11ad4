import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Connection, openConnection } from './connection.ts'
import { readLog } from './read-log.ts'

describe('readLog', () => {
  let dir: string
  let file: string
  let connection: Connection
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-log-'))
    file = join(dir, 'lade.db')
    connection = openConnection(file)
    connection.pragma('synchronous = OFF')
    connection.exec('CREATE TABLE rows (bytes BLOB NOT NULL)')
    for (let row = 0; row < 60; row += 1) insert(row)
  })
  afterEach(() => {
    connection.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const insert = (row: number): void => {
    connection.prepare('INSERT INTO rows VALUES (?)').run(Buffer.alloc(100 + (row % 7) * 3000, row))
  }
  /** How many frames SQLite takes from a log. */
  const recoveredFrames = (log: Buffer): number => {
    const copy = join(dir, 'copy.db')
    for (const suffix of ['-wal', '-shm']) rmSync(copy + suffix, { force: true })
    copyFileSync(file, copy)
    writeFileSync(`${copy}-wal`, log)
    const opened = openConnection(copy)
    opened.pragma('synchronous = OFF')
    try {
      opened.prepare('SELECT COUNT(*) FROM sqlite_schema').get()
      return (opened.pragma('wal_checkpoint(NOOP)') as { log: number }[])[0]?.log ?? -1
    } finally {
      opened.close()
    }
  }
  const readFrames = (log: Buffer): number => {
    writeFileSync(join(dir, 'log'), log)
    return readLog(join(dir, 'log'))?.committedFrames ?? 0
  }

  it('finds every frame of a whole log, and every page', () => {
    const log = readLog(`${file}-wal`)
    expect(log?.committedFrames).toBe(recoveredFrames(readFileSync(`${file}-wal`)))
    expect(log?.pages.size).toBe(connection.pragma('page_count', { simple: true }))
    expect(log?.pageBytes).toBe(4096)
  })

  it('takes what a recovery takes, wherever a log is cut or a bit of it is flipped', () => {
    const whole = readFileSync(`${file}-wal`)
    for (let round = 0; round < 20; round += 1) {
      const at = Math.floor((whole.length * (round + 0.37)) / 20)
      const flipped = Buffer.from(whole)
      flipped[at] = (flipped[at] ?? 0) ^ 4
      for (const log of [whole.subarray(0, at), flipped]) expect(readFrames(log), `at ${at}`).toBe(recoveredFrames(log))
    }
  })

  it('takes the frames of this turn of the log, and none that an earlier turn left behind them', () => {
    connection.pragma('wal_checkpoint(PASSIVE)')
    insert(1)
    const log = readFileSync(`${file}-wal`)
    expect(readLog(`${file}-wal`)?.committedFrames).toBeLessThan(10)
    expect(readFrames(log)).toBe(recoveredFrames(log))
  })

  it('answers undefined for a file that is no log', () => {
    writeFileSync(join(dir, 'log'), 'no log')
    expect(readLog(join(dir, 'log'))).toBeUndefined()
    writeFileSync(join(dir, 'log'), Buffer.alloc(5000, 7))
    expect(readLog(join(dir, 'log'))).toBeUndefined()
  })
})
