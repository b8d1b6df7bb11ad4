import { createHash } from 'node:crypto'
import { verifyRequest } from '@slicekit/erc8128'
import fc from 'fast-check'
import { hashMessage, verifyMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import type { Attempt } from '../http/credentials.ts'
import { sha256 } from '../platform/node/sha256.ts'
import { ANVIL_KEY } from '../testing/wallets.ts'
import { signRequest } from './sign-request.ts'
import { signatureBase } from './signature-base.ts'

const account = privateKeyToAccount(ANVIL_KEY)
const hex = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** The published example of an upload: the first account of Anvil, 127 bytes of 0xCC. */
const BODY = new Uint8Array(127).fill(0xcc)
const QUERY = '?cid=bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'
const PARAMS =
  '("@method" "@authority" "@path" "@query" "content-digest" "content-length" "content-type");created=1790000000;expires=1790000060;nonce="3q2-7wAAAAAAAAAAAAAAAQ";keyid="erc8128:8453:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"'
const BASE = `"@method": POST
"@authority": stage.example
"@path": /api/upload
"@query": ${QUERY}
"content-digest": sha-256=:IFDqQLQt5PGO7237a4PhakjqOxaPCoL44PDPCFecJdE=:
"content-length": 127
"content-type": application/octet-stream
"@signature-params": ${PARAMS}`

describe('signRequest', () => {
  it('makes the published example, byte for byte', async () => {
    const attempt: Attempt = {
      method: 'POST',
      url: `https://stage.example/api/upload${QUERY}`,
      headers: { 'content-type': 'application/octet-stream', accept: 'application/json' },
      body: { sizeBytes: BODY.length, sha256: hex(BODY) },
      signal: undefined,
    }
    const signed: string[] = []
    const noting = {
      address: account.address,
      signMessage({ message }: { message: string }) {
        signed.push(message)
        return account.signMessage({ message })
      },
    }
    const options = { chainId: 8453, created: 1_790_000_000, nonce: '3q2-7wAAAAAAAAAAAAAAAQ', sha256 }
    expect(await signRequest(attempt, { ...options, account: noting })).toEqual({
      'content-digest': 'sha-256=:IFDqQLQt5PGO7237a4PhakjqOxaPCoL44PDPCFecJdE=:',
      'signature-input': `eth=${PARAMS}`,
      signature: 'eth=:70Izi4sjWdbupvjR32VQmxHlorOegS0FTC+HfVxLQwkDTcByd59Bvcb6tUSeFEL+DfQiS0fQ6l14mhLdWSshkBs=:',
    })
    expect(signed).toEqual([BASE])
    expect(hashMessage(BASE)).toBe('0x7c5fcc79c64435d8b8980ccd20bd4e8c3a23a01354ee1a99402b0ea3af82e03f')
  })

  it('signs whatever is asked so that another implementation takes it, once, and takes it for nothing else', async () => {
    const created = 1_790_000_000
    const path = fc.array(fc.stringMatching(/^[a-zA-Z0-9._~-]{1,9}$/), { maxLength: 4 }).map((parts) => parts.join('/'))
    const query = fc.option(fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.string(), { minKeys: 1, maxKeys: 3 }))
    const body = fc.option(fc.oneof(fc.string(), fc.uint8Array()))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'DELETE'),
        path,
        query,
        body,
        async (verb, place, asked, sent) => {
          const method = sent === null ? verb : 'POST'
          const search = asked === null ? '' : `?${new URLSearchParams(asked)}`
          const url = `https://lade.example:8443/${place}${search}`
          const headers: Record<string, string> = sent === null ? {} : { 'content-type': 'application/json' }
          const bytes = typeof sent === 'string' ? new TextEncoder().encode(sent) : new Uint8Array(sent ?? [])
          const digested =
            sent instanceof Uint8Array ? { sizeBytes: bytes.length, sha256: hex(bytes) } : (sent ?? undefined)
          const attempt: Attempt = { method, url, headers, body: digested, signal: undefined }
          const signed = await signRequest(attempt, {
            account,
            chainId: 1,
            created,
            nonce: crypto.randomUUID(),
            sha256,
          })
          const length: Record<string, string> = sent === null ? {} : { 'content-length': String(bytes.length) }
          const all = { ...headers, ...length, ...signed }
          const requestTo = (target: string) =>
            new Request(target, { method, headers: all, ...(sent === null ? {} : { body: bytes }) })
          const nonces = new Set<string>()
          const verify = (request: Request) =>
            verifyRequest({
              request,
              verifyMessage: ({ address, message, signature }) => verifyMessage({ address, message, signature }),
              nonceStore: { consume: async (key) => !nonces.has(key) && Boolean(nonces.add(key)) },
              policy: { now: () => created + 1 },
            })
          expect(await verify(requestTo(`${url}${search === '' ? '?' : '&'}a=1`))).toMatchObject({ ok: false })
          expect(await verify(requestTo(url))).toMatchObject({ ok: true, binding: 'request-bound', replayable: false })
          expect(await verify(requestTo(url))).toMatchObject({ ok: false, reason: 'replay' })
        },
      ),
      { numRuns: 40 },
    )
  })

  it('needs the digest of a body, and a signature in hex', async () => {
    const attempt = {
      method: 'POST',
      url: 'http://a/',
      headers: {},
      body: { sizeBytes: 1, sha256: undefined },
      signal: undefined,
    }
    const options = { account, chainId: 1, created: 1, nonce: 'abcdefgh', sha256 }
    await expect(signRequest(attempt, options)).rejects.toThrow(TypeError)
    const silent = { address: account.address, signMessage: async () => 'no' }
    await expect(signRequest({ ...attempt, body: '{}' }, { ...options, account: silent })).rejects.toThrow(TypeError)
  })
})

describe('signatureBase', () => {
  it('has the authority in lower case and without the default port, and no query where there is none', () => {
    const params = { created: 1, expires: 61, nonce: 'n', keyId: 'k' }
    const url = new URL('HTTPS://Lade.Example:443/api/files')
    expect(signatureBase({ method: 'GET', url, content: undefined }, params).text.split('\n')).toEqual([
      '"@method": GET',
      '"@authority": lade.example',
      '"@path": /api/files',
      '"@signature-params": ("@method" "@authority" "@path");created=1;expires=61;nonce="n";keyid="k"',
    ])
  })
})
