import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFakeS3 } from '@lade/server/testing/fake-s3'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Postgres, startPostgres } from '../../../../services/postgres.ts'
import { run } from '../run.ts'
import { startTestService } from '../testing-service.ts'
import { testTerminal } from '../testing-terminal.ts'

const PASSWORD = 'hunter2'

let postgres: Postgres
let databases = 0
let url = ''
let dir = ''

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres?.discard())
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'lade-keys-'))
  databases += 1
  const address = new URL(await postgres.createDatabase(`keys_${databases}`))
  address.password = PASSWORD
  url = address.href
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** Runs one command line with the database in its environment; nothing that it says may hold the password. */
async function lade(args: readonly string[], env: Record<string, string> = {}) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env: { LADE_DATABASE: url, ...env } })
  const exitCode = await run(args, terminal)
  expect(stdout() + stderr()).not.toContain(PASSWORD)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

const place = () => `the database keys_${databases} at 127.0.0.1:${postgres.port}`

async function service(env: Record<string, string> = {}) {
  const started = await startTestService({ LADE_DATABASE: url, LADE_SIGNUP: 'closed', ...env })
  onTestFinished(() => started.close())
  return started
}

describe('lade keys with LADE_DATABASE=postgres://…', () => {
  test.each(['HS256', 'RS256'])('shows, mints and rotates the %s key of a running service', async (alg) => {
    const env = { LADE_TOKEN_ALG: alg }
    const running = await service(env)
    const shown = JSON.parse((await lade(['keys', 'show', '--json'], env)).stdout)
    expect(shown).toMatchObject({ source: 'database', file: null, alg, ageDays: 0, overdue: false })
    expect((await lade(['keys', 'show'], env)).stdout).toContain(`The signing key ${shown.id} is in ${place()}.`)

    const { stdout, stderr } = await lade(['keys', 'mint', '--email', 'a@b.co'], env)
    expect(stderr).toContain(`signed with: ${shown.id} from ${place()}`)
    const mine = { ...env, LADE_URL: running.url, LADE_TOKEN: stdout.trim() }
    expect(await lade(['usage'], mine)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('a@b.co') })

    const rotated = await lade(['keys', 'rotate'], env)
    expect(rotated).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`The signing key in ${place()} is now`),
    })
    expect(rotated.stdout).not.toContain(shown.id)
    await vi.waitFor(async () => expect((await lade(['usage'], mine)).exitCode).toBe(7), { timeout: 10_000 })
    expect(readdirSync(dir)).toEqual([])
  })

  test('rotates with an overlap, and revokes tokens that the service never saw', async () => {
    const running = await service()
    const mint = async () => {
      const { token, jti } = JSON.parse((await lade(['keys', 'mint', '--email', 'a@b.co', '--json'])).stdout)
      return { jti, usage: () => lade(['usage'], { LADE_URL: running.url, LADE_TOKEN: token }) }
    }
    const [old, unseen] = [await mint(), await mint()]
    expect((await lade(['keys', 'rotate', '--overlap', '1'])).stdout).toContain('of the old key')
    const next = await mint()
    await vi.waitFor(async () => expect((await next.usage()).exitCode).toBe(0), { timeout: 10_000 })
    expect((await old.usage()).exitCode).toBe(0)
    expect((await lade(['keys', 'revoke', '--jti', unseen.jti])).exitCode).toBe(0)
    expect((await unseen.usage()).exitCode).toBe(7)
    expect((await lade(['keys', 'revoke', '--email', 'a@b.co'])).stdout).toContain('(2 valid tokens on record)')
    await vi.waitFor(async () => expect((await old.usage()).exitCode).toBe(7), { timeout: 10_000 })
    expect((await next.usage()).exitCode).toBe(7)
    expect(readdirSync(dir)).toEqual([])
  })

  test('makes nothing in a database that no service was started on', async () => {
    for (const command of [['show'], ['rotate']]) {
      const { exitCode, stdout, stderr } = await lade(['keys', ...command])
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(stderr).toContain(`here is no key in ${place()}`)
    }
    expect((await lade(['keys', 'mint', '--email', 'a@b.co'])).exitCode).toBe(6)
    const looked = await lade(['doctor'])
    expect(looked.stdout).toContain('It has no tables yet. "lade serve" creates them.')
  })

  test('error: says that a database does not answer', async () => {
    url = `postgres://lade:${PASSWORD}@127.0.0.1:1/lade`
    expect((await lade(['keys', 'show'])).exitCode).toBe(6)
    const { exitCode, stdout } = await lade(['doctor'])
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/BROKEN .*Cannot query the database lade at 127.0.0.1:1: .*ECONNREFUSED/)
  })
})

describe('lade doctor with PostgreSQL and a bucket', () => {
  test('looks at both, and leaves nothing in the bucket', async () => {
    const s3 = await startFakeS3()
    onTestFinished(() => s3.close())
    vi.stubEnv('AWS_ACCESS_KEY_ID', s3.credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', s3.credentials.secretAccessKey)
    onTestFinished(() => void vi.unstubAllEnvs())
    await service()
    const storage = `s3://${s3.bucket}/lade?endpoint=${s3.url}&region=${s3.region}`
    const { stdout } = await lade(['doctor', '--json', '--storage', storage, '--port', '0'])
    const { findings } = JSON.parse(stdout) as { findings: { check: string; state: string; sentence: string }[] }
    const of = (check: string) => findings.find((finding) => finding.check === check)
    expect(of('database')).toMatchObject({
      state: 'ok',
      sentence: expect.stringMatching(/ is available on PostgreSQL 18\.\d+\.$/),
    })
    expect(of('databaseDurability')).toMatchObject({
      state: 'broken',
      sentence: expect.stringContaining('fsync is off'),
    })
    expect(of('databaseSchema')?.state).toBe('ok')
    expect(of('databaseConnections')?.sentence).toBe('It accepts 300 connections; each process opens up to 18.')
    expect(of('databaseClock')?.state).toBe('ok')
    expect(of('storage')).toMatchObject({
      state: 'ok',
      sentence: expect.stringContaining('the bucket bucket below lade/'),
    })
    expect(of('key')?.sentence).toBe(`The signing key in ${place()} is 0 days old.`)
    expect(s3.requests).toContain('PutObject')
    expect([...s3.objects.keys(), ...s3.uploads.keys()]).toEqual([])

    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'wrong')
    const refused = await lade(['doctor', '--storage', storage, '--port', '0'])
    expect(refused.stdout).toMatch(
      /BROKEN .*Cannot write, read and remove a test blob in the bucket bucket below lade\/: .*403/,
    )
  })
})
