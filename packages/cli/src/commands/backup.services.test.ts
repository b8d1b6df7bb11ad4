import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Lade, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'
import { type FakeS3, startFakeS3 } from '@lade/server/testing/fake-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { account, signUp } from '../move/testing-account.ts'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
const MIB = 1024 * 1024
/** When commands are killed; how long a start takes differs. */
const KILLED_AFTER_MS =
  process.env.LADE_TEST_PLAN === 'full' ? [500, 900, 1200, 1500, 2000, 2500, 3000, 4000] : [1200, 2500]

let postgres: Postgres
let s3: FakeS3
const running: Lade[] = []
let databases = 0
let dir = ''
let copyDir = ''

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
  dir = mkdtempSync(join(tmpdir(), 'lade-backup-'))
  copyDir = join(dir, 'copy')
})
afterEach(async () => {
  for (const service of running.splice(0)) await service.close()
  rmSync(dir, { recursive: true, force: true })
})

type Place = Readonly<Record<string, string>>

/** An empty database and an empty bucket, or an empty folder. */
async function place(kind: 'one machine' | 'many machines'): Promise<Place> {
  databases += 1
  const data = { LADE_DATA_DIR: join(dir, `data-${databases}`) }
  if (kind === 'one machine') return data
  return {
    ...data,
    LADE_DATABASE: await postgres.createDatabase(`backup_${databases}`),
    LADE_STORAGE: `s3://${s3.bucket}/backup-${databases}?endpoint=${s3.url}&region=${s3.region}`,
  }
}

async function lade(args: readonly string[], env: Place) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

/** One object of JSON, from a command that ends with 0. */
async function told(args: readonly string[], env: Place) {
  const { exitCode, stdout, stderr } = await lade([...args, '--json'], env)
  expect({ exitCode, stderr: stderr.replace(/^Warning: the database runs with fsync off.*\n/gm, '') }).toEqual({
    exitCode: 0,
    stderr: '',
  })
  return JSON.parse(stdout)
}

/** A command in a process of its own, which is killed. */
async function killed(args: readonly string[], env: Place, afterMs: number): Promise<void> {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = process.env
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...env, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  setTimeout(() => child.kill('SIGKILL'), afterMs)
  await exited
}

async function start(env: Place): Promise<Lade> {
  const settings = {
    LADE_PORT: '0',
    LADE_LOG_LEVEL: 'silent',
    LADE_MIN_FREE_MB: '0',
    LADE_SIGNUPS_PER_HOUR: '1000',
  }
  const service = await startLade(readConfig({ env: { ...settings, ...env } }))
  running.push(service)
  return service
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

async function upload({ url }: Lade, token: string, bytes: Uint8Array): Promise<string> {
  const cid = sha256(bytes)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
  const response = await fetch(`${url}/api/upload?cid=${cid}`, { method: 'POST', headers, body: bytes })
  expect(response.status).toBe(200)
  return cid
}

async function servedBy({ url }: Lade, cid: string): Promise<string> {
  const response = await fetch(`${url}/p/${cid}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return response.status === 200 ? sha256(bytes) : `${response.status}`
}

/** Files in the records and beside them, and one of several MiB. */
async function install(env: Place, sizes = [100, 3000, 70_000, 300_000, 5 * MIB]) {
  const service = await start(env)
  const { token } = await signUp(service.url)
  const cids: string[] = []
  for (const sizeBytes of sizes) cids.push(await upload(service, token, randomBytes(sizeBytes)))
  const removed = await upload(service, token, randomBytes(80_000))
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${service.url}/api/files/${removed}`, { method: 'DELETE', headers })).status).toBe(200)
  return { service, token, cids, removed }
}

async function expectRestored(env: Place, from: Awaited<ReturnType<typeof install>>, isTokenGood: boolean) {
  const restored = await start(env)
  for (const cid of from.cids) expect(await servedBy(restored, cid)).toBe(cid)
  expect(await servedBy(restored, from.removed)).toBe('410')
  if (isTokenGood) expect(await account(restored.url, from.token)).toEqual(await account(from.service.url, from.token))
  // It is a service like any other.
  const { token } = await signUp(restored.url)
  const cid = await upload(restored, token, randomBytes(90_000))
  expect(await servedBy(restored, cid)).toBe(cid)
  await restored.close()
}

describe('lade backup and lade restore', () => {
  test.each([
    ['many machines', 'many machines'],
    ['many machines', 'one machine'],
    ['one machine', 'many machines'],
  ] as const)('bring a service of %s to %s, while it runs', { timeout: 120_000 }, async (from, to) => {
    const source = await place(from)
    const installed = await install(source)
    const first = await told(['backup', copyDir], source)
    expect(first).toMatchObject({ files: 5, blobs: { problems: [], replaced: [] }, hasKey: true })
    const second = await told(['backup', copyDir, '--verify', 'copy'], source)
    expect(second.blobs).toMatchObject({ copied: { count: 0 }, there: first.blobs.copied, problems: [] })

    const [kept, ended] = [await place(to), await place(to)]
    expect(await told(['restore', copyDir, '--keep-tokens'], kept)).toMatchObject({
      files: 5,
      tokens: 'kept',
      blobs: { copied: first.blobs.copied, problems: [] },
      records: { drift: [], problems: [] },
    })
    await expectRestored(kept, installed, true)
    expect(await told(['restore', copyDir], ended)).toMatchObject({ tokens: 'ended' })
    await expectRestored(ended, installed, false)
    expect(readdirSync(ended.LADE_DATA_DIR ?? '').filter((name) => name.includes('restor'))).toEqual([])
  })

  test('name what has rotted in a bucket, keep the good copy, and heal it when asked', async () => {
    const source = await place('many machines')
    const { cids, service } = await install(source)
    await told(['backup', copyDir], source)
    const digest = cids[3] ?? ''
    const key = [...s3.objects.keys()].find((name) => name.includes(digest)) ?? ''
    const object = s3.objects.get(key)
    if (object === undefined) throw new Error('There is no such object.')
    s3.objects.set(key, { ...object, bytes: Buffer.alloc(object.bytes.length) })
    const found = await lade(['backup', copyDir, '--json'], source)
    expect(found.exitCode).toBe(1)
    expect(JSON.parse(found.stdout).blobs.problems).toEqual([
      { sha256: digest, sizeBytes: 300_000, problem: 'wrong', copy: 'good', healed: false },
    ])
    expect((await told(['backup', copyDir, '--heal'], source)).blobs.problems).toMatchObject([{ healed: true }])
    expect((await told(['backup', copyDir], source)).blobs.problems).toEqual([])
    expect(await servedBy(service, digest)).toBe(digest)
  })

  test('refuse a database and a storage that are in use', { timeout: 60_000 }, async () => {
    const source = await place('many machines')
    const { service } = await install(source)
    await told(['backup', copyDir], source)
    const [used, empty] = [source, await place('many machines')]
    const mixed = { ...empty, LADE_DATABASE: used.LADE_DATABASE ?? '' }
    expect(await lade(['restore', copyDir], mixed)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/An instance runs on/),
    })
    await service.close()
    expect(await lade(['restore', copyDir], mixed)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/has data in .*files/),
    })
    const otherMix = { ...empty, LADE_STORAGE: used.LADE_STORAGE ?? '' }
    expect(await lade(['restore', copyDir], otherMix)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/is not empty|belongs to/),
    })
    expect((await lade(['restore', copyDir], empty)).exitCode).toBe(0)
  })

  test.each(['one machine', 'many machines'] as const)(
    'go on after they were killed, wherever they were: %s',
    { timeout: 180_000 },
    async (kind) => {
      const [source, target] = [await place(kind), await place(kind)]
      const installed = await install(source, [100, 70_000, ...Array.from({ length: 12 }, () => 600_000)])
      // Slow enough to be met at blobs.
      for (const afterMs of KILLED_AFTER_MS) {
        await killed(['backup', copyDir, '--bandwidth', '2'], source, afterMs)
      }
      expect((await told(['backup', copyDir], source)).blobs.problems).toEqual([])
      for (const afterMs of KILLED_AFTER_MS) {
        await killed(['restore', copyDir, '--keep-tokens', '--bandwidth', '2'], target, afterMs)
      }
      expect(await told(['restore', copyDir, '--keep-tokens'], target)).toMatchObject({ blobs: { problems: [] } })
      await expectRestored(target, installed, true)
      expect(readdirSync(join(copyDir, 'objects', 'pending'))).toEqual([])
    },
  )
})
