import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verifyRequest } from '@slicekit/erc8128'
import { verifyMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLadeClient, walletOf } from '../client.ts'
import { createClient } from '../create-client.ts'
import { LIMITS } from '../limits.ts'
import { fileState } from '../node.ts'
import type { LadeClientOptions } from '../options.ts'
import { type FakeService, refuse, resetAfter, startFakeService } from '../testing/fake-service.ts'
import { noise } from '../testing/noise.ts'
import { ANVIL_KEY, fakeWallet, serveSignIn, USER_SAID_NO } from '../testing/wallets.ts'
import type { Wallet } from './wallet-options.ts'

const MIB = 1_048_576
const SMALL = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }
const account = privateKeyToAccount(ANVIL_KEY)

let service: FakeService
beforeEach(async () => {
  service = await startFakeService()
})
afterEach(async () => {
  vi.useRealTimers()
  await service.close()
})

const clientOf = (options: LadeClientOptions, limits = LIMITS) =>
  createClient({ url: service.url, retry: { baseDelayMs: 1, maxDelayMs: 4 }, ...options }, limits)
const signed = (path: string) =>
  service.seen.filter(({ method, path: seen }) => `${method} ${seen}`.startsWith(path)).map(({ headers }) => headers)
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const nonceIn = (input: unknown) => /;nonce="([\w-]{22})"/.exec(String(input))?.[1]

/** Lets every request be checked by another implementation before it is sent. */
function checkingFetch(): { readonly fetch: typeof fetch; readonly checked: string[] } {
  const nonces = new Set<string>()
  const checked: string[] = []
  return {
    checked,
    async fetch(input, init) {
      const request = new Request(input, init)
      // What the runtime adds to a text on its way.
      if (typeof init?.body === 'string') request.headers.set('content-length', String(Buffer.byteLength(init.body)))
      if (request.headers.has('signature')) {
        const result = await verifyRequest({
          request: request.clone(),
          verifyMessage: ({ address, message, signature }) => verifyMessage({ address, message, signature }),
          nonceStore: { consume: async (key) => !nonces.has(key) && Boolean(nonces.add(key)) },
          policy: {
            maxValiditySec: 60,
            additionalRequestBoundComponents: request.body ? ['content-length', 'content-type'] : [],
          },
        })
        expect(result).toMatchObject({ ok: true, address: account.address.toLowerCase(), chainId: 8453 })
        checked.push(`${request.method} ${new URL(request.url).pathname}`)
      }
      return fetch(request)
    },
  }
}

describe('an account', () => {
  const wallet: Wallet = { account }

  it('signs every request that is about what it owns, by itself and for the chain of the service', async () => {
    const { fetch, checked } = checkingFetch()
    const client = clientOf({ wallet, fetch })
    const { cid } = await client.put(noise(100_000), { filename: 'naïve.txt', contentType: 'text/plain' })
    for await (const file of client.files.list({ q: 'a b&c' })) expect(file.cid).toBe(cid)
    await client.files.remove(cid)
    expect(checked).toEqual([`GET /api/files/${cid}`, 'POST /api/upload', 'GET /api/files', `DELETE /api/files/${cid}`])
    expect(service.count('GET /api/info')).toBe(1)
  })

  it('signs the parts of a file and their composition', async () => {
    const { fetch, checked } = checkingFetch()
    const client = clientOf({ wallet: { account, chainId: 8453 }, fetch }, SMALL)
    for (const source of [noise(5 * MIB), new Blob([noise(5 * MIB + 1)]).stream()])
      await client.put(source, { cid: 'sha256' })
    expect(checked.filter((request) => request === 'POST /api/upload')).toHaveLength(6)
    expect(checked.filter((request) => request === 'POST /api/compose')).toHaveLength(2)
    // For the limits of the tier, once a put; the chain is known.
    expect(service.count('GET /api/info')).toBe(2)
  })

  it('signs a body that Node sends by itself', async () => {
    await clientOf({ wallet }).put(noise(2 * MIB))
    const [upload] = signed('POST /api/upload')
    expect(upload?.['content-digest']).toMatch(/^sha-256=:[A-Za-z0-9+/]{43}=:$/)
    expect(upload?.['signature-input']).toContain('"content-digest" "content-length" "content-type"')
    expect(upload?.authorization).toBeUndefined()
  })

  it('signs over the digests that an earlier attempt kept, without hashing again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lade-client-'))
    try {
      const path = join(folder, 'a.bin')
      const bytes = noise(5 * MIB)
      await writeFile(path, bytes)
      const state = fileState(join(folder, 'state'))
      const refused = refuse(403, 'insufficient_scope', { required: 'put' })
      service.failOnce('POST /api/compose', refused)
      const first = clientOf({ wallet }, SMALL).put(path, { state })
      await expect(first).rejects.toMatchObject({ code: 'insufficient_scope' })
      const kept = JSON.parse((await state.load()) ?? '')
      const parts = [0, 2 * MIB, 4 * MIB].map((at) => bytes.subarray(at, at + 2 * MIB))
      expect(kept.parts.map(({ sha256 }: { sha256: string }) => sha256)).toEqual(parts.map(sha256Of))
      // What is not read again is taken at its word.
      kept.parts[1].sha256 = '0'.repeat(64)
      await state.save(JSON.stringify(kept))
      service.files.clear()
      service.seen.length = 0
      await clientOf({ wallet }, SMALL).put(path, { state, concurrency: 1 })
      const digests = signed('POST /api/upload').map((headers) => headers['content-digest'])
      const zeros = Buffer.alloc(32).toString('base64')
      expect(digests).toHaveLength(3)
      expect(digests).toContain(`sha-256=:${zeros}:`)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('signs every attempt anew', async () => {
    service.failOnce('POST /api/upload', resetAfter(10))
    service.failOnce('POST /api/upload', refuse(503, 'shutting_down', { retryAfterSeconds: 0 }, { 'retry-after': '0' }))
    const { fetch } = checkingFetch()
    await clientOf({ wallet, fetch }).put(noise(1000))
    const nonces = signed('POST /api/upload').map((headers) => nonceIn(headers['signature-input']))
    expect(new Set(nonces)).toHaveLength(3)
    expect(nonces).not.toContain(undefined)
  })

  it('signs once more when the connection had it sent twice, and not again', async () => {
    service.failOnce('DELETE /api/files', refuse(401, 'replayed_signature'))
    service.stage(noise(10), 'bafkreigone', { status: 'removed' })
    // The first time it was done.
    await clientOf({ wallet }).files.remove('bafkreigone')
    expect(service.count('DELETE /api/files')).toBe(2)
    service.failAlways('GET /api/usage', refuse(401, 'replayed_signature'))
    await expect(clientOf({ wallet }).usage()).rejects.toMatchObject({ code: 'replayed_signature' })
    expect(service.count('GET /api/usage')).toBe(2)
  })

  it('signs once more when the request waited until the signature was over, and only then', async () => {
    service.failOnce('GET /api/usage', refuse(401, 'invalid_signature', { reason: 'No.' }))
    await expect(clientOf({ wallet }).usage()).rejects.toMatchObject({ code: 'invalid_signature' })
    vi.useFakeTimers({ toFake: ['Date'] })
    service.failOnce('GET /api/usage', (request, response) => {
      vi.setSystemTime(Date.now() + 61_000)
      refuse(401, 'invalid_signature', { reason: 'It is over.' })(request, response)
    })
    await clientOf({ wallet }).usage()
    expect(service.count('GET /api/usage')).toBe(3)
  })

  it('signs downloads only once the service asks who it is', async () => {
    const client = clientOf({ wallet })
    service.stage(noise(1000), 'myfile01')
    await (await client.get('myfile01')).bytes()
    expect(signed('GET /p/').every((headers) => headers.signature === undefined)).toBe(true)
    // A private file is not there for anybody else.
    service.failOnce('GET /p/', refuse(404, 'not_found'))
    await (await client.get('myfile01')).bytes()
    await (await client.get('myfile01')).bytes()
    expect(signed('GET /p/').map((headers) => headers.signature !== undefined)).toEqual([false, false, true, true])
  })

  it('takes a body that changed on its way for a source that changed', async () => {
    service.failOnce('POST /api/upload', refuse(400, 'digest_mismatch', { expected: 'a', actual: 'b' }))
    await expect(clientOf({ wallet }).put(noise(10))).rejects.toMatchObject({ code: 'source_changed' })
  })

  it('is told who refused it, and whether there is a chain', async () => {
    service.failAlways('GET /api/info', (_, response) => response.end('{"wallets":null}'))
    const failure = clientOf({ wallet }).usage()
    await expect(failure).rejects.toMatchObject({ code: 'invalid_signature' })
    await expect(failure).rejects.toThrow('Wallets are not enabled on this service.')
    const broken = { address: account.address, signMessage: () => Promise.reject(new RangeError('no key')) }
    await expect(clientOf({ wallet: { account: broken, chainId: 1 } }).usage()).rejects.toThrow(RangeError)
    expect(service.count('GET /api/usage')).toBe(0)
  })

  it('owns what it put', async () => {
    service.failAlways('GET /api/usage', (_, response) =>
      response.end(JSON.stringify({ email: null, userId: `eip155:8453:${account.address}` })),
    )
    const bytes = noise(100_000)
    const client = clientOf({ wallet })
    await client.put(bytes)
    expect((await client.put(bytes)).owner).toBe(account.address)
  })
})

describe('a wallet that somebody sits at', () => {
  const clientFor = (wallet: Wallet) => clientOf({ wallet })

  it('signs in for a session, with its own account', async () => {
    const { provider, shown } = fakeWallet()
    serveSignIn(service)
    const signedIn = await createClient({ url: service.url }, SMALL).signIn.sign(walletOf(provider))
    expect(signedIn).toEqual({
      address: account.address.toLowerCase(),
      message: shown[0],
      signature: await account.signMessage({ message: shown[0] ?? '' }),
    })
    expect(service.count('POST /api/auth/wallet/verify')).toBe(0)
  })

  it('is asked once for all requests that wait, and the token goes with each of them', async () => {
    const { provider, shown } = fakeWallet()
    const { tokens } = serveSignIn(service)
    const client = clientFor(walletOf(provider, { statement: 'Hello.' }))
    await Promise.all([client.usage(), client.files.page(), client.put(noise(10))])
    await client.usage()
    expect(shown).toHaveLength(1)
    expect(shown[0]).toMatch(
      new RegExp(
        `^${new URL(service.url).host} wants you to sign in with your Ethereum account:\n${account.address}\n\nHello.\n\nURI: ${service.url}\nVersion: 1\nChain ID: 8453\nNonce: \\w{32}\nIssued At: \\S+Z$`,
      ),
    )
    expect(signed('GET /api/usage').map(({ authorization }) => authorization)).toEqual(
      Array(2).fill(`Bearer ${tokens[0]}`),
    )
    expect(signed('POST /api/upload')[0]).not.toHaveProperty('signature')
  })

  it('is not asked for what everybody may know', async () => {
    const { provider, shown } = fakeWallet()
    const client = clientFor(walletOf(provider))
    service.stage(noise(10), 'myfile01')
    await client.info()
    await (await client.get('myfile01')).bytes()
    expect(shown).toEqual([])
  })

  it('is asked again before the token ends, and when the service does not take it any more', async () => {
    const { provider, shown } = fakeWallet()
    const { tokens } = serveSignIn(service, [59, 61])
    const client = clientFor(walletOf(provider))
    await client.usage()
    await Promise.all([client.usage(), client.usage()])
    await client.usage()
    expect(shown).toHaveLength(2)
    const old = `Bearer ${tokens[1]}`
    service.failAlways('GET /api/files', (request, response) => {
      if (request.headers.authorization === old) refuse(401, 'invalid_token')(request, response)
    })
    await Promise.all([client.files.page(), client.files.page(), client.files.page()])
    expect(shown).toHaveLength(3)
    service.failAlways('GET /api/usage', refuse(401, 'invalid_token'))
    await expect(client.usage()).rejects.toMatchObject({ code: 'invalid_token' })
    expect(shown).toHaveLength(4)
  })

  it("passes on its user's no, and asks again the next time", async () => {
    const { provider, shown, sayNo } = fakeWallet()
    serveSignIn(service)
    const client = clientFor(walletOf(provider))
    sayNo()
    const both = await Promise.allSettled([client.usage(), client.put(noise(10))])
    expect(both.map((result) => result.status === 'rejected' && result.reason)).toEqual([USER_SAID_NO, USER_SAID_NO])
    expect(service.count('POST /api/upload')).toBe(0)
    await client.usage()
    expect(shown).toHaveLength(2)
  })

  it('is waited for only as long as the signal says, and still answers the others', async () => {
    const { provider, shown, hold } = fakeWallet()
    serveSignIn(service)
    const client = clientFor(walletOf(provider))
    const release = hold()
    const controller = new AbortController()
    const given = client.usage({ signal: controller.signal })
    const kept = client.usage()
    await vi.waitFor(() => expect(shown).toHaveLength(1), 10_000)
    const reason = new RangeError('enough')
    controller.abort(reason)
    await expect(given).rejects.toBe(reason)
    release()
    await kept
    expect(shown).toHaveLength(1)
  })

  it('signs in with the account and for the chain that it is told', async () => {
    const { provider, shown } = fakeWallet()
    const client = clientFor(walletOf(provider, { address: account.address, chainId: 10 }))
    service.failAlways('POST /api/auth/wallet/nonce', (_, response) =>
      response.end('{"nonce":"abcdefgh1","expiresIn":1}'),
    )
    service.failAlways('POST /api/auth/wallet/verify', refuse(401, 'invalid_signature', { reason: 'Chain.' }))
    await expect(client.usage()).rejects.toMatchObject({ code: 'invalid_signature' })
    expect(shown[0]).toContain('\nChain ID: 10\nNonce: abcdefgh1\n')
    expect(service.count('GET /api/info')).toBe(0)
  })
})

describe('createLadeClient', () => {
  it('refuses what is no wallet', () => {
    const refused: LadeClientOptions[] = [
      { wallet: { account }, token: 'pk_live_a.b.c' },
      { wallet: { account: { ...account, address: '0x1' } } },
      { wallet: { account: { address: account.address } as never } },
      { wallet: { account, chainId: 0 } },
      { wallet: { account, chainId: 1.5 } },
      { wallet: { provider: {} as never } },
    ]
    for (const options of refused) expect(() => createLadeClient(options), JSON.stringify(options)).toThrow(TypeError)
    const { provider } = fakeWallet()
    expect(() => walletOf(undefined as never)).toThrow('The wallet must be an EIP-1193 provider')
    for (const options of [{ address: 'ada.eth' }, { chainId: -1 }, { statement: 'a\nb' }]) {
      expect(() => walletOf(provider, options)).toThrow(TypeError)
    }
  })

  it('takes the accounts and providers of viem as they are', () => {
    expect(createLadeClient({ wallet: { account: privateKeyToAccount(ANVIL_KEY) } })).toBeDefined()
    const ofViem = fakeWallet().provider as import('viem').EIP1193Provider
    expect(createLadeClient({ wallet: walletOf(ofViem) })).toBeDefined()
  })
})
