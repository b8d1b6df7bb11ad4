import { connect } from 'node:net'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { createSignerClient } from '@slicekit/erc8128'
import type { PrivateKeyAccount } from 'viem/accounts'
import { createSiweMessage } from 'viem/siwe'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type FakeChain, openFakeChain } from '../../../chain/fake-chain.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import {
  ALICE,
  BOB,
  contentDigest,
  parametersOf,
  type SigningOptions,
  signedHeaders,
} from '../../../wallets/testing-wallets.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
/** At this price a unit of 10⁻⁶ USDC is a byte a day. */
const BYTE_PRICE = '1073.741824'
const ENV = { LADE_CHAIN_RPC: 'http://127.0.0.1:9/secret', LADE_USDC: USDC, LADE_USDC_PER_GIB: BYTE_PRICE }
const JSON_TYPE = { 'content-type': 'application/json' }
const OCTETS = 'application/octet-stream'

let service: RunningService
let chain: FakeChain
beforeAll(async () => {
  chain = openFakeChain()
  service = await runService({ env: ENV, substitutes: { chain } })
})
afterAll(() => service.remove())
beforeEach(() => {
  chain.setOnline(true)
  for (const { address } of [ALICE, BOB]) chain.setBalance(address, 10n ** 12n)
})

const seconds = () => Math.floor(Date.now() / 1000)
let bodies = 0
/** Bytes that nobody has staged before. */
const newBody = (sizeBytes = 100): Buffer => {
  bodies += 1
  return Buffer.alloc(sizeBytes, `body ${bodies} `)
}

/** A request that the account signed, sent. `changes` are of the signature, `sent` of what goes out. */
async function send(
  method: string,
  target: string,
  { body, ...changes }: Partial<SigningOptions> = {},
  sent: { readonly headers?: Record<string, string>; readonly body?: Uint8Array } = {},
): Promise<Response> {
  const options = { method, target, publicUrl: service.url, created: seconds(), ...changes }
  const headers = await signedHeaders(body === undefined ? options : { ...options, body })
  const bytes = sent.body ?? body
  return service.fetch(target, {
    method,
    headers: { ...headers, ...sent.headers },
    ...(bytes === undefined ? {} : { body: Uint8Array.from(bytes) }),
  })
}

const put = (body: Uint8Array, { account = ALICE, cid = sha256Hex(body), headers = {} } = {}) =>
  send('POST', `/api/upload?cid=${cid}`, { account, body, fields: { 'content-type': OCTETS, ...headers } })

async function usageOf(account: PrivateKeyAccount) {
  const response = await send('GET', '/api/usage', { account })
  expect(response.status).toBe(200)
  return (await response.json()) as {
    userId: string
    email: null
    quotaBytes: number
    today: { bytes: number; reservedBytes: number; remainingBytes: number }
  }
}

describe('a wallet that signs its requests', () => {
  it('is a caller of every endpoint, with the signer of another implementation', async () => {
    const { fetch: signedFetch } = createSignerClient({
      chainId: chain.chainId,
      address: BOB.address,
      signMessage: (message) => BOB.signMessage({ message: { raw: message } }),
    })
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await signedFetch(`${service.url}${path}`, init)
      expect(`${path}: ${response.status}`).toBe(`${path}: 200`)
      return response
    }
    const json = async (path: string, init?: RequestInit) => (await (await ask(path, init)).json()) as never

    const body = newBody()
    const cid = sha256Hex(body)
    const staged = await json(`/api/upload?cid=${cid}`, {
      method: 'POST',
      body: Uint8Array.from(body),
      headers: { 'content-type': OCTETS, 'x-visibility': 'private', 'x-filename': 'a.bin' },
    })
    expect(staged).toMatchObject({ cid, sponsored: false, owner: BOB.address, term: '30 days' })
    const userId = `eip155:31337:${BOB.address}`
    expect(await json('/api/files?limit=10')).toMatchObject({ userId, email: null, count: 1, files: [{ cid }] })
    expect(await json(`/api/files/${cid}`)).toMatchObject({ cid, visibility: 'private' })
    expect(await json('/api/usage')).toMatchObject({ userId, email: null, today: { bytes: body.length } })
    expect(await json('/api/deals')).toMatchObject({ userId, email: null, count: 1 })
    const { dealId } = staged as { dealId: string }
    expect(await json(`/api/deals/${dealId}`)).toMatchObject({ dealId })
    expect(await json(`/api/piece-cids?cid=${cid}`)).toMatchObject({ items: [{ cid }], missing: [] })
    const cids = { method: 'POST', body: JSON.stringify({ cids: [cid] }), headers: JSON_TYPE }
    expect(await json('/api/piece-cids', cids)).toMatchObject({ items: [{ cid }] })
    expect(Buffer.from(await (await ask(`/p/${cid}`)).arrayBuffer())).toEqual(body)
    const share = { method: 'POST', body: JSON.stringify({ ttlSeconds: 60 }), headers: JSON_TYPE }
    const { url } = await json(`/api/files/${cid}/share`, share)
    expect((await fetch(url)).status).toBe(200)
    const part = await json(`/api/compose?cid=${cid}`, {
      method: 'POST',
      body: JSON.stringify({ parts: [cid] }),
      headers: JSON_TYPE,
    })
    expect(part).toMatchObject({ cid, owner: BOB.address })
    expect(await json(`/api/files/${cid}`, { method: 'DELETE' })).toMatchObject({ cid, status: 'removed' })
    expect(await json('/api/tokens')).toEqual({ tokens: [] })
  })

  it('sees its own private files and nobody else’s', async () => {
    const body = newBody()
    expect((await put(body, { headers: { 'x-visibility': 'private' } })).status).toBe(200)
    const path = `/p/${sha256Hex(body)}`
    expect((await send('GET', path)).status).toBe(200)
    expect((await send('GET', path, { account: BOB })).status).toBe(404)
    expect((await service.fetch(path)).status).toBe(404)
  })

  it('uses each signature once, of 20 that come at the same time', async () => {
    const target = '/api/files'
    const headers = await signedHeaders({ target, publicUrl: service.url, created: seconds() })
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.fetch(target, { headers })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status !== 200) expect(await answer.json()).toMatchObject({ error: 'replayed_signature', status: 401 })
    }
  })

  it('is refused, and not taken for an anonymous caller, when its signature does not hold', async () => {
    const body = newBody()
    const response = await send(
      'POST',
      `/api/upload?cid=${sha256Hex(body)}`,
      { body, fields: { 'content-type': OCTETS } },
      { headers: { 'content-type': 'text/html' } },
    )
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      error: 'invalid_signature',
      reason: expect.stringMatching(/^This is not a signature of/),
    })
    expect((await service.fetch(`/p/${sha256Hex(body)}`)).status).toBe(404)
  })

  it('is refused whatever Host and X-Forwarded-Host say', async () => {
    const options = { target: '/api/files', publicUrl: 'https://lade.example', created: seconds() }
    const headers = { ...(await signedHeaders(options)), 'x-forwarded-host': 'lade.example' }
    expect((await service.fetch('/api/files', { headers })).status).toBe(401)
  })

  it('is told what could be signed, on every 401', async () => {
    const offers = async (path: string, init: RequestInit = {}) => {
      const response = await service.fetch(path, init)
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/)
      return response.headers.get('accept-signature')
    }
    const always = '"@method" "@authority" "@path"'
    const parameters = ';created;expires;nonce;keyid'
    expect(await offers('/api/files')).toBe(`eth=(${always})${parameters}`)
    expect(await offers('/api/files?limit=1')).toBe(`eth=(${always} "@query")${parameters}`)
    const init = { method: 'POST', body: '{"cids":["myfile01"]}', headers: JSON_TYPE }
    expect(await offers('/api/piece-cids', init)).toBe(`eth=(${always} "content-digest")${parameters}`)
    expect(await offers(`/api/upload?cid=${'a'.repeat(64)}`, { method: 'POST', body: 'x', headers: bearer('x') })).toBe(
      `eth=(${always} "@query" "content-digest")${parameters}`,
    )
    expect((await service.fetch('/api/files/nothing')).headers.get('access-control-expose-headers')).toContain(
      'Accept-Signature',
    )
  })

  it('shows a token or signs, and not both', async () => {
    const { token } = await service.signUp()
    for (const { path, headers } of [
      { path: '/api/files', headers: bearer(token) },
      { path: '/api/files', headers: { authorization: 'Basic x' } },
      { path: `/api/files?token=${token}`, headers: {} },
    ]) {
      const response = await send('GET', path, {}, { headers })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'bad_request' })
    }
  })

  it('passes with the signatures of others beside its own', async () => {
    const target = '/api/files'
    const own = await signedHeaders({ target, publicUrl: service.url, created: seconds() })
    const headers = {
      'signature-input': `proxy=("@method");keyid="edge", ${own['signature-input']}`,
      signature: `proxy=:AAAA:, ${own.signature}`,
    }
    expect((await service.fetch(target, { headers })).status).toBe(200)
    const { token } = await service.signUp()
    const theirs = { 'signature-input': 'proxy=("@method");keyid="edge"', signature: 'proxy=:AAAA:' }
    expect((await service.fetch(target, { headers: { ...theirs, ...bearer(token) } })).status).toBe(200)
  })

  it('needs no chain for listing with its own key, and one for what depends on its balance', async () => {
    chain.setOnline(false)
    expect((await send('GET', '/api/files')).status).toBe(200)
    for (const answer of [await put(newBody()), await send('GET', '/api/usage')]) {
      expect(answer.status).toBe(503)
      expect(answer.headers.get('retry-after')).toBe('5')
      expect(await answer.json()).toMatchObject({ error: 'chain_offline' })
    }
  })

  it('may be a contract', async () => {
    chain.acceptAsContract(BOB.address, Buffer.from('abcd', 'hex'))
    const signature = { signature: 'eth=:q80=:' }
    expect((await send('GET', '/api/files', { account: BOB }, { headers: signature })).status).toBe(200)
    expect((await send('GET', '/api/files', { account: ALICE }, { headers: signature })).status).toBe(401)
  })
})

/** The bytes that come back for a head that waits before its body, which follows when it is asked for. */
function withExpect(head: readonly string[], body: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(service.url).port) })
    let received = ''
    let isSent = false
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      if (received.includes('100 Continue') && !isSent) {
        isSent = true
        socket.write(body)
      } else if (/^HTTP\/1\.1 [2-5]\d\d/m.test(received)) socket.end()
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
  })
}

describe('Expect: 100-continue', () => {
  const headOf = async (body: Uint8Array, changes: Partial<SigningOptions> = {}) => {
    const target = `/api/upload?cid=${sha256Hex(body)}`
    const fields = { 'content-type': OCTETS, 'content-length': String(body.length) }
    const options = { method: 'POST', target, publicUrl: service.url, created: seconds(), body, fields }
    const headers = await signedHeaders({ ...options, ...changes })
    return [
      `POST ${target} HTTP/1.1`,
      `Host: ${new URL(service.url).host}`,
      'Expect: 100-continue',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
  }

  it('is answered with 100 once the signature holds', async () => {
    const body = newBody()
    const received = await withExpect(await headOf(body), body)
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
  })

  it('is answered with the final status when it does not', async () => {
    const body = newBody()
    const received = await withExpect(await headOf(body, { created: seconds() - 1000 }), body)
    expect(received).toMatch(/^HTTP\/1\.1 401 Unauthorized/)
    expect(received).toContain('"error":"invalid_signature"')
  })
})

describe('a body that is not the one of its Content-Digest', () => {
  /** An id that says nothing about the bytes, so that nothing but the digest can tell. */
  const cid = () => `opaque${Date.now()}${bodies}`

  it.each([100, 300_000])('leaves nothing behind of %d bytes and gives the reservation back', async (sizeBytes) => {
    const body = newBody(sizeBytes)
    const other = newBody(sizeBytes)
    const before = await usageOf(ALICE)
    const name = cid()
    const response = await send(
      'POST',
      `/api/upload?cid=${name}`,
      { body, fields: { 'content-type': OCTETS } },
      { body: other },
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: 'digest_mismatch',
      expected: contentDigest(body),
      actual: contentDigest(other),
    })
    for (const path of [`/p/${name}`, `/p/${sha256Hex(other)}`]) expect((await service.fetch(path)).status).toBe(404)
    expect(await usageOf(ALICE)).toEqual(before)
  })

  it('is refused before its id is looked at, for callers of every tier and in either field', async () => {
    const { token } = await service.signUp()
    const body = newBody()
    for (const headers of [
      { 'content-digest': contentDigest(body) },
      { 'repr-digest': contentDigest(body) },
      { 'content-digest': contentDigest(body), ...bearer(token) },
    ]) {
      const response = await service.upload(newBody(), { cid: sha256Hex(body), headers })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ error: 'digest_mismatch' })
      const good = await service.upload(body, { headers })
      expect(good.status).toBe(200)
    }
  })

  it('is refused when it is JSON', async () => {
    const body = Buffer.from('{"cids":["myfile01"]}')
    const response = await send(
      'POST',
      '/api/piece-cids',
      { body, fields: JSON_TYPE },
      { body: Buffer.from('{"cids":["myfile02"]}') },
    )
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'digest_mismatch' })
    expect((await send('POST', '/api/piece-cids', { body, fields: JSON_TYPE })).status).toBe(200)
  })

  it('error: a field that is malformed is 400 for everybody', async () => {
    const response = await service.upload(newBody(), { headers: { 'content-digest': 'sha-256=abc' } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'bad_request' })
  })

  it('has to name a sha-256 where a wallet signs', async () => {
    const body = newBody()
    const target = `/api/upload?cid=${sha256Hex(body)}`
    const components = ['@method', '@authority', '@path', '@query', 'content-digest']
    const fields = { 'content-digest': 'sha-512=:AA==:' }
    const options = { method: 'POST', target, publicUrl: service.url, created: seconds(), fields, components }
    const headers = { 'content-type': OCTETS, ...(await signedHeaders(options)) }
    const response = await service.fetch(target, { method: 'POST', body: Uint8Array.from(body), headers })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ reason: expect.stringMatching(/sha-256/) })
  })
})

describe('the quota of a wallet', () => {
  const account = BOB

  it('is what it holds, to the byte, and less when it holds less', async () => {
    const { today } = await usageOf(account)
    const leave = (bytes: number) => chain.setBalance(account.address, BigInt(today.bytes + bytes))
    leave(1000)
    expect(await usageOf(account)).toMatchObject({ quotaBytes: today.bytes + 1000, today: { remainingBytes: 1000 } })
    const over = await put(newBody(1001), { account })
    expect(over.status).toBe(429)
    expect(await over.json()).toMatchObject({ error: 'quota_exceeded', used: today.bytes, limit: today.bytes + 1000 })
    expect(over.headers.get('x-ratelimit-remaining')).toBe('1000')
    expect(over.headers.get('ratelimit')).toMatch(/^"wallet";r=1000;t=\d+$/)
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0)

    const half = await put(newBody(600), { account })
    expect(half.status).toBe(200)
    expect(half.headers.get('x-ratelimit-remaining')).toBe('400')
    leave(999)
    expect((await put(newBody(400), { account })).status).toBe(429)
    expect((await put(newBody(399), { account })).status).toBe(200)
    leave(0)
    expect((await usageOf(account)).today.remainingBytes).toBe(0)
    expect((await put(newBody(1), { account })).status).toBe(429)
    chain.setBalance(account.address, 0n)
    expect((await put(newBody(1), { account })).status).toBe(429)
  })

  it('is its own, whoever else has none', async () => {
    chain.setBalance(BOB.address, 0n)
    expect((await put(newBody(1), { account: ALICE })).status).toBe(200)
  })

  it('has no bound on a single file, but the largest number that can be said', async () => {
    chain.setBalance(ALICE.address, 10n ** 40n)
    const { quotaBytes } = await usageOf(ALICE)
    expect(quotaBytes).toBe(Number.MAX_SAFE_INTEGER)
    const response = await put(newBody(1))
    expect(response.headers.get('ratelimit-policy')).toContain('q=999999999999999;')
  })
})

describe('signing in', () => {
  const newNonce = async () => {
    const response = await service.fetch('/api/auth/wallet/nonce', { method: 'POST' })
    expect(response.status).toBe(200)
    return (await response.json()) as { nonce: string; expiresIn: number }
  }
  const messageOf = (nonce: string, account = ALICE) =>
    createSiweMessage({
      address: account.address,
      chainId: chain.chainId,
      domain: new URL(service.url).host,
      nonce,
      uri: service.url,
      version: '1',
      statement: 'Sign in to Lade.',
    })
  const verify = async (message: string, account = ALICE) =>
    service.fetch('/api/auth/wallet/verify', {
      method: 'POST',
      headers: JSON_TYPE,
      body: JSON.stringify({ message, signature: await account.signMessage({ message }) }),
    })
  const enter = async (account = ALICE) => {
    const { nonce } = await newNonce()
    const response = await verify(messageOf(nonce, account), account)
    expect(response.status).toBe(200)
    return (await response.json()) as { token: string; address: string; expiresAt: string }
  }

  it('gives a token that is the wallet, for a quarter of an hour', async () => {
    const { token, address, expiresAt } = await enter()
    expect(address).toBe(ALICE.address)
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - 900_000)).toBeLessThan(5000)
    const body = newBody()
    const staged = await service.upload(body, { token, headers: { 'x-visibility': 'private' } })
    expect(staged.status).toBe(200)
    expect(await staged.json()).toMatchObject({ owner: ALICE.address, sponsored: false })
    expect(staged.headers.get('ratelimit')).toMatch(/^"wallet"/)
    // One and the same caller, whichever way it is shown.
    expect((await send('GET', `/api/files/${sha256Hex(body)}`)).status).toBe(200)
    const usage = await service.fetch('/api/usage', { headers: bearer(token) })
    expect(await usage.json()).toMatchObject({ userId: `eip155:31337:${ALICE.address}`, email: null })
  })

  const jtiOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti
  const revoke = (token: string, jti: string) =>
    service.fetch('/api/tokens/revoke', {
      method: 'POST',
      headers: { ...JSON_TYPE, ...bearer(token) },
      body: JSON.stringify({ jti }),
    })

  it('gives a token that is listed and revoked like any other', async () => {
    const { token } = await enter(BOB)
    const listed = await service.fetch('/api/tokens', { headers: bearer(token) })
    expect(await listed.json()).toMatchObject({
      tokens: [{ jti: jtiOf(token), label: 'wallet sign-in', quotaMb: null, current: true, revokedAt: null }],
    })
    const other = (await enter(BOB)).token
    expect((await revoke((await enter(ALICE)).token, jtiOf(token))).status).toBe(404)
    expect((await revoke(other, jtiOf(token))).status).toBe(200)
    const refused = await service.fetch('/api/usage', { headers: bearer(token) })
    expect([refused.status, await refused.json()]).toMatchObject([401, { error: 'revoked_token' }])
    // A signature of the wallet is as good as a token.
    const body = Buffer.from(JSON.stringify({ jti: jtiOf(other) }))
    expect((await send('POST', '/api/tokens/revoke', { account: BOB, body, fields: JSON_TYPE })).status).toBe(200)
    expect((await service.fetch('/api/usage', { headers: bearer(other) })).status).toBe(401)
  })

  it('gives a token that signs nobody up', async () => {
    const { token } = await enter()
    const signup = await service.fetch('/api/auth/signup', {
      method: 'POST',
      headers: { ...JSON_TYPE, ...bearer(token) },
      body: JSON.stringify({ email: 'eve@example.org', label: 'x' }),
    })
    expect(await signup.json()).toMatchObject({ email: 'eve@example.org', quotaMb: 1024 })
  })

  it('hands out a nonce for ten minutes, also to one who sends an empty object', async () => {
    expect(await newNonce()).toEqual({ nonce: expect.stringMatching(/^[0-9a-f]{32}$/), expiresIn: 600 })
    const init = { method: 'POST', headers: JSON_TYPE, body: '{}' }
    expect((await service.fetch('/api/auth/wallet/nonce', init)).status).toBe(200)
  })

  it('refuses a message twice, one for elsewhere, and what is no message', async () => {
    const { nonce } = await newNonce()
    const message = messageOf(nonce)
    expect((await verify(message)).status).toBe(200)
    const again = await verify(message)
    expect(again.status).toBe(401)
    expect(await again.json()).toMatchObject({ error: 'invalid_nonce' })
    const elsewhere = await verify(messageOf((await newNonce()).nonce).replace(/^[^ ]+/, 'evil.example'))
    expect(elsewhere.status).toBe(401)
    expect(await elsewhere.json()).toMatchObject({ error: 'invalid_signature' })
    for (const body of ['{}', '{"message":"x"}', '{"message":1,"signature":"0x00"}', 'x']) {
      const response = await service.fetch('/api/auth/wallet/verify', { method: 'POST', headers: JSON_TYPE, body })
      expect(response.status).toBe(400)
    }
  })

  it('is documented, and so is the signature as a way to be known', async () => {
    const document = (await (await service.fetch('/openapi.json')).json()) as {
      paths: Record<string, { get?: { security: object[] }; post?: { responses: object } }>
      components: { securitySchemes: object }
    }
    expect(Object.keys(document.paths['/api/auth/wallet/nonce']?.post?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '401', '429', '503']),
    )
    expect(Object.keys(document.paths['/api/auth/wallet/verify']?.post?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '400', '401', '429', '503']),
    )
    expect(document.paths['/api/files']?.get?.security).toContainEqual({ walletInput: [], walletSignature: [] })
    expect(document.components.securitySchemes).toHaveProperty('walletSignature')
  })

  it('says in /api/info what a wallet has to know', async () => {
    const info = (await (await service.fetch('/api/info')).json()) as { wallets: unknown }
    expect(info.wallets).toEqual({ chainId: 31_337, usdc: USDC, usdcPerGib: BYTE_PRICE })
  })
})

describe('a service whose chain does not answer', () => {
  it('starts when it is told which chain it is, and takes what needs no chain', async () => {
    const away = await runService({ env: { ...ENV, LADE_CHAIN_ID: '31337' } })
    try {
      expect(await (await away.fetch('/api/info')).json()).toMatchObject({ wallets: { chainId: 31_337, usdc: USDC } })
      const ask = async (target: string) => {
        const headers = await signedHeaders({ target, publicUrl: away.url, created: seconds() })
        const response = await away.fetch(target, { headers })
        return { status: response.status, error: ((await response.json()) as { error?: string }).error }
      }
      expect(await ask('/api/files')).toEqual({ status: 200, error: undefined })
      expect(await ask('/api/usage')).toEqual({ status: 503, error: 'chain_offline' })
      expect((await away.upload(newBody())).status).toBe(200)
      expect(away.logLines.join('\n')).not.toContain('9/secret')
    } finally {
      await away.remove()
    }
  })

  it('error: does not start when nothing says which chain it is', async () => {
    await expect(runService({ env: ENV })).rejects.toMatchObject({ code: 'chain_offline' })
  })
})

describe('a service without a chain', () => {
  let plain: RunningService
  beforeAll(async () => {
    plain = await runService()
  })
  afterAll(() => plain.remove())

  it('has no sign-in, says so in /api/info, and offers no signature', async () => {
    for (const step of ['nonce', 'verify']) {
      expect((await plain.fetch(`/api/auth/wallet/${step}`, { method: 'POST' })).status).toBe(404)
    }
    expect(await (await plain.fetch('/api/info')).json()).toMatchObject({ wallets: null })
    const response = await plain.fetch('/api/files')
    expect(response.status).toBe(401)
    expect(response.headers.has('accept-signature')).toBe(false)
  })

  it('refuses a wallet by a sentence, and does not take it for an anonymous caller', async () => {
    const body = newBody()
    const target = `/api/upload?cid=${sha256Hex(body)}`
    const options = { method: 'POST', target, publicUrl: plain.url, created: seconds(), body }
    const headers = { 'content-type': OCTETS, ...(await signedHeaders(options)) }
    const response = await plain.fetch(target, { method: 'POST', body: Uint8Array.from(body), headers })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({
      error: 'invalid_signature',
      reason: expect.stringMatching(/^Wallets are not enabled on this service/),
    })
  })

  it('refuses a token that a wallet signed in for elsewhere, and so does every other service of the same key', async () => {
    const env = { LADE_TOKEN_KEY: 'ab'.repeat(32) }
    const [home, other, without] = await Promise.all([
      runService({ env: { ...ENV, ...env }, substitutes: { chain } }),
      runService({ env: { ...ENV, ...env }, substitutes: { chain } }),
      runService({ env }),
    ])
    try {
      const nonceAnswer = await home.fetch('/api/auth/wallet/nonce', { method: 'POST' })
      const { nonce } = (await nonceAnswer.json()) as { nonce: string }
      const place = { domain: new URL(home.url).host, uri: home.url, chainId: 31_337, version: '1' } as const
      const message = createSiweMessage({ ...place, address: ALICE.address, nonce })
      const signature = await ALICE.signMessage({ message })
      const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ message, signature }) }
      const { token } = (await (await home.fetch('/api/auth/wallet/verify', init)).json()) as { token: string }
      const statusAt = async (at: RunningService) => (await at.fetch('/api/files', { headers: bearer(token) })).status
      expect([await statusAt(home), await statusAt(other), await statusAt(without)]).toEqual([200, 401, 401])
    } finally {
      await Promise.all([home.remove(), other.remove(), without.remove()])
    }
  })
})

describe('fake signatures without end', () => {
  it('are over_budget for the address that they come from, and for nobody else', async () => {
    const own = await runService({ env: { ...ENV, LADE_TRUSTED_PROXIES: '127.0.0.1' }, substitutes: { chain } })
    try {
      const askFrom = async (sender: string, signature?: string) => {
        const target = '/api/files'
        const headers = await signedHeaders({ method: 'GET', target, publicUrl: own.url, created: seconds() })
        const forged = signature === undefined ? {} : { signature }
        return own.fetch(target, { headers: { ...headers, ...forged, 'x-forwarded-for': sender } })
      }
      const fake = `eth=:${Buffer.alloc(65, 27).toString('base64')}:`
      const answers = await Promise.all(Array.from({ length: 200 }, () => askFrom('198.51.100.7', fake)))
      const refusals = answers.filter(({ status }) => status === 429)
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]))
      expect(refusals.length).toBeGreaterThan(50)
      expect(refusals[0]?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
      expect(await refusals[0]?.json()).toMatchObject({ error: 'over_budget', work: 'chain' })
      for (let times = 0; times < 5; times += 1) expect((await askFrom('192.0.2.7')).status).toBe(200)
    } finally {
      await own.remove()
    }
  })
})

describe('what the log keeps', () => {
  it('is neither a signature nor the address of the chain', async () => {
    const nonce = 'a-nonce-to-look-for'
    await send('GET', '/api/files', { nonce })
    await send('GET', '/api/files', { nonce })
    expect(parametersOf({ target: '', publicUrl: '', created: 0, nonce })).toContain(nonce)
    const log = service.logLines.join('\n')
    expect(log).not.toContain(nonce)
    expect(log).not.toContain('127.0.0.1:9/secret')
  })
})

describe('wallets that share a client address', () => {
  it('have together what the address has, and each no more than its own', async () => {
    const limited = await runService({
      env: { ...ENV, LADE_WALLET_MB_PER_ADDRESS: '0' },
      substitutes: { chain },
    })
    onTestFinished(() => limited.remove())
    const accounts = [ALICE, BOB]
    for (const { address } of accounts) chain.setBalance(address, 1_000n)
    const upload = async (account: PrivateKeyAccount, sizeBytes: number) => {
      const body = newBody(sizeBytes)
      const target = `/api/upload?cid=${sha256Hex(body)}`
      const options = { account, method: 'POST', target, publicUrl: limited.url, created: seconds(), body }
      const headers = await signedHeaders({ ...options, fields: { 'content-type': OCTETS } })
      return limited.fetch(target, { method: 'POST', headers, body: Uint8Array.from(body) })
    }
    expect((await upload(ALICE, 700)).status).toBe(200)
    const refused = await upload(BOB, 301)
    expect([refused.status, await refused.json()]).toMatchObject([
      429,
      { error: 'quota_exceeded', which: 'address', used: 700, limit: 1_000, remaining: 300 },
    ])
    expect((await upload(BOB, 300)).status).toBe(200)
    expect((await upload(ALICE, 1)).status).toBe(429)
    // A wallet that holds more is not limited by what others have.
    chain.setBalance(BOB.address, 5_000n)
    expect((await upload(BOB, 2_000)).status).toBe(200)
  })
})
