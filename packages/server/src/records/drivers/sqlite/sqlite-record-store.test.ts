import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SQLITE_MIGRATIONS } from '../../migrations/sqlite.ts'
import type { RecordStore, UploadCommit } from '../../record-store.ts'
import { durabilityOf, openConnection } from './connection.ts'
import { failureMark } from './failure-mark.ts'
import { groupCommitter } from './group-commit.ts'
import { migrate } from './migrate.ts'
import { openSqliteRecordStore } from './sqlite-record-store.ts'
import { emptyCaches, wreck } from './testing-wrecked.ts'
import type { WriteCall } from './writer-protocol.ts'

const SOURCES = fileURLToPath(new URL('../../../', import.meta.url))
const NOW = Date.UTC(2026, 10, 21, 12)

const openAt = (file: string): Promise<RecordStore> => openSqliteRecordStore({ file, onFatal: () => {} })

describe('sqlite only', () => {
  let dir: string
  let file: string
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'lade-sqlite-'))
    file = join(dir, 'lade.db')
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  describe('durable settings', () => {
    test('every connection journals ahead, syncs every commit and checks foreign keys', () => {
      const first = openConnection(file)
      const second = openConnection(file)
      const durable = { journalMode: 'wal', synchronous: 2, foreignKeys: 1 }
      expect(durabilityOf(first)).toEqual(durable)
      expect(durabilityOf(second)).toEqual(durable)
      first.close()
      second.close()
    })

    test('nothing but connection.ts opens the records to write, and instance-locks.ts only its locks', () => {
      const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
        .filter(
          (name) =>
            name.endsWith('.ts') &&
            !name.endsWith('.test.ts') &&
            !name.split(sep).some((part) => part.startsWith('testing')),
        )
        .filter((name) => /from 'better-sqlite3'|from 'node:sqlite'/.test(readFileSync(join(SOURCES, name), 'utf8')))
      const here = join('records', 'drivers', 'sqlite')
      // They only read, but table-file.ts, which writes the new file of a restore.
      const others = ['immutable-sql.ts', 'schema-version.ts', 'snapshot-file.ts', 'table-file.ts', 'table-source.ts']
      const opening = sources.filter((name) => !others.includes(basename(name)))
      expect(opening.toSorted()).toEqual([join(here, 'connection.ts'), join(here, 'instance-locks.ts')])
    })

    test('the writer thread has no connection but one that openConnection made and checked', () => {
      const source = readFileSync(new URL('./writer-thread.ts', import.meta.url), 'utf8')
      expect(source.match(/openConnection\(/g)).toHaveLength(1)
      expect(source).not.toMatch(/pragma/i)
    })

    test('error: a database that cannot journal ahead is refused', () => {
      expect(() => openConnection(':memory:')).toThrow(/journal_mode=memory/)
    })
  })

  describe('migrations', () => {
    const versionOf = (): number => {
      const connection = openConnection(file)
      const version = Number(connection.pragma('user_version', { simple: true }))
      connection.close()
      return version
    }

    test('bring an empty file to the newest version, and change nothing the second time', () => {
      const connection = openConnection(file)
      migrate(connection)
      const schema = () => connection.prepare('SELECT sql FROM sqlite_schema ORDER BY name').pluck().all()
      const first = schema()
      migrate(connection)
      expect(schema()).toEqual(first)
      connection.close()
      expect(versionOf()).toBe(SQLITE_MIGRATIONS.length)
    })

    test('continue from the version that the file has', () => {
      const connection = openConnection(file)
      migrate(connection, ['CREATE TABLE one (a INTEGER)'])
      migrate(connection, ['CREATE TABLE one (a INTEGER)', 'CREATE TABLE two (a INTEGER)'])
      connection.close()
      expect(versionOf()).toBe(2)
    })

    test('leave the version before when a step fails', () => {
      const connection = openConnection(file)
      const steps = ['CREATE TABLE one (a INTEGER)', 'CREATE TABLE two (a INTEGER); CREATE TABLE one (a INTEGER)']
      migrate(connection, steps.slice(0, 1))
      expect(() => migrate(connection, steps)).toThrow(/already exists/)
      expect(connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()).toEqual(['one'])
      connection.close()
      expect(versionOf()).toBe(1)
    })

    test('leave nothing in a new file when a step fails', () => {
      const connection = openConnection(file)
      const steps = ['CREATE TABLE one (a INTEGER)', 'CREATE TABLE two (a INTEGER); CREATE TABLE one (a INTEGER)']
      expect(() => migrate(connection, steps)).toThrow(/already exists/)
      expect(connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()).toEqual([])
      connection.close()
      expect(versionOf()).toBe(0)
    })

    test('run once when three processes open an empty file at the same moment', async () => {
      const program = join(dir, 'open.mjs')
      const source = `
        const { openSqliteRecordStore } = await import(${JSON.stringify(new URL('./sqlite-record-store.ts', import.meta.url).href)})
        while (Date.now() < Number(process.argv[3])) {}
        const store = await openSqliteRecordStore({ file: process.argv[2], onFatal: (error) => { throw error } })
        await store.instances.register({ instanceId: String(process.pid), now: 0 })
        await store.close()`
      writeFileSync(program, source)
      const start = String(Date.now() + 1_500)
      const ends = await Promise.all([1, 2, 3].map(() => run([program, file, start])))
      expect(ends).toEqual(Array(3).fill({ code: 0, stderr: '' }))
      const store = await openAt(file)
      expect(await store.instances.list()).toHaveLength(3)
      await store.close()
    })

    test('refuses data of a newer version and leaves it as it is', async () => {
      const connection = openConnection(file)
      connection.pragma(`user_version = ${SQLITE_MIGRATIONS.length + 1}`)
      connection.close()
      await expect(openAt(file)).rejects.toThrow(/schema version/)
      expect(versionOf()).toBe(SQLITE_MIGRATIONS.length + 1)
    })
  })

  describe('group commit', () => {
    const register = (instanceId: string): WriteCall => ({
      name: 'instances.register',
      input: { instanceId, now: NOW },
    })

    test('one failing write leaves the others of its group', () => {
      const connection = openConnection(file)
      migrate(connection)
      const commitTogether = groupCommitter(connection)
      const replies = commitTogether([register('a'), register('a'), register('b')])
      expect(replies).toEqual([
        { output: undefined },
        { failure: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY', message: expect.any(String) } },
        { output: undefined },
      ])
      expect(connection.prepare('SELECT id FROM instances ORDER BY id').pluck().all()).toEqual(['a', 'b'])
      connection.close()
    })

    test('a write that fails half way leaves nothing of itself', () => {
      const connection = openConnection(file)
      migrate(connection)
      const signUp = (jti: string, address: string): WriteCall => ({
        name: 'tokens.signUp',
        input: { token: tokenOf(jti), address, hour: 1, limit: 10 },
      })
      const replies = groupCommitter(connection)([signUp('one', 'a'), signUp('one', 'b')])
      expect(replies).toMatchObject([{ output: { outcome: 'issued' } }, { failure: {} }])
      expect(connection.prepare('SELECT address FROM signups').pluck().all()).toEqual(['a'])
      connection.close()
    })

    test('a write through the store that fails reaches its caller alone', async () => {
      const store = await openAt(file)
      const writes = ['a', 'a', 'b'].map((instanceId) => store.instances.register({ instanceId, now: NOW }))
      const settled = await Promise.allSettled(writes)
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(settled[1]).toMatchObject({ reason: { code: 'storage_failed' } })
      await store.instances.register({ instanceId: 'c', now: NOW })
      await store.close()
    })

    test('a write whose promise resolved is there for a fresh connection', async () => {
      const store = await openAt(file)
      for (let round = 0; round < 20; round += 1) {
        await Promise.all([1, 2, 3].map((n) => store.instances.register({ instanceId: `${round}-${n}`, now: NOW })))
        const fresh = openConnection(file)
        expect(fresh.prepare('SELECT COUNT(*) FROM instances').pluck().get()).toBe(3 * (round + 1))
        fresh.close()
      }
      await store.close()
    })

    test('more writes than one group holds all succeed', async () => {
      const store = await openAt(file)
      const many = Array.from({ length: 1_500 }, (_, n) => store.instances.register({ instanceId: `${n}`, now: NOW }))
      await Promise.all(many)
      expect(await store.instances.list()).toHaveLength(1_500)
      await store.close()
    })
  })

  test('a store that is closed twice leaves alone the one that has its thread since', async () => {
    const first = await openAt(file)
    await first.close()
    const second = await openAt(join(dir, 'other.db'))
    await first.close()
    expect(await second.instances.register({ instanceId: 'one', now: NOW })).toBeUndefined()
    await expect(first.instances.register({ instanceId: 'one', now: NOW })).rejects.toMatchObject({
      code: 'storage_failed',
    })
    await second.close()
  })

  describe('a full disk', () => {
    test('refuses with insufficient_storage, keeps what was there, and works again when there is room', async () => {
      const fatal: Error[] = []
      const store = await openSqliteRecordStore({
        file,
        maxSizeBytes: 1_048_576,
        onFatal: (error) => fatal.push(error),
      })
      const staged: string[] = []
      let failure: unknown
      for (let n = 0; failure === undefined && n < 100; n += 1) {
        try {
          await stageInline(store, `object-${n}`, Buffer.alloc(65_536, n))
          staged.push(`object-${n}`)
        } catch (error) {
          failure = error
        }
      }
      expect(failure).toMatchObject({ code: 'insufficient_storage', evidence: { retryAfterSeconds: 60 } })
      expect(staged.length).toBeGreaterThan(5)
      expect(await store.files.list({ principal: 'user:alice', now: NOW, limit: 100 })).toHaveLength(staged.length)
      expect(await store.quotas.checkDrift()).toEqual([])

      for (const sha256 of staged.slice(0, 3)) {
        await store.files.remove({ principal: 'user:alice', key: `sha256:${sha256}`, now: NOW })
      }
      await stageInline(store, 'object-after', Buffer.alloc(65_536, 255))
      expect(await store.files.inlineBytes('object-after')).toHaveLength(65_536)
      expect(fatal).toEqual([])
      await store.close()
    })

    test('fails the whole group when it cannot be committed, and takes the next one', () => {
      const connection = openConnection(file)
      migrate(connection)
      const commitTogether = groupCommitter(connection)
      const pages = Number(connection.pragma('page_count', { simple: true }))
      connection.pragma(`max_page_count = ${pages}`)
      const calls = Array.from(
        { length: 500 },
        (_, n): WriteCall => ({
          name: 'instances.register',
          input: { instanceId: `${n}`.padEnd(200), now: NOW },
        }),
      )
      const full = commitTogether(calls)
      expect(full.filter((reply) => 'failure' in reply && reply.failure.code === 'SQLITE_FULL')).not.toHaveLength(0)
      const kept = full.filter((reply) => 'output' in reply).length
      expect(connection.prepare('SELECT COUNT(*) FROM instances').pluck().get()).toBe(kept)
      connection.pragma('max_page_count = 100000')
      const again = calls.map((call, n): WriteCall => ({ ...call, input: { instanceId: `again ${n}`, now: NOW } }))
      expect(commitTogether(again).every((reply) => 'output' in reply)).toBe(true)
      connection.close()
    })
  })

  describe('a medium that fails while running', () => {
    const openWatched = async () => {
      const fatal: Error[] = []
      const store = await openSqliteRecordStore({ file, onFatal: (error) => fatal.push(error) })
      await store.instances.register({ instanceId: 'a', now: NOW })
      return { store, fatal }
    }
    const registerMany = (store: RecordStore, count: number) =>
      Promise.allSettled(
        Array.from({ length: count }, (_, n) => store.instances.register({ instanceId: `late ${n}`, now: NOW })),
      )

    const failures: readonly (readonly [string, () => void])[] = [
      ['cut to nothing', () => wreck(file)],
      [
        'overwritten with noise',
        () => {
          emptyCaches(file)
          overwriteWithNoise(file)
        },
      ],
      ['deleted', () => rmSync(file)],
      ['deleted with everything around it', () => rmSync(dir, { recursive: true })],
      ['robbed of its log', () => rmSync(`${file}-wal`)],
    ]
    for (const [what, ruin] of failures) {
      test(`error: a database that is ${what} refuses writes with storage_failed and is fatal once`, async () => {
        const { store, fatal } = await openWatched()
        ruin()
        const settled = await registerMany(store, 600)
        expect(settled.filter(({ status }) => status === 'fulfilled').length).toBe(0)
        for (const one of settled) expect(one).toMatchObject({ reason: { code: 'storage_failed' } })
        expect(fatal).toHaveLength(1)
        await expect(store.instances.register({ instanceId: 'after', now: NOW })).rejects.toMatchObject({
          code: 'storage_failed',
        })
        await store.close()
        expect(fatal).toHaveLength(1)
      })
    }

    test('error: the failure of another process that shares the records is fatal, also to one that is idle', async () => {
      const { store, fatal } = await openWatched()
      failureMark(file).set()
      await vi.waitFor(() => expect(fatal).toHaveLength(1), { timeout: 5000 })
      expect(String(fatal[0])).toContain('failed another process')
      await expect(store.instances.register({ instanceId: 'b', now: NOW })).rejects.toMatchObject({
        code: 'storage_failed',
      })
      await store.close()
      // Closed as usual it would be gone.
      expect(existsSync(`${file}-wal`)).toBe(true)
    })

    test('closing is not fatal', async () => {
      const { store, fatal } = await openWatched()
      await store.close()
      expect(fatal).toEqual([])
    })
  })

  test('error: a file whose folder is not there cannot be opened', async () => {
    await expect(openAt(join(dir, 'nowhere', 'lade.db'))).rejects.toThrow(/directory does not exist/)
  })

  test('error: a file that is not a database cannot be opened', async () => {
    overwriteWithNoise(file)
    await expect(openAt(file)).rejects.toThrow(/not a database/)
  })
})

function overwriteWithNoise(file: string): void {
  for (const name of [file, `${file}-wal`]) writeFileSync(name, Buffer.alloc(262_144, 'noise '))
}

async function stageInline(store: RecordStore, sha256: string, inline: Buffer): Promise<void> {
  const key = `sha256:${sha256}`
  const principal = 'user:alice'
  const sizeBytes = inline.length
  const reservation = { reservationId: `of ${key}`, instanceId: 'a', day: '2026-11-21', leaseUntil: NOW + 60_000 }
  await store.quotas.reserve({
    ...reservation,
    principal,
    key,
    sizeBytes,
    capBytes: 1e12,
    capFiles: 1e6,
    maxInFlight: 100,
    now: NOW,
  })
  const file: UploadCommit['file'] = {
    principal,
    key,
    cid: sha256,
    sha256,
    sizeBytes,
    contentType: 'text/plain',
    filename: null,
    visibility: 'public',
    owner: null,
    sponsored: true,
    verified: true,
    termDays: 7,
    uploadedAt: NOW,
    expiresAt: NOW + 1_000_000,
    dealId: 'd-0x00',
  }
  const content = { pieceRoot: '00'.repeat(32), pieceSubtreeRoots: new Uint8Array(), aliases: [], dags: [] }
  const committed = await store.quotas.commit({ reservationId: `of ${key}`, now: NOW, inline, content, file })
  expect(committed.outcome).toBe('recorded')
}

function tokenOf(jti: string) {
  const issued = { sub: 'alice', email: 'alice@example.org', label: 'laptop', scopes: ['put'], quotaMb: 1 }
  return { ...issued, jti, issuedAt: NOW, expiresAt: NOW + 1, lastUsedAt: null, revokedAt: null }
}

function run(args: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args])
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stderr }))
  })
}
