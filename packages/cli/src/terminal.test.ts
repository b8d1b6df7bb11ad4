import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFakeService, startTestService, type TestService } from './testing-service.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const LADE = `"${process.execPath}" "${MAIN}"`

let service: TestService
let homeDir = ''
beforeAll(async () => {
  service = await startTestService()
  homeDir = await mkdtemp(join(tmpdir(), 'lade-terminal-'))
  await writeFile(join(homeDir, 'hello.txt'), 'hello world')
  await inShell(`${LADE} login --email ada@example.org && ${LADE} put hello.txt`)
})
afterAll(async () => {
  await service.close()
  await rm(homeDir, { recursive: true, force: true })
})

const environment = (more: Record<string, string> = {}) => ({
  PATH: process.env.PATH,
  HOME: homeDir,
  TERM: 'xterm-256color',
  LADE_URL: service.url,
  ...more,
})

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function inShell(line: string, env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile('bash', ['-c', line], { cwd: homeDir, env: environment(env) }, (error, stdout, stderr) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
    })
  })
}

/** Runs a line in a pseudo-terminal of so many columns, and gives back all that was drawn. */
const onTerminal = (columns: number, line: string, env: Record<string, string> = {}) =>
  inShell(`script -qec 'stty cols ${columns}; ${line}' /dev/null </dev/null`, env)

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.on('exit', (exitCode) => resolve(exitCode)))

describe('a terminal', () => {
  const hasScript = existsSync('/usr/bin/script') && process.platform === 'linux'
  const options = { meta: { skippedBecause: 'it needs the program script of Linux (package bsdutils)' } }

  it.runIf(hasScript).each([40, 80])(
    'of %i columns gets tables that fit it, with colours',
    options,
    async (columns) => {
      const { stdout } = await onTerminal(columns, `${LADE} ls`)
      expect(stdout).toContain('\x1b[2m')
      for (const line of stripVTControlCharacters(stdout).split('\r\n')) {
        expect(line.length).toBeLessThanOrEqual(columns)
      }
      expect(stdout).toContain('hello.txt')
    },
  )

  it.runIf(hasScript)('gets no colours where NO_COLOR is set', options, async () => {
    expect((await onTerminal(80, `${LADE} ls`, { NO_COLOR: '1' })).stdout).not.toContain('\x1b')
  })

  it.runIf(hasScript)('sees progress, and nothing of it in the end', options, async () => {
    const { stdout } = await onTerminal(80, `head -c 30000000 /dev/zero >zeros && ${LADE} put zeros`)
    expect(stdout).toMatch(/(?:Hashing|Sending|Putting) /)
    // The line is erased before the result is written.
    expect(stdout).toContain('\x1b[2K\x1b[1mzeros')
  })
})

describe('a pipe', () => {
  it('gets whole ids and no colours, unless FORCE_COLOR is set', async () => {
    const { stdout, stderr } = await inShell(`${LADE} ls | cat`)
    expect([stdout.includes('\x1b'), stderr]).toEqual([false, ''])
    expect(stdout).toContain('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
    expect((await inShell(`${LADE} ls | cat`, { FORCE_COLOR: '1' })).stdout).toContain('\x1b[2m')
  })

  it('may be closed early without a complaint', async () => {
    const cid = (await inShell(`head -c 3000000 /dev/zero | ${LADE} put - -q`)).stdout.trim()
    const { stdout, stderr } = await inShell(`${LADE} get ${cid} -o - | head -c 10 | wc -c`)
    expect([stdout.trim(), stderr]).toEqual(['10', ''])
  })
})

describe('an interruption', () => {
  it('ends a get with 130, keeps what came, and says so', async () => {
    const slow = await startFakeService((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 1_000_000 })
      response.write('x'.repeat(10_000))
    })
    try {
      const args = [MAIN, 'get', 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e', '-o', 'slow.txt']
      const child = spawn(process.execPath, args, { cwd: homeDir, env: environment({ LADE_URL: slow.url }) })
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk
      })
      while (!(await inShell('ls')).stdout.includes('slow.txt.part-'))
        await new Promise((resolve) => setTimeout(resolve, 50))
      child.kill('SIGINT')
      expect(await ended(child)).toBe(130)
      expect(stderr).toBe('Interrupted. The partial download is saved. Run the same command again to resume.\n')
      expect((await inShell('ls')).stdout).toMatch(/^slow\.txt\.part-[0-9a-f]{8}$/m)
    } finally {
      await slow.close()
    }
  })
})

describe('an error', () => {
  it('is one sentence, and with --debug all that led to it', async () => {
    const line = `${LADE} ls --url http://127.0.0.1:9`
    const brief = await inShell(line)
    expect(brief).toMatchObject({ exitCode: 6, stdout: '' })
    expect(brief.stderr.trimEnd().split('\n')).toHaveLength(1)
    const long = await inShell(`${line} --debug`)
    expect(long.exitCode).toBe(6)
    expect(long.stderr).toContain('[cause]')
  })
})
