import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { run } from '../run.ts'
import { testTerminal } from '../testing-terminal.ts'
import { BASH_SCRIPT } from './bash-script.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

describe('lade complete', () => {
  afterEach(() => vi.restoreAllMocks())

  /** What is offered in place of the last word, and the directive. */
  async function complete(...words: string[]): Promise<string[]> {
    const lines: string[] = []
    vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
    const { terminal, stdout } = testTerminal()
    expect(await run(['complete', '--', ...words], terminal)).toBe(0)
    return [...lines, ...stdout().trimEnd().split('\n')]
      .filter((line) => line !== '')
      .map((line) => line.split('\t', 1)[0] ?? '')
  }

  it('offers commands and what is below them', async () => {
    expect(await complete('tok')).toEqual(['token', ':4'])
    expect(await complete('')).toEqual(expect.arrayContaining(['put', 'get', 'serve', 'doctor', 'completion']))
    expect(await complete('token', '')).toEqual(['new', 'ls', 'revoke', 'help', ':4'])
    expect(await complete('keys', 'ro')).toEqual(['rotate', ':4'])
    expect(await complete('deals', '')).toEqual(['extend', 'redundancy', 'proofs', ':4'])
    expect(await complete('deals', 'extend', '--d')).toEqual(['--days', ':4'])
    expect(await complete('cha')).toEqual(['challenge', 'chain', ':4'])
  })

  it('does not offer what is hidden', async () => {
    expect(await complete('')).not.toContain('complete')
    expect(await complete('put', '--tok')).toEqual(['--token-file', ':4'])
  })

  it('offers flags and their choices', async () => {
    expect(await complete('put', '--j')).toEqual(['--jobs', '--json', ':4'])
    expect(await complete('put', '--cid', '')).toEqual(['unixfs', 'raw', 'piece', 'sha256', ':4'])
    expect(await complete('deals', '--status', 'ex')).toEqual(['expiring', 'expired', ':4'])
    expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish', ':4'])
  })

  it.each([
    [['put', ''], true],
    [['put', '-r', 'a', 'b'], true],
    [['put', '--name', 'x', ''], true],
    [['put', '--name', ''], false],
    [['deploy', ''], true],
    [['get', ''], false],
    [['get', '-o', ''], true],
    [['verify', ''], false],
    [['verify', 'bafk', ''], true],
    [['hash', ''], true],
    [['ls', '--token-file', ''], true],
    [['ls', ''], false],
    [['rm', ''], false],
  ])('for %j leaves files to the shell: %s', async (words, isFile) => {
    expect((await complete(...words)).at(-1)).toBe(isFile ? ':0' : ':4')
  })
})

describe('lade completion bash', () => {
  let dir = ''
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lade-bash-'))
    await writeFile(join(dir, 'lade'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
    await chmod(join(dir, 'lade'), 0o755)
  })
  afterAll(() => rm(dir, { recursive: true, force: true }))

  /** What a bare bash completes the last word of each line to; it has the script twice, as after reading .bashrc again. */
  async function completeInBash(...lines: readonly (readonly string[])[]): Promise<string[][]> {
    const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`
    const program = [
      'source script && source script || exit 9',
      ...lines.flatMap((words) => [
        `COMP_WORDS=(lade ${words.map(quote).join(' ')}); COMP_CWORD=${words.length}; _lade`,
        `echo "\${COMPREPLY[*]}"`,
      ]),
    ].join('\n')
    await writeFile(join(dir, 'script'), BASH_SCRIPT)
    const env = { PATH: `${dir}:${process.env.PATH}`, HOME: dir }
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', program], { cwd: dir, env })
    expect(stderr).toBe('')
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' '))
  }

  it('prints the script', async () => {
    const { terminal, stdout } = testTerminal()
    expect(await run(['completion', 'bash'], terminal)).toBe(0)
    expect(stdout()).toBe(`${BASH_SCRIPT}\n`)
  })

  it('completes words, flags and values behind an equals sign', async () => {
    expect(await completeInBash(['token', ''], ['put', '--cid', '=', 'ra'], ['put', '--cid', '='])).toEqual([
      ['new', 'ls', 'revoke', 'help'],
      ['raw'],
      ['unixfs', 'raw', 'piece', 'sha256'],
    ])
  })

  it('evaluates nothing of what was typed', async () => {
    const typed = ['put', '$(touch evaluated)', '`touch evaluated`', "it's", '--js']
    expect(await completeInBash(typed)).toEqual([['--json']])
    // The folder is a home as well, with the cache of `lade`.
    expect((await readdir(dir)).sort()).toEqual(['.cache', 'lade', 'script'])
  })
})

describe('lade completion zsh and fish', () => {
  afterEach(() => vi.restoreAllMocks())

  it.each(['zsh', 'fish'])('prints a script for %s that asks lade', async (shell) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const { terminal } = testTerminal()
    expect(await run(['completion', shell], terminal)).toBe(0)
    expect(String(log.mock.calls[0]?.[0])).toContain('lade complete -- ')
  })
})
