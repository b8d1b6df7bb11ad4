import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startOwnServer } from '../acceptance/own-server.ts'
import type { OwnServer } from '../acceptance/server-under-test.ts'
import type { Outcome } from './testing/run-program.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { PATH = '' } = process.env

/** What the reader starts with npm: the harness has installed and started the service already, and runs the tests. */
const NPM_COMMANDS = [['ci'], ['start'], ['test'], ['run', 'lade', '--', 'devnet']]

let server: OwnServer
let dir = ''
beforeAll(async () => {
  server = await startOwnServer({ LADE_MIN_FREE_MB: '0', LADE_LOG_LEVEL: 'silent' })
  dir = await mkdtemp(join(tmpdir(), 'lade-readme-'))
  // Notes what it is asked for. The real commands would install, serve and test within this test.
  await writeFile(join(dir, 'npm'), '#!/bin/sh\necho "$*" >> "$NPM_LOG"\n')
  await chmod(join(dir, 'npm'), 0o755)
})
afterAll(async () => {
  await server?.discard()
  await rm(dir, { recursive: true, force: true })
})

interface Block {
  readonly language: string
  readonly text: string
}

async function readBlocks(): Promise<Block[]> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  return [...readme.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text: text.replaceAll('http://127.0.0.1:8080', server.baseUrl.origin),
  }))
}

/** Gives `text` to a program as if it were pasted: a command that reads its input swallows the lines after it. */
function paste(program: string, args: readonly string[], text: string): Promise<Outcome> {
  const env = {
    PATH: `${dir}${delimiter}${PATH}`,
    HOME: dir,
    NPM_LOG: join(dir, 'npm.log'),
    LADE_URL: server.baseUrl.origin,
  }
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: ROOT, env, stdio: 'pipe', timeout: 60_000 })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
    child.stdin.end(text)
  })
}

test('every shell block of the README can be pasted as it is, one after the other', { timeout: 120_000 }, async () => {
  const blocks = (await readBlocks()).filter(({ language }) => language === 'sh')
  expect(blocks.length).toBeGreaterThanOrEqual(5)
  const { exitCode, stdout, stderr } = await paste('bash', ['-e'], blocks.map(({ text }) => text).join('\n'))
  expect(exitCode, stderr).toBe(0)
  expect(stdout).toContain('The downloaded bytes are identical.')
  expect(stdout).toContain('"token":"pk_live_')
  expect(stdout).toMatch(/Logged in to \S+ as ada@example\.org/)
  expect(stdout).toMatch(/^README\.md\n {2}cid +baf/m)
  expect(stdout).toMatch(/README\.md$/m)

  const asked = (await readFile(join(dir, 'npm.log'), 'utf8')).trim().split('\n')
  const known = NPM_COMMANDS.map((words) => words.join(' '))
  expect(asked.filter((line) => !known.includes(line))).toEqual([])
  expect(new Set(asked)).toEqual(new Set(known))
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['start', 'test', 'lade']))
})

test('the program of the README runs as it is', async () => {
  const [program, ...others] = (await readBlocks()).filter(({ language }) => language === 'ts')
  expect(others).toEqual([])
  const { exitCode, stdout, stderr } = await paste(
    process.execPath,
    ['--input-type=module-typescript'],
    program?.text ?? '',
  )
  expect(exitCode, stderr).toBe(0)
  expect(stdout).toMatch(new RegExp(`^baf\\w+ ${server.baseUrl.origin}/p/baf\\w+$`, 'm'))
})

test('every file that the README links to exists', async () => {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target)
  expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([])
})
