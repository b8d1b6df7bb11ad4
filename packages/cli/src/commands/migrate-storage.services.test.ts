import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Lade, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { type FakeS3, startFakeS3 } from '@lade/server/testing/fake-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { type Account, account, signUp } from '../move/testing-account.ts'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
const MIB = 1024 * 1024
/** More than one part, so that it is put together from two. */
const BIG_BYTES = 127 * MIB + 1000
const PASSWORD = 'hunter2'

let postgres: Postgres
let s3: FakeS3
const running: Lade[] = []
let databases = 0
let dir = ''
let dataDir = ''

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  s3 = await startFakeS3()
  vi.stubEnv('AWS_ACCESS_KEY_ID', s3.credentials.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3.credentials.secretAccessKey)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await s3?.close()
  await postgres?.discard()
})
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-migrate-'))
  dataDir = join(dir, 'data')
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.close()
  rmSync(dir, { recursive: true, force: true })
})

async function lade(args: readonly string[], env: Record<string, string> = {}) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

const migrate = (...args: string[]) => lade(['migrate-storage', '--data-dir', dataDir, ...args])

/** The same in a process of its own, which is killed. */
async function killed(args: readonly string[], afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [MAIN, 'migrate-storage', '--data-dir', dataDir, ...args], {
    env: {},
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  setTimeout(() => child.kill('SIGKILL'), afterMs)
  await exited
}

async function start(env: Record<string, string> = {}): Promise<Lade> {
  const settings = {
    LADE_PORT: '0',
    LADE_DATA_DIR: dataDir,
    LADE_LOG_LEVEL: 'silent',
    LADE_MIN_FREE_MB: '0',
    LADE_TOKEN_FILE_MB: '200',
    LADE_SIGNUPS_PER_HOUR: '1000',
  }
  const service = await startLade(readConfig({ env: { ...settings, ...env } }))
  running.push(service)
  return service
}

/** An empty database, by an address with a password that no line may show. */
async function database(): Promise<string> {
  databases += 1
  const url = new URL(await postgres.createDatabase(`migrate_${databases}`))
  url.password = PASSWORD
  return url.href
}

const bucket = (prefix: string) => `s3://${s3.bucket}/${prefix}?endpoint=${s3.url}&region=${s3.region}`
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

interface Staged {
  readonly cid: string
  readonly sha256: string
  readonly isPrivate: boolean
}

interface Installation extends Account {
  readonly token: string
  readonly revoked: string
  readonly staged: readonly Staged[]
}

/** Files of every kind: in the records and beside them, public and private, put together, named by an opaque id, removed. */
async function install({ url }: Lade, { withBig = false, isSlow = false } = {}): Promise<Installation> {
  const { token } = await signUp(url)
  const gone = await signUp(url)
  const env = { LADE_URL: url, LADE_TOKEN: token }
  const staged: Staged[] = []
  const put = async (name: string, bytes: Uint8Array, ...flags: string[]) => {
    writeFileSync(join(dir, name), bytes)
    const { stdout, stderr } = await lade(['put', name, '--json', ...flags], env)
    expect(stderr).toBe('')
    const { cid } = JSON.parse(stdout) as { cid: string }
    rmSync(join(dir, name))
    staged.push({ cid, sha256: sha256(bytes), isPrivate: flags.includes('--private') })
    return cid
  }
  await put('small.txt', randomBytes(100))
  await put('medium.bin', randomBytes(300_000))
  await put('piece.bin', randomBytes(200_000), '--cid', 'piece')
  await put('private.bin', randomBytes(150_000), '--private')
  if (isSlow) await put('slow.bin', randomBytes(8 * MIB))
  if (withBig) await put('big.bin', Buffer.concat([randomBytes(1000), Buffer.alloc(BIG_BYTES - 1000)]))
  const opaque = randomBytes(90_000)
  const uploaded = await fetch(`${url}/api/upload?cid=myfile0001`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
    body: opaque,
  })
  expect(uploaded.status).toBe(200)
  staged.push({ cid: 'myfile0001', sha256: sha256(opaque), isPrivate: false })
  const removed = await put('removed.bin', randomBytes(80_000))
  staged.pop()
  expect((await lade(['rm', removed, '--yes'], env)).exitCode).toBe(0)
  expect((await lade(['token', 'revoke', gone.jti], env)).exitCode).toBe(0)
  return { token, revoked: gone.token, staged, ...(await account(url, token)) }
}

async function expectAllServed({ url }: Lade, { staged, token, revoked, usage, listing }: Installation): Promise<void> {
  for (const { cid, sha256: digest, isPrivate } of staged) {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(`${url}/p/${cid}`, isPrivate ? { headers } : {})
    expect([response.status, sha256(new Uint8Array(await response.arrayBuffer()))], cid).toEqual([200, digest])
    if (isPrivate) expect((await fetch(`${url}/p/${cid}`)).status).not.toBe(200)
  }
  expect((await fetch(`${url}/api/usage`, { headers: { authorization: `Bearer ${revoked}` } })).status).toBe(401)
  expect(await account(url, token)).toEqual({ usage, listing })
}

describe('lade migrate-storage', () => {
  test('moves everything to PostgreSQL and a bucket, which serve it to the same tokens', {
    timeout: 120_000,
  }, async () => {
    const before = await start()
    const installation = await install(before, { withBig: true })
    const to = ['--to-database', await database(), '--to-storage', bucket('all')]

    const whileItRuns = await migrate(...to)
    expect(whileItRuns).toMatchObject({ exitCode: 1, stdout: '' })
    expect(whileItRuns.stderr).toMatch(/^An instance runs on .*lade\.db\. Stop every instance first\.\n$/)
    const looked = await migrate(...to, '--dry-run', '--json')
    expect(looked.exitCode).toBe(0)
    expect(JSON.parse(looked.stdout)).toMatchObject({
      dryRun: true,
      blobs: { there: { count: 0 }, others: 0, problems: [] },
      records: {
        outcome: null,
        tables: { files: expect.any(Number), tokens: 2, parts: 2 },
        occupied: [],
        setAside: null,
      },
    })
    expect([...s3.objects.keys()]).toEqual([])
    await before.close()

    const { exitCode, stdout, stderr } = await migrate(...to)
    // The database of this test runs so.
    const warning = 'Warning: the database runs with fsync off: a power cut loses acknowledged data\n'
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: warning })
    expect(stdout).toMatch(/^Blobs: \d+ \(12\d(\.\d)? MiB\) copied and hashed, 0 \(0 B\) already there\.$/m)
    expect(stdout).toMatch(/^Records: [\d,]+ rows in \d+ tables copied and compared\.$/m)
    expect(stdout).toContain('All quota counters are consistent.')
    expect(stdout).toContain(`  LADE_DATABASE=postgres://postgres@127.0.0.1:${postgres.port}/migrate_${databases}\n`)
    expect(stdout).toContain(`  LADE_STORAGE=${to[3]}\n`)
    expect(stdout + stderr + looked.stdout).not.toContain(PASSWORD)

    await expect(start()).rejects.toThrow(/have been moved to the database migrate_/)
    // Another machine, which has nothing but the two addresses.
    const oldDir = dataDir
    dataDir = join(dir, 'elsewhere')
    const after = await start({ LADE_DATABASE: to[1] ?? '', LADE_STORAGE: to[3] ?? '' })
    await expectAllServed(after, installation)
    const more = await signUp(after.url)
    expect(more.token).not.toBe(installation.token)
    await after.close()

    // And back again, by the one rename that the file itself names.
    const aside = readdirSync(oldDir).find((name) => name.startsWith('lade.db.moved-')) ?? ''
    expect(readFileSync(join(oldDir, 'lade.db'), 'utf8')).toContain(aside)
    renameSync(join(oldDir, aside), join(oldDir, 'lade.db'))
    dataDir = oldDir
    await expectAllServed(await start(), installation)
  })

  test('moves blobs alone, from one directory to another, again and again', async () => {
    const before = await start()
    const installation = await install(before)
    await before.close()
    const target = join(dir, 'other')
    const first = await migrate('--to-storage', `file:${target}`, '--json')
    const { blobs, records } = JSON.parse(first.stdout)
    expect(records).toBeNull()
    expect(blobs.copied.count).toBeGreaterThan(2)
    const again = JSON.parse((await migrate('--to-storage', `file:${target}`, '--verify', '--json')).stdout)
    expect(again.blobs).toMatchObject({ copied: { count: 0 }, there: blobs.copied, problems: [] })
    const idIn = (objects: string) => JSON.parse(readFileSync(join(objects, 'installation.json'), 'utf8')).id
    expect(idIn(target)).toBe(idIn(join(dataDir, 'objects')))
    rmSync(join(dataDir, 'objects'), { recursive: true })
    await expectAllServed(await start({ LADE_STORAGE: `file:${target}` }), installation)
  })

  test('error: moves nothing to where the objects of another installation are, and nothing that does not belong together', async () => {
    await install(await start())
    const other = await start({ LADE_DATA_DIR: join(dir, 'other') })
    await install(other)
    for (const service of running.splice(0)) await service.close()
    const others = join(dir, 'other/objects')
    const refused = await migrate('--to-storage', `file:${others}`)
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain('contains files of another installation')
    const mixed = await migrate('--storage', `file:${others}`, '--to-storage', `file:${join(dir, 'third')}`)
    expect(mixed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(mixed.stderr).toContain('belongs to installation')
    expect(readdirSync(dir)).not.toContain('third')
  })

  test('moves blobs of records that are in PostgreSQL', async () => {
    const records = { LADE_DATABASE: await database() }
    const before = await start(records)
    const installation = await install(before)
    await before.close()
    const to = bucket('of-postgres')
    const { exitCode, stdout } = await migrate('--database', records.LADE_DATABASE, '--to-storage', to)
    expect(exitCode).toBe(0)
    expect(stdout).not.toContain(PASSWORD)
    expect(stdout).not.toContain('LADE_DATABASE')
    rmSync(dataDir, { recursive: true })
    await expectAllServed(await start({ ...records, LADE_STORAGE: to }), installation)
  })

  test('tells damaged blobs by digest, moves all the rest, and ends with 1', async () => {
    const before = await start()
    const { staged } = await install(before)
    await before.close()
    const damaged = staged.at(1)?.sha256 ?? ''
    const path = join(dataDir, 'objects', damaged.slice(0, 2), damaged)
    writeFileSync(path, Buffer.alloc(readFileSync(path).length))
    const { exitCode, stdout } = await migrate('--to-database', await database(), '--to-storage', bucket('damaged'))
    expect(exitCode).toBe(1)
    expect(stdout).toContain('1 blob cannot be copied:\n')
    expect(stdout).toContain(`  ${damaged} (293 KiB) has wrong bytes in the storage: ${staged.at(1)?.cid} medium.bin\n`)
    expect(stdout).toMatch(/copied and compared/)
    expect(s3.objects.has(`damaged/objects/${damaged.slice(0, 2)}/${damaged}`)).toBe(false)
  })

  test('refuses a database that is in use, and leaves the old one as it is', async () => {
    const before = await start()
    const installation = await install(before)
    await before.close()
    const url = await database()
    const other = await start({ LADE_DATABASE: url, LADE_STORAGE: `file:${join(dir, 'others-objects')}` })
    await signUp(other.url)
    await other.close()
    const refused = await migrate('--to-database', url)
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/already has records/) })
    const looked = await migrate('--to-database', url, '--dry-run')
    expect(looked).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/The new database has data in audit_log, (stored_days, )?tokens\./),
    })
    await expectAllServed(await start(), installation)
  })

  test('says how to go on after Ctrl-C, and goes on', async () => {
    const before = await start()
    const installation = await install(before)
    await before.close()
    const { terminal, interrupt, stderr } = testTerminal({ cwd: dir, homeDir: dir })
    interrupt()
    const to = ['--to-storage', bucket('interrupted')]
    expect(await run(['migrate-storage', '--data-dir', dataDir, ...to], terminal)).toBe(130)
    expect(stderr()).toContain('Run the same command again to resume.')
    expect((await migrate(...to)).exitCode).toBe(0)
    await expectAllServed(await start({ LADE_STORAGE: to[1] ?? '' }), installation)
  })

  test('goes on after it was killed, wherever it was', { timeout: 60_000 }, async () => {
    const before = await start()
    const installation = await install(before, { isSlow: true })
    await before.close()
    const to = ['--to-database', await database(), '--to-storage', `file:${join(dir, 'other')}`]
    // Slow enough to be met at blobs; how long a start takes differs.
    for (const afterMs of [400, 900, 1400, 1900]) await killed([...to, '--bandwidth', '1'], afterMs)
    expect((await migrate(...to)).exitCode).toBe(0)
    const again = await migrate(...to)
    expect(again).toMatchObject({ exitCode: 0, stderr: '' })
    expect(again.stdout).toContain('An earlier run moved everything. Nothing to do.\n')
    expect(again.stdout).toContain(`  LADE_STORAGE=${to[3]}\n`)
    expect(JSON.parse((await migrate(...to, '--json')).stdout)).toMatchObject({ wasDone: true, records: null })
    for (const elsewhere of [to.slice(0, 2), [...to.slice(0, 3), `file:${join(dir, 'third')}`]]) {
      expect(await migrate(...elsewhere)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(/^The records of Lade .* have been moved/),
      })
    }
    const after = await start({ LADE_DATABASE: to[1] ?? '', LADE_STORAGE: to[3] ?? '' })
    await expectAllServed(after, installation)
    expect(readdirSync(join(dir, 'other', 'pending'))).toEqual([])
  })

  test.each<[string, readonly string[], number, RegExp]>([
    ['nothing to move', [], 2, /^Specify the destination/],
    [
      'a database that is none',
      ['--to-database', 'mysql://root:hunter2@db/x'],
      2,
      /^--to-database is .*but it must be/,
    ],
    ['a storage that is none', ['--to-storage', 'ftp://x'], 2, /^--to-storage is "ftp:\/\/x", but it must be/],
    ['no storage', ['--to-storage', 'none'], 1, /LADE_STORAGE=none cannot store blobs/],
    ['SQLite as the new database', ['--to-database', 'sqlite:other.db'], 1, /from SQLite to PostgreSQL/],
    ['records that are not there', ['--to-storage', 'file:other'], 1, /There are no records at/],
  ])('refuses %s, and makes nothing', async (_, args, exitCode, sentence) => {
    mkdirSync(dataDir)
    const refused = await migrate(...args)
    expect(refused).toMatchObject({ exitCode, stdout: '', stderr: expect.stringMatching(sentence) })
    expect(refused.stderr).not.toContain(PASSWORD)
    expect(readdirSync(dataDir)).toEqual([])
    expect(readdirSync(dir)).toEqual(['data'])
  })

  test('refuses the storage that it has already, and a database that does not answer', async () => {
    await (await start()).close()
    expect((await migrate('--to-storage', `file:${join(dataDir, 'objects')}`)).stderr).toMatch(
      /are already in .*objects/,
    )
    const away = await migrate('--to-database', `postgres://lade:${PASSWORD}@127.0.0.1:1/lade`)
    expect(away).toMatchObject({ exitCode: 6, stdout: '', stderr: expect.stringMatching(/ECONNREFUSED/) })
    expect(away.stderr).toContain('Run the same command again to resume')
    expect(away.stderr).not.toContain(PASSWORD)
  })
})
