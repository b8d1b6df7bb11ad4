import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { TokenList } from '@lade/core/wire'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { revokeTokens } from '../../../doctor/revoke-tokens.ts'
import {
  bearer,
  databaseFileOf,
  type RunningService,
  type RunOptions,
  runService,
} from '../../../testing/running/running-service.ts'
import { userIdOf } from '../../../tokens/email.ts'
import { openKeyFile } from '../../../tokens/key-file.ts'
import { mintToken } from '../../../tokens/mint-token.ts'

const ADA = 'ada@example.org'
const DAY_SECONDS = 86_400

const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
})

async function run(options: RunOptions = {}): Promise<RunningService> {
  const service = await runService(options)
  running.push(service)
  return service
}

/** A token that the service has not seen, as `lade keys mint` makes it. */
async function mint(service: RunningService, changes: { jti?: string; label?: string; iat?: number } = {}) {
  const { key } = await openKeyFile({ file: join(service.dataDir, 'token.key'), now: new Date() })
  const now = Math.floor(Date.now() / 1000) - 10
  const claims = {
    sub: userIdOf(ADA),
    email: ADA,
    scopes: ['put', 'get', 'list', 'pin'] as const,
    quotaMb: 7,
    iat: now,
    exp: now + DAY_SECONDS,
    jti: randomUUID(),
    ...changes,
  }
  return { jti: claims.jti, token: await mintToken(claims, key) }
}

const usage = async (service: RunningService, token: string): Promise<string> => {
  const response = await service.fetch('/api/usage', { headers: bearer(token) })
  return response.ok ? 'ok' : ((await response.json()) as { error: string }).error
}
const listOf = async (service: RunningService, token: string): Promise<TokenList['tokens']> => {
  const response = await service.fetch('/api/tokens', { headers: bearer(token) })
  return ((await response.json()) as TokenList).tokens
}
const revoke = (service: RunningService, token: string, jti: string) =>
  service.fetch('/api/tokens/revoke', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify({ jti }),
  })

function countOf(service: RunningService, sql: string): unknown {
  const database = new Database(databaseFileOf(service.config), { readonly: true })
  try {
    return database.prepare(sql).pluck().get()
  } finally {
    database.close()
  }
}

describe('a token that the records never saw', () => {
  it('is listed from its first use on, with its label, and written once', async () => {
    const service = await run()
    const minted = await mint(service, { label: 'build server' })
    const { token } = await service.signUp(ADA)
    expect((await listOf(service, token)).map(({ jti }) => jti)).not.toContain(minted.jti)
    await Promise.all(Array.from({ length: 20 }, () => usage(service, minted.token)))
    const listed = (await listOf(service, token)).find(({ jti }) => jti === minted.jti)
    expect(listed).toMatchObject({
      label: 'build server',
      quotaMb: 7,
      current: false,
      isCurrent: false,
      revokedAt: null,
    })
    expect(listed?.createdAt).toBe(listed?.issuedAt)
    expect(listed?.lastUsedAt).not.toBeNull()
    expect((await listOf(service, minted.token)).find(({ isCurrent }) => isCurrent)).toMatchObject({ jti: minted.jti })
    expect(countOf(service, 'SELECT COUNT(*) FROM tokens')).toBe(2)
  })

  it('is revoked by itself with its first request, and by another token of its user after its first use', async () => {
    const service = await run()
    const [one, two] = [await mint(service), await mint(service)]
    expect((await revoke(service, one.token, one.jti)).status).toBe(200)
    expect(await usage(service, one.token)).toBe('revoked_token')
    expect((await revoke(service, (await service.signUp('bob@example.org')).token, two.jti)).status).toBe(404)
    expect(await usage(service, two.token)).toBe('ok')
    expect((await revoke(service, (await service.signUp(ADA)).token, two.jti)).status).toBe(200)
    expect(await usage(service, two.token)).toBe('revoked_token')
  })

  it('can be revoked however its id is spelled', async () => {
    const service = await run()
    const { jti, token } = await mint(service, { jti: randomUUID().toUpperCase() })
    expect(await usage(service, token)).toBe('ok')
    expect((await revoke(service, token, jti)).status).toBe(200)
    expect(await usage(service, token)).toBe('revoked_token')
  })

  it('is refused when the operator revoked its id before its first use, and is then listed as revoked', async () => {
    const service = await run()
    const minted = await mint(service)
    const which = { jti: minted.jti.toUpperCase() }
    await revokeTokens(service.config, { which, keepsLinks: false, now: Date.now() })
    expect(await usage(service, minted.token)).toBe('revoked_token')
    const { token } = await service.signUp(ADA)
    const listed = (await listOf(service, token)).find(({ jti }) => jti === minted.jti)
    expect(listed?.revokedAt).not.toBeNull()
  })

  it('is refused when the operator revoked all tokens of its user, and one that is issued later is not', async () => {
    const service = await run()
    const [seen, unseen] = [await mint(service), await mint(service)]
    const { token: ofBob } = await service.signUp('bob@example.org')
    const { token } = await service.signUp(ADA)
    for (const each of [seen.token, token]) expect(await usage(service, each)).toBe('ok')
    const which = { sub: userIdOf(ADA) }
    // In the next second, since a token says its time of issue in seconds.
    const now = Date.now() + 1000
    expect(await revokeTokens(service.config, { which, keepsLinks: false, now })).toEqual({ revokedAt: now, tokens: 2 })
    await vi.waitFor(async () => expect(await usage(service, token)).toBe('revoked_token'), { timeout: 5000 })
    for (const each of [seen.token, unseen.token]) expect(await usage(service, each)).toBe('revoked_token')
    expect(await usage(service, ofBob)).toBe('ok')
    const later = await mint(service, { iat: Math.floor(now / 1000) + 1 })
    expect(await usage(service, later.token)).toBe('ok')
    expect((await listOf(service, later.token)).filter(({ revokedAt }) => revokedAt === null)).toMatchObject([
      { jti: later.jti },
    ])
  })
})
