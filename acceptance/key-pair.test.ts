/**
 * Tokens that others can verify: LADE_TOKEN_ALG=RS256. Each of these starts a server of its own, so all are about the code
 * beside this suite; against a foreign server they are skipped.
 */
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Caller, headerOf } from './caller.ts'
import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import { expectProblem } from './problem.ts'
import type { OwnServer } from './server-under-test.ts'
import type { SignupResult } from './shapes.ts'
import { freshAddress, sampleBytes } from './target.ts'
import { readToken } from './token-forge.ts'

const isForeign = process.env.LADE_ACCEPTANCE_URL !== undefined
const options = { meta: { skippedBecause: 'not on a server of others' } }

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const RS256 = { LADE_TOKEN_ALG: 'RS256', LADE_TOKEN_KEY: String(privateKey.export({ format: 'pem', type: 'pkcs8' })) }
const PATH = '/.well-known/jwks.json'

interface KeySet {
  keys: Record<string, string>[]
}

const started: OwnServer[] = []
async function serve(changes: Record<string, string>): Promise<OwnServer> {
  const server = await startOwnServer({ ...OWN_ENV, ...changes })
  started.push(server)
  return server
}
const callerOf = (server: OwnServer) =>
  new Caller(server.baseUrl, server.baseUrl, { 'X-Forwarded-For': freshAddress() })
const bearing = (server: OwnServer, token: string) => callerOf(server).with({ Authorization: `Bearer ${token}` })

async function signUp(server: OwnServer): Promise<string> {
  const answer = await callerOf(server).post('/api/auth/signup', { email: 'pair@example.com', label: 'x' })
  expect(answer.status, answer.body.toString()).toBe(200)
  return answer.json<SignupResult>().token
}

describe.skipIf(isForeign)('LADE_TOKEN_ALG=RS256', options, () => {
  let server: OwnServer
  let token = ''
  beforeAll(async () => {
    server = await serve(RS256)
    token = await signUp(server)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(started.map((one) => one.discard()))
  }, 60_000)

  test('tokens name algorithm and key, and work', async () => {
    const { header } = readToken(token)
    expect(header).toEqual({ alg: 'RS256', typ: 'JWT', kid: expect.stringMatching(/^[\w-]+$/) })
    expect((await bearing(server, token).get('/api/usage')).status).toBe(200)
    expect((await bearing(server, token).upload(sampleBytes())).status).toBe(200)
    expect((await callerOf(server).get('/api/info')).json<object>()).toMatchObject({ tokenAlg: 'RS256' })
    const { paths } = (await callerOf(server).get('/openapi.json')).json<{ paths: Record<string, object> }>()
    expect(paths).toHaveProperty([PATH, 'get'])
  })

  test('anybody can verify a token by the address of the service alone', async () => {
    const keySet = createRemoteJWKSet(new URL(PATH, server.baseUrl))
    const { payload } = await jwtVerify(token.slice('pk_live_'.length), keySet, { algorithms: ['RS256'] })
    expect(payload).toEqual(readToken(token).payload)
  })

  test('the key set holds public members only, for any page, and may be kept a while', async () => {
    const answer = await callerOf(server).get(PATH)
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-type')).toMatch(/^application\/(jwk-set\+)?json/)
    expect(headerOf(answer, 'cache-control')).toMatch(/max-age=[1-9]/)
    const { keys } = answer.json<KeySet>()
    expect(keys).toHaveLength(1)
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth']) expect(keys[0]).not.toHaveProperty(secret)
    expect(keys[0]).toMatchObject({ kty: 'RSA', alg: 'RS256', use: 'sig', kid: readToken(token).header.kid })
  })

  test('the public key is no secret to sign with', async () => {
    const { payload, header } = readToken(token)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const jwk = (await callerOf(server).get(PATH)).json<KeySet>().keys[0]
    const pem = String(publicKey.export({ format: 'pem', type: 'spki' }))
    const secrets = [
      pem,
      pem.trim(),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(jwk),
      jwk?.n ?? '',
    ]
    for (const secret of secrets) {
      for (const members of [{ alg: 'HS256', typ: 'JWT' }, { ...header, alg: 'HS256' }, header]) {
        const signed = `${encode(members)}.${encode(payload)}`
        const forged = `pk_live_${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
        expectProblem(await bearing(server, forged).get('/api/usage'), 401, 'invalid_token')
      }
    }
  })

  test('refuses alg none, another kid, and a changed payload', async () => {
    const { header, payload, parts } = readToken(token)
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const forged = [
      `${encode({ ...header, alg: 'none' })}.${parts[1]}.`,
      `${encode({ ...header, kid: 'other' })}.${parts[1]}.${parts[2]}`,
      `${parts[0]}.${encode({ ...payload, quotaMb: 999_999 })}.${parts[2]}`,
    ]
    for (const jwt of forged) {
      expectProblem(await bearing(server, `pk_live_${jwt}`).get('/api/usage'), 401, 'invalid_token')
    }
  })

  test('neither kind of service takes the tokens of the other', async () => {
    const other = await serve({})
    const secretToken = await signUp(other)
    expectProblem(await bearing(server, secretToken).get('/api/usage'), 401, 'invalid_token')
    expectProblem(await bearing(other, token).get('/api/usage'), 401, 'invalid_token')
    expectProblem(await callerOf(other).get(PATH), 404, 'not_found')
  })

  test('a key of the other kind stops the start, unseen', async () => {
    const refusal = async (env: Record<string, string>) => {
      const outcome = await startOwnServer({ ...OWN_ENV, ...env }).catch((error: Error) => error.message)
      return String(outcome)
    }
    const wrongAlg = await refusal({ LADE_TOKEN_KEY: RS256.LADE_TOKEN_KEY })
    expect(wrongAlg).toMatch(/LADE_TOKEN_KEY is an RSA key, but LADE_TOKEN_ALG is HS256/)
    expect(wrongAlg).not.toContain('PRIVATE KEY')
    expect(await refusal({ LADE_TOKEN_ALG: 'RS256' })).toMatch(
      /LADE_TOKEN_ALG is RS256, but LADE_TOKEN_KEY is not an RSA private key/,
    )
  })
})
