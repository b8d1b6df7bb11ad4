import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keyFileName, openKeyFile, readKeyFile, rotateKeyFile } from './key-file.ts'

const now = new Date('2030-01-01T00:00:00Z')
let dir = ''
let file = ''

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-key-'))
  file = join(dir, 'data', 'token.key')
})
afterEach(() => rm(dir, { recursive: true, force: true }))

/** Writes `text` where the key belongs. */
async function put(text: string, mode = 0o600): Promise<void> {
  await mkdir(join(dir, 'data'), { recursive: true })
  await writeFile(file, text, { mode })
}

/** The sentence under the `auth_offline` that `opening` ends with. */
async function offlineCause(opening: Promise<unknown>): Promise<string> {
  const error: unknown = await opening.catch((reason: unknown) => reason)
  if (LadeError.has(error, 'auth_offline') && error.cause instanceof Error) return error.cause.message
  throw new Error(`Not auth_offline: ${String(error)}`)
}

describe('openKeyFile', () => {
  it('creates a JSON Web Key of 32 bytes with its time of issue, mode 0600, and leaves nothing else', async () => {
    const { key, warnings } = await openKeyFile({ file, now })
    const { kty, k, iat } = JSON.parse(await readFile(file, 'utf8'))
    expect({ kty, iat, bytes: Buffer.from(k, 'base64url').length }).toEqual({
      kty: 'oct',
      iat: now.getTime() / 1000,
      bytes: 32,
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(dir, 'data'))).toEqual(['token.key'])
    expect(key.issuedAtSeconds).toBe(iat)
    expect(warnings).toEqual([])
  })

  it('opens the same key again, with its first time of issue', async () => {
    const first = await openKeyFile({ file, now })
    const second = await openKeyFile({ file, now: new Date(now.getTime() + 86_400_000) })
    expect(second.key.id).toBe(first.key.id)
    expect(second.key.issuedAtSeconds).toBe(first.key.issuedAtSeconds)
  })

  it('gives one key to 50 that open at once', async () => {
    const opened = await Promise.all(Array.from({ length: 50 }, () => openKeyFile({ file, now })))
    expect(new Set(opened.map(({ key }) => key.id)).size).toBe(1)
    expect(await readdir(join(dir, 'data'))).toEqual(['token.key'])
  })

  it('gives one key to processes that start together', async () => {
    const source = new URL('key-file.ts', import.meta.url).href
    const program = `import { openKeyFile } from ${JSON.stringify(source)}
      console.log((await openKeyFile({ file: process.argv[1], now: new Date() })).key.id)`
    const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program, file])
    const outputs = await Promise.all(Array.from({ length: 4 }, run))
    const ids = new Set(outputs.map(({ stdout }) => stdout.trim()))
    expect(ids).toEqual(new Set([(await openKeyFile({ file, now })).key.id]))
  })

  it('warns of a file that others can read, and uses it', async () => {
    await openKeyFile({ file, now })
    await chmod(file, 0o640)
    expect((await openKeyFile({ file, now })).warnings).toEqual([expect.stringContaining('mode 640')])
  })

  it.each([
    ['31 bytes', { kty: 'oct', k: Buffer.alloc(31).toString('base64url'), iat: 1 }, 'a key of 31 bytes'],
    ['another type', { kty: 'RSA', k: Buffer.alloc(32).toString('base64url'), iat: 1 }, 'does not hold a JSON Web Key'],
    ['no time', { kty: 'oct', k: Buffer.alloc(32).toString('base64url') }, 'does not hold a JSON Web Key'],
    [
      'base64 with padding',
      { kty: 'oct', k: Buffer.alloc(32).toString('base64'), iat: 1 },
      'does not hold a JSON Web Key',
    ],
  ])('refuses a key of %s as auth_offline, and leaves the file', async (_, jwk, sentence) => {
    await put(JSON.stringify(jwk))
    const cause = await offlineCause(openKeyFile({ file, now }))
    expect(cause).toContain(sentence)
    expect(cause).toContain(file)
    expect(cause).not.toContain(jwk.k)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(jwk)
  })

  it('refuses an empty and a torn file as auth_offline, without quoting it', async () => {
    for (const text of ['', '{"kty":"oct","k":"c2VjcmV0']) {
      await put(text)
      expect(await offlineCause(openKeyFile({ file, now }))).not.toContain('c2VjcmV0')
    }
  })

  it('error: a directory in its place, or a file in the place of its directory, is auth_offline', async () => {
    await mkdir(file, { recursive: true })
    expect(await offlineCause(openKeyFile({ file, now }))).toContain('cannot be read: it is a folder.')
    await writeFile(join(dir, 'plain'), '')
    expect(await offlineCause(openKeyFile({ file: join(dir, 'plain', 'token.key'), now }))).toContain(
      'a part of the path is not a folder',
    )
  })

  it('error: a directory that cannot be written is auth_offline', async () => {
    expect(await offlineCause(openKeyFile({ file: '/proc/lade/token.key', now }))).toContain('cannot be created')
  })
})

describe('readKeyFile', () => {
  it('gives undefined where there is no file, and creates none', async () => {
    expect(await readKeyFile({ file })).toBeUndefined()
    expect(await readdir(dir)).toEqual([])
  })
})

describe('rotateKeyFile', () => {
  it('replaces the key by another with a new time of issue, mode 0600, and leaves nothing else', async () => {
    const first = await openKeyFile({ file, now })
    await chmod(file, 0o644)
    const later = new Date(now.getTime() + 1000)
    const second = await rotateKeyFile({ file, now: later })
    expect(second.key.id).not.toBe(first.key.id)
    expect(second.key.issuedAtSeconds).toBe(later.getTime() / 1000)
    expect((await openKeyFile({ file, now })).key.id).toBe(second.key.id)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(dir, 'data'))).toEqual(['token.key'])
  })

  it('keeps the old key in force for as long as it is asked to, and none before for longer', async () => {
    const DAY = 86_400_000
    const at = (days: number) => new Date(now.getTime() + days * DAY)
    const first = (await openKeyFile({ file, now })).key
    const second = (await rotateKeyFile({ file, now, overlapDays: 2 })).key
    const third = (await rotateKeyFile({ file, now: at(1), overlapDays: 30 })).key
    const opened = (await openKeyFile({ file, now })).key
    for (const key of [third, opened]) {
      expect(key.accepted(at(1)).map(({ id }) => id)).toEqual([third.id, second.id, first.id])
      expect(key.accepted(at(2)).map(({ id }) => id)).toEqual([third.id, second.id])
      expect(key.accepted(at(31)).map(({ id }) => id)).toEqual([third.id])
    }
    expect(second.previous.map(({ key }) => key.issuedAtSeconds)).toEqual([first.issuedAtSeconds])
    const fourth = (await rotateKeyFile({ file, now: at(2), overlapDays: 1 })).key
    expect(fourth.previous.map(({ key }) => key.id)).toEqual([third.id, second.id])
    expect((await rotateKeyFile({ file, now: at(2) })).key.previous).toEqual([])
  })

  it('error: a previous key that is none is auth_offline, and is not rotated away', async () => {
    await put(JSON.stringify({ kty: 'oct', k: 'A'.repeat(43), iat: 1, previous: [{ kty: 'oct', acceptedUntil: 5 }] }))
    expect(await offlineCause(openKeyFile({ file, now }))).toContain('has a previous key that does not hold')
    expect(await offlineCause(rotateKeyFile({ file, now, overlapDays: 1 }))).toContain('has a previous key')
    await put(JSON.stringify({ kty: 'oct', k: 'A'.repeat(43), iat: 1, previous: 'x' }))
    expect(await offlineCause(openKeyFile({ file, now }))).toContain('"previous"')
  })

  it('never shows a missing or torn key to those who open meanwhile', async () => {
    await openKeyFile({ file, now })
    const rotations = Array.from({ length: 20 }, () => rotateKeyFile({ file, now }))
    const openings = Array.from({ length: 100 }, () => openKeyFile({ file, now }))
    await expect(Promise.all([...rotations, ...openings])).resolves.toHaveLength(120)
  })

  it('error: leaves the old key where the new one cannot be written', async () => {
    await mkdir(file, { recursive: true })
    expect(await offlineCause(rotateKeyFile({ file, now }))).toContain('cannot be replaced')
    expect(await readdir(join(dir, 'data'))).toEqual(['token.key'])
  })
})

describe('a key file for RS256', () => {
  const alg = 'RS256'

  it('is created once with its time of issue, mode 0600, and opened again as the same key', async () => {
    const [first, second] = await Promise.all([openKeyFile({ file, alg, now }), openKeyFile({ file, alg, now })])
    expect(first.key.alg).toBe('RS256')
    expect(second.key.id).toBe(first.key.id)
    const { kty, n, iat } = JSON.parse(await readFile(file, 'utf8'))
    expect({ kty, iat, bits: Buffer.from(n, 'base64url').length * 8 }).toEqual({
      kty: 'RSA',
      iat: now.getTime() / 1000,
      bits: 2048,
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(join(dir, 'data'))).toEqual(['token.key'])
    const later = await readKeyFile({ file, alg })
    expect(later?.key.id).toBe(first.key.id)
    expect(later?.key.ageDays(new Date(now.getTime() + 91 * 86_400_000))).toBe(91)
  })

  it('is replaced by a rotation', async () => {
    const first = await openKeyFile({ file, alg, now })
    const second = await rotateKeyFile({ file, alg, now })
    expect(second.key.alg).toBe('RS256')
    expect(second.key.id).not.toBe(first.key.id)
    expect((await openKeyFile({ file, alg, now })).key.id).toBe(second.key.id)
  })

  it('has a name of its own, and is not taken for a secret, nor a secret for it', async () => {
    expect(keyFileName('RS256')).not.toBe(keyFileName('HS256'))
    await openKeyFile({ file, alg, now })
    expect(await offlineCause(openKeyFile({ file, now }))).toContain('kty "oct"')
    await rm(file)
    await openKeyFile({ file, now })
    expect(await offlineCause(openKeyFile({ file, alg, now }))).toContain('kty "RSA"')
  })

  it('is refused as auth_offline when it is of 1024 bits, public, or no key, and never quoted', async () => {
    const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'jwk' })
    const { n, e, d = '' } = small
    for (const [jwk, sentence] of [
      [{ ...small, iat: 1 }, 'a key of 1024 bits'],
      [{ ...small }, 'and iat'],
      [{ kty: 'RSA', n, e, iat: 1 }, 'does not hold a JSON Web Key'],
      [{ ...small, n: '', iat: 1 }, 'does not hold a JSON Web Key'],
    ] as const) {
      await put(JSON.stringify(jwk))
      const cause = await offlineCause(readKeyFile({ file, alg }))
      expect(cause).toContain(sentence)
      expect(cause).not.toContain(d)
    }
  })
})
