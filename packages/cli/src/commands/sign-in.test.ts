import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MailServer, openMailServer, otherThan } from '@lade/server/testing/mail-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

let inbox: MailServer
let service: TestService
let homeDir = ''
/** Of a user of its own for each test, since few mails an hour go to one. */
let email = ''
beforeAll(async () => {
  inbox = await openMailServer()
  service = await startTestService({ ...inbox.settings, LADE_SIGNUPS_PER_HOUR: '1000' })
})
afterAll(async () => {
  await service.close()
  await inbox.close()
})
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
  email = `${Math.random()}@example.org`
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

/** A command line that has begun. */
function begin(args: readonly string[], options: TestTerminalOptions = {}) {
  const test = testTerminal({ homeDir, cwd: homeDir, ...options, env: { LADE_URL: service.url, ...options.env } })
  const ended = run(args, test.terminal).then((exitCode) => ({
    exitCode,
    stdout: test.stdout(),
    stderr: test.stderr(),
  }))
  /** Waits until it has asked for a code so many times. */
  const asksForCode = (times = 1) =>
    vi.waitFor(() => expect(test.stderr().split('Code: ').length - 1).toBeGreaterThanOrEqual(times), {
      timeout: 10_000,
    })
  return { ...test, ended, asksForCode }
}
const lade = (args: readonly string[], options?: TestTerminalOptions) => begin(args, options).ended

const mails = () => inbox.countFor(email)
const codeFor = (address: string) => inbox.codeFor(address)
const savedText = () => readFile(join(homeDir, '.config/lade/config.json'), 'utf8')
/** Logs in by the code that was mailed. */
async function logIn(): Promise<void> {
  const login = begin(['login', '--email', email], { columns: 80 })
  await login.asksForCode()
  login.type(`${codeFor(email)}\r`)
  expect(await login.ended).toMatchObject({ exitCode: 0 })
}

async function challengeOf(args: readonly string[]): Promise<string> {
  const { stdout } = await lade([...args, '--json'])
  return JSON.parse(stdout).challenge
}

describe('lade login --email where the service mails codes', () => {
  it('says where the code went, asks for it, and saves the token', async () => {
    const login = begin(['login', '--email', email, '--label', 'laptop'], { columns: 80 })
    await login.asksForCode()
    expect(login.stderr()).toContain(`A code was mailed to ${email}. It is valid for 15 minutes.\n`)
    login.type(`${codeFor(email)}\r`)
    const { exitCode, stdout } = await login.ended
    expect([exitCode, stdout]).toEqual([0, `Logged in to ${service.url} as ${email}; the token expires in 365 days.\n`])
    expect((await lade(['token', 'ls'])).stdout).toContain('laptop')
  })

  it('asks again after a wrong code, and says how many attempts are left', async () => {
    const login = begin(['login', '--email', email], { columns: 80 })
    await login.asksForCode()
    const code = codeFor(email)
    login.type('12345\r')
    await login.asksForCode(2)
    expect(login.stderr()).toContain('A code has six digits.\n')
    login.type(`${otherThan(code)}\r`)
    await login.asksForCode(3)
    expect(login.stderr()).toContain('The login code is wrong. 4 attempts are left.\n')
    login.type(`${code.slice(0, 3)} ${code.slice(3)}\r`)
    expect(await login.ended).toMatchObject({ exitCode: 0 })
    expect(mails()).toBe(1)
  })

  it('ends with 7 once no attempt is left, and saves nothing', async () => {
    const login = begin(['login', '--email', email], { columns: 80 })
    for (let times = 1; times <= 5; times += 1) {
      await login.asksForCode(times)
      login.type(`${otherThan(codeFor(email))}\r`)
    }
    expect(await login.ended).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('No attempts are left. Run the command again to get a new code.'),
    })
    await expect(savedText()).rejects.toThrow('ENOENT')
  })

  it('ends with 130 on Ctrl-C, and with 1 where no code is given, which can be given later', async () => {
    const stopped = begin(['login', '--email', email], { columns: 80 })
    await stopped.asksForCode()
    stopped.type('\x03')
    expect(await stopped.ended).toMatchObject({ exitCode: 130 })

    const left = begin(['login', '--email', email], { columns: 80 })
    await left.asksForCode()
    left.type('\r')
    const { exitCode, stderr } = await left.ended
    expect(exitCode).toBe(1)
    const [, challenge = ''] = /with --challenge ([\w-]{43})\./.exec(stderr) ?? []
    const again = await lade(['login', '--email', email, '--challenge', challenge], {
      input: codeFor(email),
    })
    expect(again).toMatchObject({ exitCode: 0 })
  })
})

describe('lade login --email without a terminal', () => {
  it('ends with 7, and says how to go on', async () => {
    const { exitCode, stdout, stderr } = await lade(['login', '--email', email])
    expect([exitCode, stdout]).toEqual([7, ''])
    expect(stderr).toMatch(
      /^A code was mailed to \S+\. It is valid for 15 minutes\.\nRun the same command again with --challenge [\w-]{43} and pipe in the code\.\n$/,
    )
    await expect(savedText()).rejects.toThrow('ENOENT')
  })

  it('goes on with the challenge and the code, as a flag or from standard input', async () => {
    for (const isFlag of [true, false]) {
      const challenge = await challengeOf(['login', '--email', email])
      const code = codeFor(email)
      const args = ['login', '--email', email, '--challenge', challenge, '--json']
      const { exitCode, stdout } = isFlag
        ? await lade([...args, '--code', code])
        : await lade(args, { input: `${code}\n` })
      expect([exitCode, JSON.parse(stdout).email]).toEqual([0, email])
    }
    expect((await lade(['usage'])).exitCode).toBe(0)
  })

  it('says for programs what they need', async () => {
    const { exitCode, stdout } = await lade(['login', '--email', email, '--json'])
    expect(exitCode).toBe(7)
    expect(JSON.parse(stdout)).toEqual({
      error: 'email_code_required',
      detail: expect.stringContaining('A code was mailed to'),
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      expiresIn: 900,
    })
  })

  it('says when the code is wrong, or the challenge is none', async () => {
    const challenge = await challengeOf(['login', '--email', email])
    const args = ['login', '--email', email, '--challenge']
    expect(await lade([...args, challenge, '--code', otherThan(codeFor(email))])).toMatchObject({
      exitCode: 7,
      stderr: 'The login code is wrong. 4 attempts are left.\n',
    })
    expect(await lade([...args, 'x', '--code', '123456'])).toMatchObject({
      exitCode: 7,
      stderr: expect.stringContaining('Leave out --challenge to get a new code.'),
    })
  })

  it.each([
    [['login', '--challenge', 'x'], '--challenge and --code need --email.'],
    [['login', '--email', 'ada@example.org', '--code', '123456'], '--code needs --challenge'],
    [['login', '--email', 'ada@example.org', '--challenge', 'x'], 'Standard input contains no code.'],
  ])('refuses %j with 2', async (args, sentence) => {
    expect(await lade(args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(sentence) })
  })
})

describe('lade token new where the service mails codes', () => {
  it('asks for the code, and prints the token alone, narrowed as asked', async () => {
    const args = ['token', 'new', '--email', email, '--label', 'ci', '--scopes', 'put,list', '--days', '2']
    const making = begin(args, { columns: 80 })
    await making.asksForCode()
    making.type(`${codeFor(email)}\r`)
    const { exitCode, stdout, stderr } = await making.ended
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^pk_live_[\w-]+\.[\w-]+\.[\w-]+\n$/)])
    expect(stderr).toContain('scopes: put, list\n')
  })

  it('asks for no code where the token in use is of the same address, and gives no more than that', async () => {
    await logIn()
    const made = await lade(['token', 'new', '--email', ` ${email.toUpperCase()}`, '--scopes', 'put,list'])
    expect(made).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^pk_live_/) })
    expect(mails()).toBe(1)
    // That one may not give what it lacks.
    const wider = await lade(['token', 'new', '--email', email, '--scopes', 'pin'], {
      env: { LADE_TOKEN: made.stdout.trim() },
    })
    expect(wider).toMatchObject({ exitCode: 7, stdout: '', stderr: expect.stringContaining('A code was mailed') })
    expect(mails()).toBe(2)
  })

  it('asks for the code where the token in use is another one, or a dead one', async () => {
    await logIn()
    const other = `other-${email}`
    expect((await lade(['token', 'new', '--email', other])).stderr).toContain(`A code was mailed to ${other}.`)
    const token: string = JSON.parse(await savedText()).tokens[service.url]
    await lade(['logout', '--revoke'])
    const env = { LADE_TOKEN: token }
    expect((await lade(['token', 'new', '--email', email], { env })).stderr).toContain('A code was mailed')
  })

  it('goes on with challenge and code', async () => {
    const args = ['token', 'new', '--email', email, '--scopes', 'list']
    const challenge = await challengeOf(args)
    const made = await lade([...args, '--challenge', challenge], { input: codeFor(email) })
    expect(made).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('scopes: list\n') })
  })
})

describe('a mail that cannot be sent', () => {
  it('ends with 6 at once, and says when to try again', async () => {
    const gone = await openMailServer()
    await gone.close()
    const mailless = await startTestService(gone.settings)
    try {
      const ended = await lade(['login', '--email', email], { env: { LADE_URL: mailless.url } })
      expect(ended).toMatchObject({ exitCode: 6, stdout: '' })
      expect(ended.stderr).toMatch(
        /^The mail server did not accept the mail.* Try again in 60 seconds\. Request id: \S+\.\n$/,
      )
    } finally {
      await mailless.close()
    }
  })
})
