import { expect, test } from 'vitest'
import { run } from './run.ts'
import { testTerminal } from './testing-terminal.ts'

async function lade(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { terminal, stdout, stderr } = testTerminal({ cwd: '/tmp', homeDir: '/nowhere/home', env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

test.each([
  ['upload', 'put'],
  ['download', 'get'],
  ['list', 'ls'],
  ['delete', 'rm'],
  ['start', 'serve'],
])('the command %s of other programs is told the one here', async (name, meant) => {
  const { exitCode, stderr } = await lade([name, 'x'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`(Did you mean ${meant}?)`)
})

test.each([
  [['put', 'x', '--json', '--nope'], 2, 'usage', /^Unknown option '--nope'\. Did you mean one of --name, --type\?$/],
  [['put', '--json'], 2, 'usage', /^Missing required argument 'files'\.$/],
  [['put', 'nowhere-at-all', '--json'], 1, 'failed', /^There is no file nowhere-at-all\.$/],
  [['hash', 'nowhere-at-all', '--json'], 1, 'failed', /^There is no file nowhere-at-all\.$/],
  [['ls', '--json', '--url', 'nonsense'], 2, 'usage', /^--url must be a URL/],
] as const)('with --json, %j is an object on standard output as well', async (args, exitCode, error, detail) => {
  const ended = await lade(args)
  expect(ended.exitCode).toBe(exitCode)
  expect(JSON.parse(ended.stdout)).toEqual({ error, detail: expect.stringMatching(detail) })
})

test('without --json, standard output stays empty', async () => {
  expect(await lade(['put', 'nowhere-at-all'])).toMatchObject({ exitCode: 1, stdout: '' })
})

test('a token that lost a part or got a space is told from what is no token', async () => {
  expect((await lade(['ls'], { LADE_TOKEN: 'pk_live_a. b.c' })).stderr).toContain(
    'LADE_TOKEN contains a damaged token. A token has three parts',
  )
  expect((await lade(['ls'], { LADE_TOKEN: 'hunter2' })).stderr).toContain('LADE_TOKEN is not a token')
})
