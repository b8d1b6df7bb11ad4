import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { loginFile, readLogins, writeLogins } from './login-file.ts'

let homeDir = ''
const here = () => ({ platform: 'linux', env: {}, homeDir }) as const
const LOGINS = { url: 'https://lade.example', tokens: { 'https://lade.example': 'pk_live_a.b.c' } }

beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-home-'))
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

const modeOf = async (path: string) => (await stat(path)).mode & 0o777

describe('writeLogins and readLogins', () => {
  it('give back what was written, in a file and folder of their owner only', async () => {
    const file = await writeLogins(here(), LOGINS)
    expect(await readLogins(here())).toEqual({ logins: LOGINS, file, exists: true, warnings: [] })
    expect([await modeOf(file), await modeOf(dirname(file))]).toEqual([0o600, 0o700])
    expect(await readdir(dirname(file))).toEqual(['config.json'])
  })

  it('have nothing where there is no file', async () => {
    const { logins, exists } = await readLogins(here())
    expect({ logins, exists }).toEqual({ logins: { tokens: {} }, exists: false })
    expect(await readdir(homeDir)).toEqual([])
  })

  it('warn of a file that others can read, and close it with the next login', async () => {
    const file = await writeLogins(here(), LOGINS)
    await chmod(file, 0o644)
    expect((await readLogins(here())).warnings).toEqual([expect.stringContaining('(mode 644). Run chmod 600')])
    await writeLogins(here(), LOGINS)
    expect((await readLogins(here())).warnings).toEqual([])
  })

  it('write through a link, which stays one', async () => {
    const file = loginFile(here())
    const real = join(homeDir, 'dotfiles.json')
    await mkdir(dirname(file), { recursive: true })
    await writeFile(real, '{}', { mode: 0o600 })
    await symlink(real, file)
    await writeLogins(here(), LOGINS)
    expect(await readlink(file)).toBe(real)
    expect(JSON.parse(await readFile(real, 'utf8'))).toEqual(LOGINS)
  })

  it.each(['torn', '[]', '{"url":1}', '{"tokens":{"a":1}}', '{"tokens":[]}'])(
    'refuse a file that holds %s, and do not repeat it',
    async (text) => {
      const file = await writeLogins(here(), LOGINS)
      await writeFile(file, text)
      const failure = await readLogins(here()).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(UsageError)
      expect(String(failure)).toContain(file)
    },
  )

  it('leave a file that cannot be replaced as it was, and nothing beside it', async () => {
    const file = await writeLogins(here(), LOGINS)
    await rm(file)
    await mkdir(join(file, 'in-the-way'), { recursive: true })
    await expect(writeLogins(here(), LOGINS)).rejects.toThrow()
    expect(await readdir(dirname(file))).toEqual(['config.json'])
  })
})
