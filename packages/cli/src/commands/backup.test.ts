import { createHash, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Lade, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { account, signUp } from '../move/testing-account.ts'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

const BIG = randomBytes(200_000)
const OTHER = randomBytes(80_000)
const SMALL = randomBytes(500)
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const [big, other, small] = [BIG, OTHER, SMALL].map(sha256) as [string, string, string]

const running: Lade[] = []
/** The data directory of a service that was stopped, with two blobs and a small file, which is in the database. */
let template = ''
let token = ''
let dir = ''
let dataDir = ''
let copyDir = ''

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'lade-backup-'))
  const service = await start(template)
  token = (await signUp(service.url)).token
  for (const bytes of [SMALL, BIG, OTHER]) await upload(service, bytes)
  await service.close()
})
afterAll(() => rmSync(template, { recursive: true, force: true }))
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lade-backup-'))
  dataDir = join(dir, 'data')
  copyDir = join(dir, 'copy')
  cpSync(template, dataDir, { recursive: true })
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

const backup = (...flags: string[]) => lade(['backup', copyDir, '--data-dir', dataDir, ...flags])
const restore = (to: string, ...flags: string[]) => lade(['restore', copyDir, '--data-dir', to, ...flags])

async function backedUp(...flags: string[]) {
  const { exitCode, stdout, stderr } = await backup('--json', ...flags)
  expect(stderr).toBe('')
  return { exitCode, ...JSON.parse(stdout) }
}

async function start(data = dataDir): Promise<Lade> {
  const service = await startLade(
    readConfig({
      env: {
        LADE_PORT: '0',
        LADE_DATA_DIR: data,
        LADE_LOG_LEVEL: 'silent',
        LADE_MIN_FREE_MB: '0',
        LADE_SIGNUPS_PER_HOUR: '1000',
      },
    }),
  )
  running.push(service)
  return service
}

async function upload({ url }: Lade, bytes: Uint8Array): Promise<string> {
  const cid = sha256(bytes)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/api/upload?cid=${cid}`, { method: 'POST', headers, body: bytes })
  expect(response.status).toBe(200)
  return cid
}

async function remove({ url }: Lade, cid: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${url}/api/files/${cid}`, { method: 'DELETE', headers })).status).toBe(200)
}

async function servedBy({ url }: Lade, cid: string): Promise<string> {
  const response = await fetch(`${url}/p/${cid}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return response.status === 200 ? sha256(bytes) : `${response.status}`
}

const blobIn = (objects: string, digest: string) => join(objects, digest.slice(0, 2), digest)
const inSource = (digest: string) => blobIn(join(dataDir, 'objects'), digest)
const inCopy = (digest: string) => blobIn(join(copyDir, 'objects'), digest)

/** Flips one bit in the middle. */
function rot(path: string): void {
  const bytes = readFileSync(path)
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

/** Flips a bit of a small file inside a database. */
function rotInline(file: string, digest: string): void {
  const database = new DatabaseSync(file)
  const bytes = database.prepare('SELECT inline FROM objects WHERE sha256 = ?').get(digest)?.inline
  if (!(bytes instanceof Uint8Array)) throw new Error('The file is not in the database.')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  database.prepare('UPDATE objects SET inline = ? WHERE sha256 = ?').run(bytes, digest)
  database.close()
}

function stateDir(): string {
  const state = readdirSync(copyDir).find((name) => name.startsWith('state-')) ?? ''
  return join(copyDir, state)
}

function installationOf(data: string): string {
  return JSON.parse(readFileSync(join(data, 'objects/installation.json'), 'utf8')).id
}

/** What is restored below a data directory: its blobs, and whether the small file is right. */
function restoredIn(to: string) {
  const objects = join(to, 'objects')
  const blobs = readdirSync(objects)
    .filter((name) => name.length === 2)
    .flatMap((shard) => readdirSync(join(objects, shard)))
    .sort()
  for (const digest of blobs) expect(sha256(readFileSync(blobIn(objects, digest)))).toBe(digest)
  const database = new DatabaseSync(join(to, 'lade.db'))
  const inline = database.prepare('SELECT inline FROM objects WHERE sha256 = ?').get(small)?.inline
  database.close()
  return { blobs, isSmallRight: inline instanceof Uint8Array && sha256(inline) === small }
}

describe('lade backup and lade restore', () => {
  test('bring every file back on another folder, while the service runs, with new keys or the old one', async () => {
    const service = await start()
    const before = await account(service.url, token)
    const made = await backup()
    expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    expect(made.stdout).toMatch(/: 3 files, \d+ rows of records/)
    expect(made.stdout).toContain('Blobs: 2 (273 KiB) copied, 0 (0 B) already there.')
    expect(made.stdout).toContain('contains the signing key')
    for (const path of [copyDir, stateDir(), join(stateDir(), 'lade.db'), join(stateDir(), 'token.key'), inCopy(big)]) {
      expect(statSync(path).mode & 0o077, path).toBe(0)
    }

    const kept = await restore(join(dir, 'kept'), '--keep-tokens', '--json')
    expect(kept).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(kept.stdout)).toMatchObject({
      files: 3,
      tokens: 'kept',
      blobs: { copied: { count: 2 }, problems: [] },
      records: { drift: [], problems: [] },
    })
    expect(installationOf(join(dir, 'kept'))).not.toBe(installationOf(dataDir))
    const withKey = await start(join(dir, 'kept'))
    expect(await account(withKey.url, token)).toEqual(before)
    for (const cid of [small, big, other]) expect(await servedBy(withKey, cid)).toBe(cid)

    const ended = await restore(join(dir, 'ended'))
    expect(ended).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('All tokens and share links are now invalid.'),
    })
    const withoutKey = await start(join(dir, 'ended'))
    for (const cid of [small, big, other]) expect(await servedBy(withoutKey, cid)).toBe(cid)
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`${withoutKey.url}/api/usage`, { headers })).status).toBe(401)
    expect(readdirSync(join(dir, 'ended')).filter((name) => name.includes('restor'))).toEqual([])
  })

  test('copy only what is new, and remove what no file needs once the new state is whole', async () => {
    await backup()
    const service = await start()
    const more = await upload(service, randomBytes(90_000))
    await remove(service, big)
    expect(await backedUp()).toMatchObject({
      exitCode: 0,
      files: 3,
      blobs: { copied: { count: 1, bytes: 90_000 }, there: { count: 1 }, removed: { count: 1, bytes: BIG.length } },
    })
    expect(readdirSync(copyDir).filter((name) => name.startsWith('state-'))).toHaveLength(1)
    expect((await restore(join(dir, 'new'))).exitCode).toBe(0)
    expect(restoredIn(join(dir, 'new')).blobs).toEqual([more, other].sort())
  })

  test('name a copy that has rotted, and replace it', async () => {
    await backup()
    rot(inCopy(big))
    expect(await backedUp('--verify', 'new')).toMatchObject({
      exitCode: 0,
      blobs: { there: { count: 2 }, replaced: [] },
    })
    const found = await backup('--verify', 'copy')
    expect(found.exitCode).toBe(0)
    expect(found.stdout).toContain('1 damaged blob of the backup replaced with the bytes of the service:\n')
    expect(found.stdout).toContain(`  ${big} (195 KiB) had wrong bytes in the backup\n`)
    expect(sha256(readFileSync(inCopy(big)))).toBe(big)
  })

  test('name a blob of the service that has rotted or is gone, keep the good copy, and heal it when asked', async () => {
    // Otherwise the storage would seem not to be mounted.
    const service = await start()
    await upload(service, randomBytes(70_000))
    // A running service would meet the damage when it proves the files.
    await service.close()
    await backup()
    rot(inSource(big))
    rmSync(inSource(other))
    const found = await backup()
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(
      `2 blobs damaged in the service. The backup has the right bytes. To restore them, run "lade backup ${copyDir} --heal"`,
    )
    expect(found.stdout).toContain(`  ${big} (195 KiB) has wrong bytes in the service\n`)
    expect(found.stdout).toContain(`  ${other} (78.1 KiB) is missing in the service\n`)
    expect(sha256(readFileSync(inCopy(big)))).toBe(big)

    const healed = await backup('--heal')
    expect(healed.exitCode).toBe(0)
    expect(healed.stdout).toContain('2 damaged blobs of the service replaced with the bytes of the backup:\n')
    expect([sha256(readFileSync(inSource(big))), sha256(readFileSync(inSource(other)))]).toEqual([big, other])
    expect(await backedUp()).toMatchObject({ exitCode: 0, blobs: { problems: [], replaced: [] } })
  })

  test('never take a rotten blob, and take it once the service is healed', async () => {
    rot(inSource(big))
    const first = await backup()
    expect(first.exitCode).toBe(1)
    expect(first.stdout).toContain(
      '1 blob damaged in the service, and the backup has no good copy. Upload the files again:',
    )
    expect(first.stdout).toContain(`${big} (195 KiB) has wrong bytes in the service and is missing in the backup`)
    const partial = await restore(join(dir, 'partial'))
    expect(partial.exitCode).toBe(1)
    expect(partial.stdout).toContain(`  ${big} (195 KiB) is missing from the backup: ${big}\n`)
    expect(restoredIn(join(dir, 'partial'))).toEqual({ blobs: [other], isSmallRight: true })

    writeFileSync(inSource(big), BIG)
    expect(await backedUp()).toMatchObject({ exitCode: 0, blobs: { copied: { count: 1 }, problems: [] } })
    expect(sha256(readFileSync(inCopy(big)))).toBe(big)
  })

  test('name a small file that has rotted in the database, and keep the good bytes of the backup from before', async () => {
    await backup()
    rotInline(join(dataDir, 'lade.db'), small)
    const found = await backup()
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(
      `  ${small} (500 B) has wrong bytes in the database; the backup has the right ones\n`,
    )
    expect((await restore(join(dir, 'new'))).exitCode).toBe(0)
    expect(restoredIn(join(dir, 'new')).isSmallRight).toBe(true)
  })

  test('refuse the folder of another service, and let a restored one go on with it', async () => {
    await backup()
    const elsewhere = join(dir, 'elsewhere')
    const backupOf = (data: string) => lade(['backup', copyDir, '--data-dir', data])
    await (await start(elsewhere)).close()
    expect((await backupOf(elsewhere)).stderr).toContain('is the backup of another installation')
    const restored = join(dir, 'restored')
    await restore(restored)
    expect((await backupOf(restored)).exitCode).toBe(0)
    expect(await backup()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('is the backup of another installation'),
    })
  })

  test('refuse records that went back, and keep the backup from before', async () => {
    cpSync(join(dataDir, 'lade.db'), join(dir, 'older.db'))
    const service = await start()
    const late = await upload(service, randomBytes(90_000))
    await service.close()
    await backup()
    cpSync(join(dir, 'older.db'), join(dataDir, 'lade.db'))
    expect(await backup()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is older than the files') })
    expect((await restore(join(dir, 'new'))).exitCode).toBe(0)
    expect(restoredIn(join(dir, 'new')).blobs).toContain(late)
  })

  test('restore the last whole state after a backup that did not finish, and none where none did', async () => {
    const interrupted = async () => {
      const { terminal, interrupt, stderr } = testTerminal({ cwd: dir, homeDir: dir })
      interrupt()
      expect(await run(['backup', copyDir, '--data-dir', dataDir], terminal)).toBe(130)
      expect(stderr()).toContain('Run the same command again to resume')
    }
    await interrupted()
    expect(await restore(join(dir, 'none'))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('has no complete backup'),
    })
    expect((await backup()).exitCode).toBe(0)
    await upload(await start(), randomBytes(60_000))
    await interrupted()
    expect((await restore(join(dir, 'first'))).exitCode).toBe(0)
    expect(restoredIn(join(dir, 'first'))).toEqual({ blobs: [big, other].sort(), isSmallRight: true })
  })

  test('go on with a restore that was interrupted, and let no service start before', async () => {
    await backup()
    const to = join(dir, 'new')
    const { terminal, interrupt, stderr } = testTerminal({ cwd: dir, homeDir: dir })
    interrupt()
    expect(await run(['restore', copyDir, '--data-dir', to], terminal)).toBe(130)
    expect(stderr()).toContain('The service cannot start there')
    await expect(start(to)).rejects.toThrow(/being restored here/)
    expect(await restore(to, '--keep-tokens')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('An unfinished restore is in'),
    })
    expect((await restore(to)).exitCode).toBe(0)
    expect(restoredIn(to)).toEqual({ blobs: [big, other].sort(), isSmallRight: true })
  })

  test('refuse a place that is not empty', async () => {
    await backup()
    expect(await restore(dataDir)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/lade\.db already exists\./),
    })
    const withKey = join(dir, 'with-key')
    mkdirSync(withKey)
    writeFileSync(join(withKey, 'token.key'), 'x')
    expect(await restore(withKey)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/token\.key already exists\./),
    })
    const withBlobs = await restore(join(dir, 'new'), '--storage', `file:${join(dataDir, 'objects')}`)
    expect(withBlobs).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/objects (is not empty|belongs to an installation)/),
    })
  })

  test.each<[string, () => void, RegExp]>([
    ['other files', () => writeFileSync(join(copyDir, 'photo.jpg'), 'x'), /nor empty: it contains photo\.jpg/],
    ['a damaged manifest', () => writeFileSync(join(copyDir, 'backup.json'), '{'), /backup\.json is damaged/],
    [
      'a manifest of a newer Lade',
      () => writeFileSync(join(copyDir, 'backup.json'), '{"format":2,"id":"x","installation":null,"complete":null}'),
      /has format 2/,
    ],
  ])('refuse a folder with %s', async (_, spoil, sentence) => {
    mkdirSync(copyDir)
    spoil()
    expect(await backup()).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringMatching(sentence) })
  })

  test('refuse records that have rotted in the backup, and take them again with the next one', async () => {
    await backup()
    rot(join(stateDir(), 'lade.db'))
    expect(await restore(join(dir, 'new'))).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/is damaged/) })
    const again = await backup()
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('records of the previous backup were damaged'),
    })
    expect((await restore(join(dir, 'new'))).exitCode).toBe(0)
  })

  test('refuse records that are not there, and make no folder', async () => {
    rmSync(dataDir, { recursive: true })
    expect(await backup()).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/There are no records at/) })
    expect(readdirSync(dir)).toEqual([])
    expect(await restore(dataDir)).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/is not a backup/) })
    expect(readdirSync(dir)).toEqual([])
  })
})
