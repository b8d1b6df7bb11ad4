import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SETTINGS, type Setting, shownDefaultOf } from '@lade/server/config'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import about from '../package.json' with { type: 'json' }
import { exampleUpload } from './commands/serve.ts'
import { EXIT } from './exit-code.ts'
import { run } from './run.ts'
import { startTestService } from './testing-service.ts'
import { testTerminal } from './testing-terminal.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const DAY_SECONDS = 86_400
const COMMANDS = [
  'put',
  'get',
  'ls',
  'rm',
  'share',
  'deals',
  'login',
  'logout',
  'usage',
  'token',
  'wallet',
  'hash',
  'verify',
  'serve',
  'keys',
  'backup',
  'restore',
  'migrate-storage',
  'doctor',
  'completion',
]

interface Outcome {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-cli-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** Runs one command line in `dir` with nothing in its environment but `env`. */
async function lade(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { terminal, stdout, stderr } = testTerminal({ cwd: dir, homeDir: dir, env })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr() }
}

/** The same in a process of its own. */
function program(args: readonly string[]): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [MAIN, ...args], { cwd: dir, env: {} }, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : error.code
      if (typeof exitCode === 'number') resolve({ exitCode, stdout, stderr })
      else reject(error)
    })
  })
}

const keyFile = () => join(dir, 'data', 'token.key')

async function putKey(ageDays: number): Promise<string> {
  const k = Buffer.alloc(32, 5).toString('base64url')
  await mkdir(join(dir, 'data'), { recursive: true })
  const iat = Math.floor(Date.now() / 1000) - ageDays * DAY_SECONDS
  await writeFile(keyFile(), JSON.stringify({ kty: 'oct', k, iat }), { mode: 0o600 })
  return k
}

function payloadOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}

describe('lade', () => {
  it('prints its version', async () => {
    const expected = { exitCode: 0, stdout: `${about.version}\n`, stderr: '' }
    expect(await lade(['--version'])).toEqual(expected)
    expect(await program(['--version'])).toEqual(expected)
  })

  it('lists every command and exit code in its help', async () => {
    const { exitCode, stdout } = await lade(['--help'])
    expect(exitCode).toBe(0)
    for (const name of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} .*[A-Z].*$`, 'm'))
    for (const code of Object.values(EXIT)) if (code < 100) expect(stdout).toMatch(new RegExp(`\\b${code} {2}[a-z]`))
  })

  it.each(COMMANDS)('explains %s and each of its flags', async (name) => {
    const { exitCode, stdout } = await lade([name, '--help'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(new RegExp(`^Usage: lade ${name} `))
    for (const [, flag] of stdout.matchAll(/^ {2}(?:-\w, )?(--[\w-]+).*$/gm)) {
      expect(stdout, flag).toMatch(new RegExp(`${flag}\\b[^\\n]*\\s+\\S*[A-Z]`))
    }
  })

  it('ends with the exit code of its process', async () => {
    expect(await program(['sink'])).toMatchObject({ exitCode: 2, stdout: '' })
  })

  it.each([[['sink']], [['serve', '--prot', '1']], [['keys', 'burn']], [['keys', 'mint']], [[]], [['keys']]])(
    'refuses the command line %j with exit code 2 and no stack',
    async (args) => {
      const { exitCode, stdout, stderr } = await lade(args)
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
      expect(stderr).not.toMatch(/^\s+at /m)
    },
  )
})

describe('lade serve', () => {
  it('shows every setting as a flag with its meaning, variable and default in --help', async () => {
    const { exitCode, stdout } = await lade(['serve', '--help'])
    const help = stdout.replace(/\s+/g, ' ')
    expect(exitCode).toBe(0)
    for (const setting of Object.values<Setting>(SETTINGS)) {
      const flag = `--${setting.name.slice(5).toLowerCase().replaceAll('_', '-')} <value>`
      expect(help).toContain(`${flag} ${setting.meaning} (${setting.name}; default: ${shownDefaultOf(setting)})`)
    }
  })

  it('accepts the flags of old names, and shows only the new ones', async () => {
    const { exitCode, stderr } = await lade(['serve', '--token-days', '0'])
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: '--token-days is "0", but it must be a whole number from 1 to 36500.\n',
    })
    const { stdout: help } = await lade(['serve', '--help'])
    expect(help).not.toContain('--token-days')
    expect(help.match(/^Options:$/gm)).toEqual(['Options:'])
    expect(help.indexOf('\nOptions:')).toBeGreaterThan(help.indexOf('\nLogs and metrics:'))
  })

  it.each<[string, readonly string[], Record<string, string>, string]>([
    ['a wrong flag', ['--port', 'x'], {}, '--port is "x", but it must be a whole number from 0 to 65535.\n'],
    ['a wrong variable', [], { LADE_PORT: 'x' }, 'LADE_PORT is "x", but it must be a whole number from 0 to 65535.\n'],
    ['an unknown variable', [], { LADE_PROT: '1' }, 'LADE_PROT is not a Lade setting. Did you mean LADE_PORT?\n'],
  ])('refuses %s by one sentence, exit code 2, and creates nothing', async (_, args, env, sentence) => {
    expect(await lade(['serve', ...args], env)).toEqual({ exitCode: 2, stdout: '', stderr: sentence })
    expect(await readdir(dir)).toEqual([])
  })

  it('offers a line for the shell that names the bytes by their own sha2-256', () => {
    const line = exampleUpload('http://127.0.0.1:8080')
    expect(line).toMatch(
      /^printf hello \| curl .*"http:\/\/127\.0\.0\.1:8080\/api\/upload\?cid=\$\(printf hello \| sha256sum \| cut -c1-64\)"$/,
    )
    expect(line).not.toContain('\n')
  })
})

describe('lade keys show', () => {
  it('says where the key is and how old, and not what it is', async () => {
    const k = await putKey(12)
    const { exitCode, stdout, stderr } = await lade(['keys', 'show'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toContain(keyFile())
    expect(stdout).toContain('It is 12 days old. Rotation is not due yet')
    expect(stdout).not.toContain(k)
  })

  it('says that a key of 91 days is overdue', async () => {
    await putKey(91)
    expect((await lade(['keys', 'show'])).stdout).toContain('It is 91 days old. Rotation is overdue')
    const { file, ageDays, overdue, source } = JSON.parse((await lade(['keys', 'show', '--json'])).stdout)
    expect({ file, ageDays, overdue, source }).toEqual({ file: keyFile(), ageDays: 91, overdue: true, source: 'file' })
  })

  it('says that the age of a key from LADE_TOKEN_KEY is not known', async () => {
    const env = { LADE_TOKEN_KEY: 'hunter2-'.repeat(5) }
    const { stdout } = await lade(['keys', 'show'], env)
    expect(stdout).toContain('LADE_TOKEN_KEY')
    expect(stdout).toContain('Its age is unknown.')
    expect(stdout).not.toContain('hunter2')
    expect(JSON.parse((await lade(['keys', 'show', '--json'], env)).stdout)).toMatchObject({
      ageDays: null,
      file: null,
    })
  })

  it('error: ends with 1 where there is no key, and creates none', async () => {
    const { exitCode, stdout, stderr } = await lade(['keys', 'show'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toContain(keyFile())
    expect(await readdir(dir)).toEqual([])
  })

  it('error: ends with 1 and one sentence for a file that holds no key', async () => {
    await putKey(0)
    await writeFile(keyFile(), 'torn')
    const { exitCode, stderr } = await lade(['keys', 'show'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('does not hold a JSON Web Key')
    expect(stderr).not.toMatch(/^\s+at /m)
  })
})

describe('lade keys rotate', () => {
  it('replaces the key without asking, and says what that means', async () => {
    const k = await putKey(91)
    const { exitCode, stdout } = await lade(['keys', 'rotate'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('All existing tokens and share links are invalid')
    expect(await readFile(keyFile(), 'utf8')).not.toContain(k)
    expect((await lade(['keys', 'show'])).stdout).toContain('It is 0 days old')
  })

  it('keeps the old key for the days of --overlap, and says until when', { timeout: 20_000 }, async () => {
    const service = await startTestService({ LADE_SIGNUP: 'closed' })
    try {
      const at = ['--data-dir', service.dataDir]
      const { stdout: old } = await lade(['keys', 'mint', '--email', 'a@b.co', ...at])
      const before = JSON.parse((await lade(['keys', 'show', '--json', ...at])).stdout)
      const { exitCode, stdout } = await lade(['keys', 'rotate', '--overlap', '7', ...at])
      expect(exitCode).toBe(0)
      const [, until = ''] = /of the old key [0-9a-f]{16} stay valid until (\S+Z)\./.exec(stdout) ?? []
      expect(Math.abs(Date.parse(until) - Date.now() - 7 * DAY_SECONDS * 1000)).toBeLessThan(60_000)
      const shown = JSON.parse((await lade(['keys', 'show', '--json', ...at])).stdout)
      expect(shown).toMatchObject({ ageDays: 0, previous: [{ id: before.id, acceptedUntil: until }] })
      expect((await lade(['keys', 'show', ...at])).stdout).toContain(`the previous key ${before.id} are accepted until`)
      const { stdout: next, stderr } = await lade(['keys', 'mint', '--email', 'a@b.co', ...at])
      expect(stderr).not.toContain('a new signing key')
      const usage = (token: string) => lade(['usage'], { LADE_URL: service.url, LADE_TOKEN: token.trim() })
      await vi.waitFor(async () => expect((await usage(next)).exitCode).toBe(0), { timeout: 10_000 })
      expect((await usage(old)).exitCode).toBe(0)
      await lade(['keys', 'rotate', ...at])
      await vi.waitFor(async () => expect((await usage(old)).exitCode).toBe(7), { timeout: 10_000 })
      expect((await usage(next)).exitCode).toBe(7)
    } finally {
      await service.close()
    }
  })

  it.each(['0', '366', '1.5', 'x'])('refuses --overlap %s, and leaves the file', async (days) => {
    const k = await putKey(91)
    expect((await lade(['keys', 'rotate', '--overlap', days])).exitCode).toBe(2)
    expect(await readFile(keyFile(), 'utf8')).toContain(k)
  })

  it('refuses while LADE_TOKEN_KEY is set, and leaves the file', async () => {
    const k = await putKey(91)
    const { exitCode, stderr } = await lade(['keys', 'rotate'], { LADE_TOKEN_KEY: 'x'.repeat(32) })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('LADE_TOKEN_KEY')
    expect(await readFile(keyFile(), 'utf8')).toContain(k)
  })

  it('refuses where there is no key, and creates none', async () => {
    expect((await lade(['keys', 'rotate'])).exitCode).toBe(1)
    expect(await readdir(dir)).toEqual([])
  })
})

describe('lade keys under RS256', () => {
  const env = { LADE_TOKEN_ALG: 'RS256' }
  const rsaFile = () => join(dir, 'data', 'token.rs256.key')
  const show = async (more: Record<string, string> = env) =>
    JSON.parse((await lade(['keys', 'show', '--json'], more)).stdout)
  const headerOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0]?.slice(8) ?? '', 'base64url').toString())

  it('shows and rotates the RSA key, and leaves that of HS256 as it is', async () => {
    const k = await putKey(12)
    expect(await lade(['keys', 'show'], env)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(rsaFile()) })
    expect((await lade(['keys', 'rotate'], env)).exitCode).toBe(1)
    const { stderr } = await lade(['keys', 'mint', '--email', 'a@b.co'], env)
    expect(stderr).toContain(
      'This created a new signing key. If the service already runs, mint with its LADE_DATA_DIR or LADE_DATABASE',
    )
    const before = await show()
    expect(before).toMatchObject({ file: rsaFile(), alg: 'RS256', ageDays: 0 })
    expect((await lade(['keys', 'rotate'], env)).stdout).toContain(rsaFile())
    expect((await show()).id).not.toBe(before.id)
    expect(await show({})).toMatchObject({ file: keyFile(), alg: 'HS256', ageDays: 12 })
    expect(await readFile(keyFile(), 'utf8')).toContain(k)
  })

  it('takes the algorithm as a flag, too', async () => {
    const { stdout } = await lade(['keys', 'mint', '--email', 'a@b.co', '--token-alg', 'RS256'])
    expect(headerOf(stdout)).toMatchObject({ alg: 'RS256', kid: (await show()).id })
  })

  it('takes the key from LADE_TOKEN_KEY, and shows nothing of it', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const given = { ...env, LADE_TOKEN_KEY: pem }
    const shown = await show(given)
    expect(shown).toMatchObject({ source: 'LADE_TOKEN_KEY', file: null, alg: 'RS256', ageDays: null })
    const { stdout, stderr } = await lade(['keys', 'mint', '--email', 'a@b.co'], given)
    expect(headerOf(stdout)).toMatchObject({ alg: 'RS256', kid: shown.id })
    expect(stdout + stderr + JSON.stringify(shown)).not.toContain(pem.split('\n')[1])
    expect(await readdir(dir)).toEqual([])
  })

  it('mints tokens that a running service takes, and rotates them away', { timeout: 20_000 }, async () => {
    const service = await startTestService({ ...env, LADE_SIGNUP: 'closed' })
    try {
      const at = ['--data-dir', service.dataDir]
      const { stdout } = await lade(['keys', 'mint', '--email', 'a@b.co', ...at], env)
      const mine = { ...env, LADE_URL: service.url, LADE_TOKEN: stdout.trim() }
      expect(await lade(['usage'], mine)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('a@b.co') })
      const doctor = await lade(['doctor', ...at], mine)
      expect(doctor).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('token.rs256.key is 0 days old') })
      expect((await lade(['keys', 'rotate', ...at], env)).exitCode).toBe(0)
      await vi.waitFor(async () => expect((await lade(['usage'], mine)).exitCode).toBe(7), { timeout: 10_000 })
    } finally {
      await service.close()
    }
  })
})

describe('lade keys mint', () => {
  it('prints the token alone on standard output and the facts on standard error', async () => {
    const { exitCode, stdout, stderr } = await lade([
      'keys',
      'mint',
      '--email',
      'Test@Example.com',
      '--label',
      'laptop',
    ])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^pk_live_[\w-]+\.[\w-]+\.[\w-]+\n$/)
    const payload = payloadOf(stdout)
    expect(payload).toMatchObject({ sub: '973dfe463ec85785', email: 'test@example.com', quotaMb: 1024 })
    expect(payload.scopes).toEqual(['put', 'get', 'list', 'pin'])
    expect(Number(payload.exp) - Number(payload.iat)).toBe(365 * DAY_SECONDS)
    for (const fact of ['laptop', 'test@example.com', String(payload.jti)]) expect(stderr).toContain(fact)
  })

  it('narrows scopes, quota and lifetime as asked, and prints all as JSON', async () => {
    const args = ['--email', 'a@b.co', '--scopes', 'get,put', '--quota-mb', '5', '--ttl-days', '2', '--json']
    const { stdout, stderr } = await lade(['keys', 'mint', ...args])
    const minted = JSON.parse(stdout)
    expect(stderr).toBe('')
    expect(minted).toMatchObject({ email: 'a@b.co', scopes: ['put', 'get'], quotaMb: 5, label: null })
    const payload = payloadOf(minted.token)
    expect(payload).toMatchObject({ jti: minted.jti, sub: minted.userId, quotaMb: 5 })
    expect(Number(payload.exp) - Number(payload.iat)).toBe(2 * DAY_SECONDS)
  })

  it('takes the daily quota of the configuration when none is asked for', async () => {
    const { stdout } = await lade(['keys', 'mint', '--email', 'a@b.co'], { LADE_TOKEN_DAILY_MB: '7' })
    expect(payloadOf(stdout).quotaMb).toBe(7)
  })

  it('takes the daily quota of the configuration under its old name', async () => {
    const { stdout } = await lade(['keys', 'mint', '--email', 'a@b.co'], { LADE_TOKEN_DAILY_MB: '8' })
    expect(payloadOf(stdout).quotaMb).toBe(8)
  })

  it('mints a token for operators where it is asked for, and no command asks the service for one', async () => {
    const { stdout } = await lade(['keys', 'mint', '--email', 'a@b.co', '--scopes', 'admin,list'])
    expect(payloadOf(stdout).scopes).toEqual(['list', 'admin'])
    const asked = await lade(['token', 'new', '--email', 'a@b.co', '--scopes', 'admin'])
    expect(asked).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('put, get, list, pin') })
  })

  it.each([
    ['--email', 'nobody'],
    ['--scopes', 'put,root'],
    ['--scopes', 'put,put'],
    ['--quota-mb', '-1'],
    ['--ttl-days', '0'],
    ['--ttl-days', '1.5'],
  ])('refuses %s %s with exit code 2 and mints nothing', async (flag, value) => {
    const { exitCode, stdout } = await lade(['keys', 'mint', '--email', 'a@b.co', flag, value])
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(await readdir(dir)).toEqual([])
  })
})

describe('lade keys revoke', () => {
  it('ends tokens of a running service: one by its id before it was used, and all of a user', {
    timeout: 30_000,
  }, async () => {
    const service = await startTestService({ LADE_SIGNUP: 'closed' })
    try {
      const at = ['--data-dir', service.dataDir]
      const minted = async (email: string) => {
        const { token, jti } = JSON.parse((await lade(['keys', 'mint', '--email', email, '--json', ...at])).stdout)
        return { jti, usage: () => lade(['usage'], { LADE_URL: service.url, LADE_TOKEN: token }) }
      }
      const [one, ofAda, ofBob] = [await minted('ada@b.co'), await minted('ada@b.co'), await minted('bob@b.co')]
      const revoked = await lade(['keys', 'revoke', '--jti', one.jti, ...at])
      expect(revoked).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(`The token ${one.jti} was revoked at`),
      })
      expect((await one.usage()).exitCode).toBe(7)
      for (const other of [ofAda, ofBob]) expect((await other.usage()).exitCode).toBe(0)

      const all = await lade(['keys', 'revoke', '--email', ' Ada@b.co ', '--json', ...at])
      expect(JSON.parse(all.stdout)).toMatchObject({ jti: null, email: 'ada@b.co', tokens: 1 })
      await vi.waitFor(async () => expect((await ofAda.usage()).exitCode).toBe(7), { timeout: 10_000 })
      expect((await ofBob.usage()).exitCode).toBe(0)
    } finally {
      await service.close()
    }
  })

  it.each([
    [[]],
    [['--jti', 'x']],
    [['--jti', '3f0c9c1e-5f0b-4c52-8f3c-0d8a9a1c7e55', '--email', 'a@b.co']],
    [['--email', 'nobody']],
  ])('refuses %j with exit code 2', async (args) => {
    expect((await lade(['keys', 'revoke', ...args])).exitCode).toBe(2)
    expect(await readdir(dir)).toEqual([])
  })

  it('error: ends with 1 where there are no records, and makes none', async () => {
    const { exitCode, stderr } = await lade(['keys', 'revoke', '--email', 'a@b.co'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain('There are no records of this version of Lade in')
    expect(await readdir(dir)).toEqual([])
  })
})
