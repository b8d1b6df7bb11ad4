import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startFakeService, startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

let service: TestService
let homeDir = ''
beforeAll(async () => {
  service = await startTestService({ LADE_SIGNUPS_PER_HOUR: '1000' })
})
afterAll(() => service.close())
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

async function lade(args: readonly string[], options: TestTerminalOptions = {}) {
  const { terminal, stdout, stderr } = testTerminal({
    homeDir,
    cwd: homeDir,
    ...options,
    env: { LADE_URL: service.url, ...options.env },
  })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
}

const newToken = async (...args: string[]) =>
  (await lade(['token', 'new', '--email', 'ada@example.org', ...args])).stdout.trim()
const savedText = () => readFile(join(homeDir, '.config/lade/config.json'), 'utf8')

describe('lade login', () => {
  it('asks for service and token on a terminal, and shows nothing of the token', async () => {
    const token = await newToken()
    const { exitCode, stdout, stderr } = await lade(['login'], {
      columns: 80,
      input: `${token}\r`,
    })
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `Logged in to ${service.url} as ada@example.org; the token expires in 365 days.\n`,
    })
    expect(stdout + stderr).not.toContain(token.slice(0, 30))
    expect(JSON.parse(await savedText())).toEqual({ url: service.url, tokens: { [service.url]: token } })
  })

  it('asks for the service first where none is named', async () => {
    const token = await newToken()
    const options = { columns: 80, env: { LADE_URL: '', LADE_TOKEN: token }, input: `${service.url}/\r` }
    expect(await lade(['login'], options)).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Service [http://127.0.0.1:8080]: '),
    })
    expect(JSON.parse(await savedText()).url).toBe(service.url)
  })

  it('takes the token from standard input, a variable or a file', async () => {
    const token = await newToken()
    await writeFile(join(homeDir, 'token'), `${token}\n`)
    for (const [args, options] of [
      [[], { input: `${token}\n` }],
      [[], { env: { LADE_TOKEN: token } }],
      [['--token-file', 'token'], {}],
    ] as const) {
      expect((await lade(['login', '--json', ...args], options)).json()).toMatchObject({
        url: service.url,
        email: 'ada@example.org',
        scopes: ['put', 'get', 'list', 'pin'],
      })
      expect(JSON.parse(await savedText()).tokens[service.url]).toBe(token)
      await lade(['logout'])
    }
  })

  it('signs up with --email', async () => {
    expect((await lade(['login', '--email', 'ada@example.org', '--label', 'laptop'])).exitCode).toBe(0)
    expect((await lade(['usage', '--json'])).json()).toMatchObject({ email: 'ada@example.org' })
    expect((await lade(['token', 'ls'])).stdout).toContain('laptop')
  })

  it('asks nothing when it signs up with --email, so that lines pasted after it are not swallowed', async () => {
    await lade(['login', '--email', 'ada@example.org'])
    const next = 'lade put photo.jpg'
    const { exitCode, stdout, stderr } = await lade(['login', '--email', 'bob@example.org'], {
      columns: 80,
      env: { LADE_URL: '' },
      input: `${next}\r`,
    })
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`Logged in to ${service.url} as bob@example.org`)
    expect(stdout + stderr).not.toContain('Service [')
  })

  it('takes a token that may do little', async () => {
    const token = await newToken('--scopes', 'put')
    expect((await lade(['login'], { input: token })).exitCode).toBe(0)
  })

  it.each([
    ['hunter2', 2, 'Standard input is not a token'],
    ['', 2, 'Standard input is not a token'],
    ['pk_live_eyJ.eyJ.x', 7, 'or get a new one with "lade login".'],
  ])('saves nothing for the token %j', async (input, exitCode, sentence) => {
    expect(await lade(['login'], { input })).toMatchObject({ exitCode, stderr: expect.stringContaining(sentence) })
    await expect(savedText()).rejects.toThrow('ENOENT')
  })

  it('warns where the token could be read on its way, before it is sent', async () => {
    const { stderr } = await lade(['login', '--url', 'http://lade.invalid'], { input: 'pk_live_a.b.c' })
    expect(stderr).toMatch(/^Warning: http:\/\/lade\.invalid is not encrypted/)
  })
})

describe('lade logout', () => {
  it('forgets the token, and with --revoke ends it', async () => {
    const token = await newToken()
    await lade(['login'], { input: token })
    expect((await lade(['logout'])).stdout).toBe(`Logged out of ${service.url}.\n`)
    expect((await lade(['usage'])).exitCode).toBe(7)
    expect((await lade(['usage'], { env: { LADE_TOKEN: token } })).exitCode).toBe(0)
    await lade(['login'], { input: token })
    expect((await lade(['logout', '--revoke', '--json'])).json()).toMatchObject({ wasLoggedIn: true, revoked: true })
    expect(await lade(['usage'], { env: { LADE_TOKEN: token } })).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('revoked'),
    })
    expect((await lade(['logout'])).stderr).toBe(`No token is saved for ${service.url}.\n`)
  })

  it('forgets one that is dead already', async () => {
    const token = await newToken()
    await lade(['login'], { input: token })
    const { jti } = (await lade(['token', 'ls', '--json'])).json()[0]
    await lade(['token', 'revoke', jti], { env: { LADE_TOKEN: token } })
    await lade(['logout', '--revoke'])
    expect(JSON.parse(await savedText()).tokens).toEqual({})
  })
})

describe('lade token', () => {
  it('prints a new token alone on standard output, and narrows it as asked', async () => {
    const args = ['--label', 'ci', '--scopes', 'list,put', '--quota-mb', '5', '--days', '2']
    const { exitCode, stdout, stderr } = await lade(['token', 'new', '--email', 'Grace@Example.org', ...args])
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^pk_live_[\w-]+\.[\w-]+\.[\w-]+\n$/)])
    for (const fact of ['grace@example.org', 'scopes: put, list', 'daily quota: 5.0 MiB'])
      expect(stderr).toContain(fact)
    expect((await lade(['token', 'ls', '--json'], { env: { LADE_TOKEN: stdout.trim() } })).json()).toEqual([
      expect.objectContaining({ label: 'ci', scopes: ['put', 'list'], quotaMb: 5, current: true }),
    ])
  })

  it('logs in with --save, and prints the token nowhere', async () => {
    const { stdout, stderr } = await lade(['token', 'new', '--email', 'ada@example.org', '--save'])
    expect(stdout).toBe('')
    expect(stderr).not.toContain('pk_live_')
    expect((await lade(['usage'])).exitCode).toBe(0)
  })

  it('revokes by label where it is the only one, else by jti', async () => {
    const email = `${Math.random()}@example.org`
    const make = (label: string, ...more: string[]) =>
      lade(['token', 'new', '--email', email, '--label', label, ...more])
    await make('mine', '--save')
    await make('ci')
    await make('twice')
    await make('twice')
    expect((await lade(['token', 'revoke', 'ci'])).stdout).toBe('Revoked ci.\n')
    expect(await lade(['token', 'revoke', 'ci'])).toMatchObject({ exitCode: 4 })
    const unclear = await lade(['token', 'revoke', 'twice'])
    expect(unclear).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('2 tokens have the label twice') })
    const [jti = ''] = unclear.stderr.match(/[0-9a-f-]{36}/) ?? []
    expect((await lade(['token', 'revoke', jti, '--json'])).json()).toMatchObject({ jti })
    const own = await lade(['token', 'revoke', 'mine'])
    expect(own.stderr).toContain('You are now logged out.')
    expect((await lade(['usage'])).exitCode).toBe(7)
  })

  it('ends with 7 where signup is closed, and says whom to ask', async () => {
    const closed = await startTestService({ LADE_SIGNUP: 'closed' })
    try {
      const ended = await lade(['token', 'new', '--email', 'ada@example.org'], { env: { LADE_URL: closed.url } })
      expect(ended).toMatchObject({
        exitCode: 7,
        stdout: '',
        stderr: expect.stringContaining('The operator mints tokens with "lade keys mint".'),
      })
    } finally {
      await closed.close()
    }
  })
})

describe('lade usage', () => {
  it('shows what is used of the day', async () => {
    await lade(['login', '--email', `${Math.random()}@example.org`])
    await lade(['put', '-'], { input: 'x'.repeat(2048) })
    const { stdout } = await lade(['usage'])
    expect(stdout).toMatch(/^ {2}today {3}2\.0 KiB of 1\.0 GiB \(less than 1%\), 1 of 100,000 files$/m)
    expect(stdout.trimEnd().split('\n')).toHaveLength(5 + 1 + 1 + 7)
  })
})

describe('lade doctor', () => {
  it('finds nothing broken with a service that runs, and says so for programs, too', async () => {
    await lade(['login', '--email', 'ada@example.org'])
    const { exitCode, stdout } = await lade(['doctor', '--data-dir', service.dataDir])
    expect(stdout).toMatch(/Nothing is broken\.\n$/)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^ok +The token from .* is valid for ada@example\.org, allows everything/m)
    const { broken, findings } = (await lade(['doctor', '--data-dir', service.dataDir, '--json'])).json()
    expect(broken).toBe(0)
    expect(findings.map(({ check }: { check: string }) => check)).toEqual([
      'node',
      'logins',
      'service',
      'ready',
      'clock',
      'version',
      'wallets',
      'token',
      'data',
      'fsync',
      'room',
      'fileSystem',
      'installation',
      'storedBytes',
      'key',
    ])
  })

  it('ends with 1 where something is broken, and goes on with the rest', async () => {
    const elsewhere = await startFakeService((_request, response) => response.end('hello'))
    try {
      const args = ['doctor', '--url', elsewhere.url, '--data-dir', join(homeDir, 'none')]
      const { exitCode, stdout } = await lade(args)
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(/^BROKEN +.* is not a Lade service/m)
      expect(stdout).toMatch(/^- +There is no data directory/m)
      expect(stdout).toMatch(/1 check failed\.\n$/)
    } finally {
      await elsewhere.close()
    }
  })

  it('says which setting and which file of logins is wrong', async () => {
    await lade(['login', '--email', 'ada@example.org'])
    await writeFile(join(homeDir, '.config/lade/config.json'), 'torn')
    const { exitCode, stdout } = await lade(['doctor'], { env: { LADE_PORT: 'x' } })
    expect(exitCode).toBe(1)
    expect(stdout).toMatch(/^BROKEN +.*is not a valid login file/m)
    expect(stdout).toMatch(/^BROKEN +LADE_PORT is "x"/m)
  })
})
