import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

const EMAIL = 'ada@example.org'

describe('lade admin forget', () => {
  let service: TestService
  let homeDir = ''
  let token = ''
  let ada = ''
  beforeAll(async () => {
    service = await startTestService()
    homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
    const mint = ['keys', 'mint', '--data-dir', service.dataDir, '--email']
    token = (await lade([...mint, 'ops@example.org', '--scopes', 'admin'])).stdout.trim()
    ada = (await lade([...mint, EMAIL])).stdout.trim()
    expect(await lade(['put', '-', '--name', 'diary.txt'], { as: ada, input: 'Dear diary' })).toMatchObject({
      exitCode: 0,
    })
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
  const forget = (...args: string[]) => lade(['admin', 'forget', '--email', EMAIL, ...args])

  it('writes what is kept, erases nothing in a dry run, then erases it', async () => {
    expect(await forget('--dry-run', '--export', 'ada.jsonl')).toMatchObject({
      exitCode: 0,
      stdout: `${EMAIL}: 1 live file (10 B), 1 token.\nWrote 6 lines to ada.jsonl.\nNothing was erased.\n`,
    })
    const written = join(homeDir, 'ada.jsonl')
    expect((await stat(written)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(written, 'utf8')).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).kind)).toEqual(['caller', 'token', 'usage', 'file', 'audit', 'audit'])
    expect(await forget('--dry-run', '--export', 'ada.jsonl')).toMatchObject({
      exitCode: 1,
      stderr: 'Cannot write ada.jsonl: it exists already.\n',
    })
    const declined = await lade(['admin', 'forget', '--email', EMAIL], { columns: 100, input: 'n\n' })
    expect(declined).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/Nothing was erased\.\n$/) })
    const erased = await forget('--yes')
    expect(erased).toMatchObject({ exitCode: 0 })
    expect(erased.stdout).toContain(
      'Erased the names of 1 file, 1 of them live, and ended 1 token and 0 sessions.\nKept:\n- ',
    )
    expect(await lade(['ls'], { as: ada })).toMatchObject({ exitCode: 7 })
    expect((await forget('--yes', '--json')).json()).toMatchObject({ files: 0, ended: 0, tokens: 0 })
    expect((await forget('--dry-run', '--json')).json()).toMatchObject({ stored: { files: 0 }, email: null })
  })

  it.each([
    [['admin', 'forget', '--yes']],
    [['admin', 'forget', '--email', EMAIL]],
    [['admin', 'forget', '--email', EMAIL, '--json']],
    [['admin', 'forget', '--email', EMAIL, '--principal', '192.0.2.7', '--yes']],
  ])('error: %j is a wrong command line', async (args) => {
    expect(await lade(args)).toMatchObject({ exitCode: 2 })
  })

  it('error: needs the scope', async () => {
    const args = ['keys', 'mint', '--data-dir', service.dataDir, '--email', 'grace@example.org']
    const grace = (await lade(args)).stdout.trim()
    expect(await lade(['admin', 'forget', '--email', EMAIL, '--yes'], { as: grace })).toMatchObject({ exitCode: 7 })
  })
})
