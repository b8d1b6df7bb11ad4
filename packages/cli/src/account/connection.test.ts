import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testTerminal } from '../testing-terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'
import { accountOf, addAccountOptions } from './connection.ts'
import { writeLogins } from './login-file.ts'

const SAVED = 'pk_live_saved.a.b'
const GIVEN = 'pk_live_given.a.b'

let homeDir = ''
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-home-'))
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

async function account(args: readonly string[] = [], env: Record<string, string> = {}) {
  const command = new Command('x').exitOverride().configureOutput({ writeErr: () => {} })
  addAccountOptions(command)
  command.parse(args, { from: 'user' })
  const { url, token } = await accountOf(command, testTerminal({ homeDir, cwd: homeDir, env }).terminal)
  return { url, token }
}

const logIn = (url = 'https://saved.example') =>
  writeLogins({ platform: 'linux', env: {}, homeDir }, { url, tokens: { [url]: SAVED } })

describe('accountOf', () => {
  it('is the service of this machine, without a token, where nothing is set', async () => {
    expect(await account()).toEqual({ url: 'http://127.0.0.1:8080', token: undefined })
    expect(await account([], { LADE_URL: '', LADE_TOKEN: '' })).toEqual({
      url: 'http://127.0.0.1:8080',
      token: undefined,
    })
  })

  it('is what was logged in to', async () => {
    await logIn()
    expect(await account()).toEqual({ url: 'https://saved.example', token: SAVED })
  })

  it('never takes a saved token to another service', async () => {
    await logIn()
    expect(await account(['--url', 'https://other.example'])).toEqual({
      url: 'https://other.example',
      token: undefined,
    })
    expect(await account([], { LADE_URL: 'https://saved.example:444' })).toMatchObject({ token: undefined })
    expect(await account([], { LADE_URL: 'HTTPS://SAVED.example/' })).toMatchObject({ token: SAVED })
  })

  it('lets the flag win over the variable, and the variable over what is saved', async () => {
    await logIn()
    const env = { LADE_URL: 'https://variable.example', LADE_TOKEN: ` ${GIVEN}\n` }
    expect(await account([], env)).toEqual({ url: 'https://variable.example', token: GIVEN })
    await writeFile(join(homeDir, 'token'), 'pk_live_file.a.b\n')
    expect(await account(['--url', 'https://flag.example', '--token-file', 'token'], env)).toEqual({
      url: 'https://flag.example',
      token: 'pk_live_file.a.b',
    })
  })

  it('refuses what is no token without repeating it', async () => {
    const failure = await account([], { LADE_TOKEN: 'hunter2' }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect(String(failure)).toContain(
      'LADE_TOKEN is not a token; tokens start with pk_live_. Get one with "lade login --email ADDRESS".',
    )
    expect(String(failure)).not.toContain('hunter2')
  })

  it('refuses a token on the command line, and a file of tokens that is not there', async () => {
    await expect(account(['--token', GIVEN])).rejects.toThrow(/can read a token on the command line/)
    await expect(account(['--token-file', 'nowhere'])).rejects.toThrow(LocalError)
  })
})
