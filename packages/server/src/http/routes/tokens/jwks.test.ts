import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DAY_MS } from '@lade/core/time'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bearer, type RunningService, type RunOptions, runService } from '../../../testing/running/running-service.ts'
import { keyFileName, rotateKeyFile } from '../../../tokens/key-file.ts'

const RS256 = { LADE_TOKEN_ALG: 'RS256' }
const running: RunningService[] = []
afterEach(async () => {
  for (const service of running.splice(0).reverse()) await service.remove()
})

async function run(options?: RunOptions): Promise<RunningService> {
  const service = await runService(options)
  running.push(service)
  return service
}

const jwtOf = (token: string) => token.slice('pk_live_'.length)
const usage = async (service: RunningService, token: string) =>
  (await service.fetch('/api/usage', { headers: bearer(token) })).status
/** As somebody would who knows nothing but the address of the service. */
const keySetOf = (service: RunningService) =>
  createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`), { cooldownDuration: 0 })

describe('/.well-known/jwks.json', () => {
  it('lets others verify tokens', async () => {
    const service = await run({ env: RS256 })
    const { token, userId } = await service.signUp()
    const { payload, protectedHeader } = await jwtVerify(jwtOf(token), keySetOf(service), { algorithms: ['RS256'] })
    expect(payload).toMatchObject({ sub: userId, email: 'ada@example.org', scopes: ['put', 'get', 'list', 'pin'] })
    expect(payload).toMatchObject({ iss: service.url, aud: service.url })
    expect(Object.keys(protectedHeader).sort()).toEqual(['alg', 'kid', 'typ'])
    expect(await usage(service, token)).toBe(200)
    const [header, , signature] = jwtOf(token).split('.')
    const forged = `${header}.${Buffer.from(JSON.stringify({ ...payload, sub: 'root' })).toString('base64url')}.${signature}`
    await expect(jwtVerify(forged, keySetOf(service))).rejects.toThrow('signature verification failed')
  })

  it('holds the public half alone, may be kept for a while, and may be read by any page', async () => {
    const service = await run({ env: RS256 })
    const response = await service.fetch('/.well-known/jwks.json', { headers: { origin: 'https://other.example' } })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/jwk-set\+json/)
    expect(response.headers.get('cache-control')).toBe('public, max-age=300')
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    const { keys } = (await response.json()) as { keys: Record<string, string>[] }
    expect(keys).toHaveLength(1)
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  })

  it('is not there for a secret', async () => {
    const service = await run()
    const response = await service.fetch('/.well-known/jwks.json')
    expect([response.status, await response.json()]).toMatchObject([404, { error: 'not_found' }])
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(await (await service.fetch('/api/info')).json()).toMatchObject({ tokenAlg: 'HS256' })
  })

  it('has the old key as well after a rotation with an overlap, in which its tokens are good here and elsewhere', async () => {
    const service = await run({ env: RS256 })
    const keySet = keySetOf(service)
    const { token: old } = await service.signUp()
    const file = join(service.dataDir, keyFileName('RS256'))
    const { key } = await rotateKeyFile({ file, alg: 'RS256', now: new Date(), overlapDays: 1 })
    await vi.waitFor(
      async () => {
        const { token } = await service.signUp()
        expect((await jwtVerify(jwtOf(token), keySet)).protectedHeader.kid).toBe(key.id)
      },
      { timeout: 5000, interval: 100 },
    )
    expect((await jwtVerify(jwtOf(old), keySet)).protectedHeader.kid).toBe(key.previous[0]?.key.id)
    expect(await usage(service, old)).toBe(200)
    expect(service.logLines.join()).toContain('the old one is accepted for a while')
    const { keys } = (await (await service.fetch('/.well-known/jwks.json')).json()) as { keys: { kid: string }[] }
    expect(keys.map(({ kid }) => kid)).toEqual([key.id, key.previous[0]?.key.id])
  })

  it('follows a rotation, after which no token of the old key is good here or elsewhere', async () => {
    const service = await run({ env: RS256 })
    const keySet = keySetOf(service)
    const { token: old } = await service.signUp()
    await jwtVerify(jwtOf(old), keySet)
    await rotateKeyFile({ file: join(service.dataDir, keyFileName('RS256')), alg: 'RS256', now: new Date() })
    await vi.waitFor(async () => expect(await usage(service, old)).toBe(401), { timeout: 5000, interval: 100 })
    const { token } = await service.signUp()
    await jwtVerify(jwtOf(token), keySet)
    await expect(jwtVerify(jwtOf(old), keySet)).rejects.toThrow('no applicable key')
  })
})

describe('an RS256 service', () => {
  it('makes its key once, readable by its owner only, and keeps it', async () => {
    const service = await run({ env: RS256 })
    const { token } = await service.signUp()
    const file = join(service.dataDir, 'token.rs256.key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(service.dataDir)).not.toContain('token.key')
    await service.close()
    const again = await run({ env: RS256, dataDir: service.dataDir })
    expect(await usage(again, token)).toBe(200)
    await again.close()
    rmSync(file)
    const other = await run({ env: RS256, dataDir: service.dataDir })
    expect(await usage(other, token)).toBe(401)
  })

  it('takes its key from the configuration, in any form, and makes no file then', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const pem = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
    const first = await run({ env: { ...RS256, LADE_TOKEN_KEY: pem } })
    const { token } = await first.signUp()
    expect(readdirSync(first.dataDir).filter((name) => name.includes('key'))).toEqual([])
    for (const text of [pem.replaceAll('\n', '\\n'), JSON.stringify(privateKey.export({ format: 'jwk' }))]) {
      const service = await run({ env: { ...RS256, LADE_TOKEN_KEY: text } })
      expect(await usage(service, token)).toBe(200)
      expect(service.logLines.join()).not.toContain('PRIVATE KEY')
    }
  })

  it('and an HS256 service on the same data take no token of each other, and each keeps its own', async () => {
    const service = await run()
    const { token: ofSecret } = await service.signUp()
    await service.close()
    const changed = await run({ env: RS256, dataDir: service.dataDir })
    const { token: ofPair } = await changed.signUp()
    expect([await usage(changed, ofSecret), await usage(changed, ofPair)]).toEqual([401, 200])
    await changed.close()
    const back = await run({ dataDir: service.dataDir })
    expect([await usage(back, ofSecret), await usage(back, ofPair)]).toEqual([200, 401])
  })

  it('gives share links that end with its key', async () => {
    const service = await run({ env: RS256 })
    const { token } = await service.signUp()
    const uploaded = await service.upload(Buffer.from('private'), { token, headers: { 'x-visibility': 'private' } })
    const { cid } = (await uploaded.json()) as { cid: string }
    const shared = await service.fetch(`/api/files/${cid}/share`, {
      method: 'POST',
      body: '{"ttlSeconds":60}',
      headers: { 'content-type': 'application/json', ...bearer(token) },
    })
    const { url } = (await shared.json()) as { url: string }
    expect(await (await fetch(url)).text()).toBe('private')
  })
})

describe('the age of the signing key', () => {
  const facts = async (service: RunningService) => {
    const response = await service.fetch('/readyz')
    return [response.status, ((await response.json()) as { signingKey: unknown }).signingKey]
  }
  const overdue = (service: RunningService) => service.logLines.filter((line) => line.includes('overdue')).length

  it.each(['HS256', 'RS256'] as const)('is a fact in /readyz and a warning in the log, with %s', async (alg) => {
    const clock = { now: Date.now() }
    const options = { env: { LADE_TOKEN_ALG: alg }, substitutes: { now: () => clock.now } }
    const service = await run(options)
    expect(await facts(service)).toEqual([200, { alg, ageDays: 0, overdue: false }])
    await service.close()
    expect(overdue(service)).toBe(0)
    clock.now += 91 * DAY_MS
    const later = await run({ ...options, dataDir: service.dataDir })
    expect(await facts(later)).toEqual([200, { alg, ageDays: 91, overdue: true }])
    expect(overdue(later)).toBe(1)
    clock.now += DAY_MS
    await vi.waitFor(() => expect(overdue(later)).toBe(2), { timeout: 15_000, interval: 200 })
  })

  it('is not known of a key from the configuration', async () => {
    const clock = { now: Date.now() + 1000 * DAY_MS }
    const service = await run({ env: { LADE_TOKEN_KEY: 'ab'.repeat(32) }, substitutes: { now: () => clock.now } })
    expect(await facts(service)).toEqual([200, { alg: 'HS256', ageDays: null, overdue: false }])
    expect(overdue(service)).toBe(0)
  })
})
