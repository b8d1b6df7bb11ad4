import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

describe('lade admin, reading', () => {
  let service: TestService
  let homeDir = ''
  let token = ''
  beforeAll(async () => {
    service = await startTestService()
    homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
    const mint = ['keys', 'mint', '--data-dir', service.dataDir, '--email']
    token = (await lade([...mint, 'ops@example.org', '--scopes', 'admin'])).stdout.trim()
    const ada = (await lade([...mint, 'ada@example.org'])).stdout.trim()
    for (const name of ['one.txt', 'two.txt']) {
      expect(await lade(['put', '-', '--name', name], { as: ada, input: name })).toMatchObject({ exitCode: 0 })
    }
  })
  afterAll(async () => {
    await service.close()
    await rm(homeDir, { recursive: true, force: true })
  })

  async function lade(args: readonly string[], { as = token, ...typed }: { as?: string } & TestTerminalOptions = {}) {
    const env = { LADE_URL: service.url, LADE_TOKEN: as }
    const { terminal, stdout, stderr } = testTerminal({ homeDir, cwd: homeDir, env, ...typed })
    const exitCode = await run(args, terminal)
    return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
  }
  const admin = (...args: string[]) => lade(['admin', ...args])

  it('shows totals, uploads and jobs', async () => {
    const { stdout } = await admin('status')
    expect(stdout).toContain('stored   14 B, 2 files of 1 caller\n')
    expect(stdout).toContain('uploads  0 in flight, 0 B reserved\n')
    expect((await admin('status', '--json')).json()).toMatchObject({ stored: { files: 2 }, days: { length: 30 } })
    expect(await admin('uploads')).toMatchObject({ stdout: '', stderr: 'No upload is in flight.\n' })
    expect((await admin('uploads', '--json')).json()).toEqual([])
    const jobs = await admin('jobs')
    expect(jobs.stdout).toMatch(/damaged {4}0 objects/)
    expect(jobs.stdout).toMatch(/ {2}local /)
    expect((await admin('jobs', '--json')).json()).toMatchObject({ findings: [], findingsCount: 0 })
  })

  it('lists callers, shows one, and sets its limits', async () => {
    expect((await admin('callers')).stdout).toMatch(/ada@example\.org +14 B +2 +14 B .* -\n/)
    expect((await admin('callers', 'nobody')).stderr).toBe('No caller has "nobody".\n')
    expect((await admin('callers', '--limit', '1')).stderr).toContain('There are more than 1 caller.')
    expect(await admin('limit', 'ada@example.org', '--daily', '2GB', '--stored', '500MB')).toMatchObject({
      exitCode: 0,
      stdout: 'Limits of ada@example.org: 2.0 GiB a day, 500 MiB stored.\n',
    })
    const { stdout } = await admin('caller', 'ada@example.org')
    expect(stdout).toContain('limits       2.0 GiB a day, 500 MiB stored\n')
    expect(stdout).toContain('tokens       1 live, 0 expired or revoked\n')
    const back = await admin('limit', 'ada@example.org', '--daily', 'default', '--json')
    expect(back.json()).toMatchObject({ dailyBytes: null, storedBytes: 524_288_000 })
    expect((await admin('caller', '192.0.2.7')).stdout).toContain('stored       0 B, 0 files\n')
  })

  it('lists the files of anybody', async () => {
    expect((await admin('files')).stdout).toMatch(/two\.txt\n[\s\S]*one\.txt\n/)
    expect((await admin('files', 'one', '--caller', 'ada@example.org', '--json')).json()).toMatchObject([
      { filename: 'one.txt', owner: 'ada@example.org' },
    ])
    expect((await admin('files', '--caller', '192.0.2.7')).stderr).toBe('No live file matches.\n')
  })

  it('shows the audit log, and finds every change of an export', async () => {
    expect((await admin('audit', 'limits.set')).stdout).toMatch(
      /limits\.set +user:[0-9a-f]{16} +user:[0-9a-f]{16} +dailyBytes=/,
    )
    expect((await admin('audit', 'nothing')).stderr).toBe('No entry has "nothing".\n')
    const whole = await admin('audit', '--verify', '--json')
    expect(whole).toMatchObject({ exitCode: 0 })
    const { entries, head } = whole.json()
    expect(await admin('audit', '--export', 'audit.jsonl')).toMatchObject({
      stdout: `Wrote ${entries} entries to audit.jsonl.\n`,
    })
    expect(await admin('audit', '--export', 'audit.jsonl')).toMatchObject({ exitCode: 1 })
    expect(await admin('audit', '--verify', 'audit.jsonl', '--head', head)).toMatchObject({
      exitCode: 0,
      stdout: `The audit log is whole: ${entries} entries.\nHash of the last entry: ${head}\n`,
    })
    const lines = (await readFile(join(homeDir, 'audit.jsonl'), 'utf8')).trim().split('\n')
    const [first = '', second = '', third = '', ...rest] = lines
    const damages: readonly [name: string, lines: readonly string[], said: RegExp][] = [
      ['changed', [first, second.replace('"actor":"', '"actor":"x'), third, ...rest], /^Entry 3 does not follow/],
      ['dropped', [first, third, ...rest], /^Line 2 is entry 3: entries are missing or repeated/],
      ['swapped', [first, third, second, ...rest], /^Line 2 is entry 3/],
      ['cut', [first, second], /^No entry has the hash/],
      ['no log', ['hello'], /^Line 1 is not an entry/],
    ]
    for (const [name, kept, said] of damages) {
      await writeFile(join(homeDir, `${name}.jsonl`), `${kept.join('\n')}\n`)
      const found = await admin('audit', '--verify', `${name}.jsonl`, '--head', head)
      expect([found.exitCode, found.stderr], name).toEqual([1, expect.stringMatching(said)])
    }
    expect((await admin('audit', '--verify', 'cut.jsonl')).exitCode).toBe(0)
  })

  it.each([
    [['limit', 'ada@example.org']],
    [['limit', 'ada@example.org', '--daily', '2']],
    [['limit', 'ada@example.org', '--daily', '9999999TB']],
    [['audit', '--head', 'ab']],
    [['audit', 'query', '--verify']],
    [['audit', '--export', 'x', '--verify']],
    [['callers', '--order', 'name']],
  ])('error: %j is a wrong command line', async (args) => {
    expect(await admin(...args)).toMatchObject({ exitCode: 2 })
  })

  it('error: needs the scope', async () => {
    const mint = ['keys', 'mint', '--data-dir', service.dataDir, '--email', 'grace@example.org']
    const grace = (await lade(mint)).stdout.trim()
    for (const command of ['status', 'jobs', 'uploads', 'callers', 'files', 'audit']) {
      expect(await lade(['admin', command], { as: grace }), command).toMatchObject({ exitCode: 7 })
    }
  })
})
