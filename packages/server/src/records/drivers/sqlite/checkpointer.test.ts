import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LogState } from './checkpoint-protocol.ts'
import { type Checkpointer, createCheckpointer } from './checkpointer.ts'
import { type Connection, openConnection } from './connection.ts'
import type { WriteFailure } from './writer-protocol.ts'

/** Pages that one row fills. */
const ROW_PAGES = 10

describe('a checkpointer', () => {
  let dir: string
  let file: string
  let connection: Connection
  let checkpointer: Checkpointer
  let failures: WriteFailure[]
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-checkpoint-'))
    file = join(dir, 'lade.db')
    connection = openConnection(file)
    connection.exec('CREATE TABLE pages (bytes BLOB NOT NULL)')
    failures = []
    checkpointer = createCheckpointer(connection, file, (failure) => failures.push(failure))
  })
  afterEach(async () => {
    await checkpointer.close()
    connection.close()
    rmSync(dir, { recursive: true, force: true })
  })

  const stateNow = (): LogState => connection.prepare<[], LogState>('PRAGMA wal_checkpoint(NOOP)').get() as LogState
  const write = (pages: number, moving = checkpointer): void => {
    const insert = connection.prepare('INSERT INTO pages VALUES (?)')
    connection.transaction(() => {
      for (let row = 0; row < pages / ROW_PAGES; row += 1) insert.run(Buffer.alloc(ROW_PAGES * 4096, row))
    })()
    moving.committed()
  }
  const isMoved = async (pages: number): Promise<void> =>
    vi.waitFor(() => expect(stateNow().checkpointed).toBeGreaterThanOrEqual(pages), { timeout: 10_000 })

  it('lets little wait', async () => {
    write(500)
    expect(stateNow().checkpointed).toBe(0)
    await checkpointer.close()
    expect(stateNow().checkpointed).toBe(0)
  })

  it('moves what is enough, while commits go on, and again what comes after it', async () => {
    write(2500)
    write(10)
    await isMoved(2500)
    for (let count = 0; count < 5; count += 1) write(1000)
    await vi.waitFor(() => expect(stateNow().log - stateNow().checkpointed).toBeLessThan(2000), { timeout: 10_000 })
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
    expect(connection.prepare('SELECT COUNT(*) FROM pages').pluck().get()).toBe(751)
  })

  it('starts the log from its beginning, so that it does not grow', async () => {
    for (let count = 0; count < 30; count += 1) write(1000)
    expect(stateNow().log).toBeLessThan(8000)
  })

  it('lets its thread end when there is nothing to move, and starts another one', async () => {
    const started = vi.spyOn(Worker.prototype, 'postMessage')
    const threads = (): Worker[] => [...new Set(started.mock.contexts)] as Worker[]
    const briefly = createCheckpointer(connection, file, (failure) => failures.push(failure), { idleMs: 50 })
    write(2500, briefly)
    await isMoved(2500)
    await vi.waitFor(() => expect(threads().map(({ threadId }) => threadId)).toEqual([-1]), { timeout: 10_000 })
    write(2500, briefly)
    await isMoved(stateNow().log)
    expect(threads()).toHaveLength(2)
    await briefly.close()
    expect(failures).toEqual([])
    started.mockRestore()
  })

  it('ends while it is at it', async () => {
    write(5000)
    await checkpointer.close()
    expect(connection.pragma('integrity_check', { simple: true })).toBe('ok')
  })

  it('error: lets commits go on when it cannot open the file', async () => {
    const elsewhere = createCheckpointer(connection, join(dir, 'none', 'lade.db'), (failure) => failures.push(failure))
    write(3000)
    elsewhere.committed()
    await elsewhere.close()
    write(3000)
    elsewhere.committed()
    await elsewhere.close()
    expect(failures).toEqual([])
  })
})
