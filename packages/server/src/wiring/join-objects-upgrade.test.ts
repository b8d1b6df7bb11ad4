import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openInstanceLocks } from '../records/drivers/sqlite/instance-locks.ts'
import { SQLITE_ALONE_FROM, SQLITE_MIGRATIONS } from '../records/migrations/sqlite.ts'
import { type RunningService, runService } from '../testing/running/running-service.ts'

/** Large enough for the blob store. */
const bytesOf = (seed: number): Buffer => Buffer.alloc(70_000, `file ${seed} `)

let dir: string
let services: RunningService[]
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-upgrade-'))
  services = []
})
afterEach(async () => {
  for (const service of services) await service.close()
  rmSync(dir, { recursive: true, force: true })
})

const start = async (): Promise<RunningService> => {
  const service = await runService({ dataDir: dir })
  services.push(service)
  return service
}
const stop = async (): Promise<void> => {
  for (const service of services.splice(0)) await service.close()
}
const document = () => join(dir, 'objects/installation.json')
const database = <Value>(work: (db: DatabaseSync) => Value): Value => {
  const db = new DatabaseSync(join(dir, 'lade.db'))
  try {
    return work(db)
  } finally {
    db.close()
  }
}
const upload = async (service: RunningService, seeds: readonly number[]): Promise<void> => {
  for (const seed of seeds) expect((await service.upload(bytesOf(seed))).status).toBe(200)
}

describe('an installation that has no id yet', () => {
  /** What a version before this one leaves: blobs and their records, and no id on either side. */
  const forgetId = (): void => {
    database((db) => db.exec('DELETE FROM installation'))
    rmSync(document())
  }

  it('gets one on both sides without a question when records and objects know each other', async () => {
    await upload(await start(), [1, 2, 3, 4, 5])
    await stop()
    forgetId()
    await start()
    const { id } = JSON.parse(readFileSync(document(), 'utf8'))
    expect(database((db) => db.prepare('SELECT id, is_paired FROM installation').get())).toMatchObject({
      id,
      is_paired: 1,
    })
  })

  it('gets one though some objects are unknown and some are missing', async () => {
    await upload(await start(), [1, 2, 3, 4, 5, 6])
    await stop()
    forgetId()
    const [missing = ''] = database((db) => db.prepare("SELECT sha256 FROM objects WHERE place = 'blob'").all()).map(
      ({ sha256 }) => String(sha256),
    )
    rmSync(join(dir, 'objects', missing.slice(0, 2), missing))
    await start()
    expect(existsSync(document())).toBe(true)
  })

  it('gets none where the objects are of other records', async () => {
    await upload(await start(), [1, 2, 3, 4])
    await stop()
    forgetId()
    database((db) => db.exec('PRAGMA foreign_keys = OFF; UPDATE objects SET sha256 = lower(hex(randomblob(32)))'))
    await expect(start()).rejects.toThrow(/of 4 sampled files, 0 are in the database/)
    expect(existsSync(document())).toBe(false)
    expect(database((db) => db.prepare('SELECT count(*) AS count FROM installation').get())).toEqual({ count: 0 })
  })

  it('gets the rest of one that a crash left half done', async () => {
    await upload(await start(), [1, 2, 3])
    await stop()
    const { id } = JSON.parse(readFileSync(document(), 'utf8'))
    // The records have it, the objects do not.
    database((db) => db.exec('UPDATE installation SET is_paired = 0'))
    rmSync(document())
    await start()
    expect(JSON.parse(readFileSync(document(), 'utf8')).id).toBe(id)
    await stop()
    // Both have it, and the records do not know that yet.
    database((db) => db.exec('UPDATE installation SET is_paired = 0'))
    await start()
    expect(database((db) => db.prepare('SELECT is_paired FROM installation').get())).toEqual({ is_paired: 1 })
    await stop()
    // The disk of the objects was taken away in between.
    database((db) => db.exec('UPDATE installation SET is_paired = 0'))
    rmSync(join(dir, 'objects'), { recursive: true })
    await expect(start()).rejects.toThrow(/The disk may not be mounted/)
  })
})

describe('data of a version beside which this one cannot run', () => {
  const OLDER = SQLITE_ALONE_FROM - 1

  it('is not touched while an instance of that version lives, and is brought up to date when none does', async () => {
    database((db) => {
      db.exec('PRAGMA journal_mode = WAL')
      for (const migration of SQLITE_MIGRATIONS.slice(0, OLDER)) db.exec(migration)
      db.exec(`PRAGMA user_version = ${OLDER}; INSERT INTO instances (id, started_at) VALUES ('alive', 1), ('dead', 1)`)
    })
    const versionNow = () => database((db) => db.prepare('PRAGMA user_version').get()?.user_version)
    const lock = await openInstanceLocks({ dir: join(dir, 'instances') }).hold('alive')
    await expect(start()).rejects.toThrow(
      /An older version of Lade still runs on .*lade\.db.* Stop every instance, start one/,
    )
    expect(versionNow()).toBe(OLDER)
    await lock.release()
    await start()
    expect(versionNow()).toBe(SQLITE_MIGRATIONS.length)
  })
})
