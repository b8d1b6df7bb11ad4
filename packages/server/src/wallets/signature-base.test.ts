import { signRequest } from '@slicekit/erc8128'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signatureBase } from './signature-base.ts'
import { readWalletSignature } from './signature-input.ts'
import { ALICE } from './testing-wallets.ts'

const ADDRESS = ALICE.address
const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/).map((name) => `x-${name}`)
/** Printable, without a space at the ends or two in a row, which the other implementation folds. */
const value = fc.stringMatching(/^[\x21-\x7e]([\x21-\x7e ]{0,30}[\x21-\x7e])?$/).map((text) => text.replace(/ +/g, ' '))
const request = fc.record({
  method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE'),
  path: fc.array(fc.stringMatching(/^[a-zA-Z0-9_~.%-]{1,12}$/).map(encodeURIComponent), { maxLength: 4 }),
  query: fc.option(fc.array(fc.tuple(token, fc.string({ maxLength: 12 })), { minLength: 1, maxLength: 4 })),
  fields: fc.uniqueArray(fc.tuple(token, value), { maxLength: 6, selector: ([name]) => name }),
  body: fc.option(fc.uint8Array({ minLength: 1, maxLength: 64 })),
  host: fc.constantFrom(
    'https://lade.example',
    'http://lade.example:8080',
    'https://LADE.example:443',
    'http://[::1]:9',
  ),
})

/** What another implementation of ERC-8128 signs for this request, and the headers that it sends. */
async function signedElsewhere(url: string, init: RequestInit, components: readonly string[]) {
  let base = new Uint8Array()
  const signer = {
    chainId: 8453,
    address: ADDRESS,
    signMessage: async (message: Uint8Array) => {
      base = Uint8Array.from(message)
      return '0x00' as const
    },
  }
  const signed = await signRequest(new Request(url, init), signer, { components: [...components] })
  return { base, signed }
}

describe('signatureBase', () => {
  it('is what another implementation signs, for any request', async () => {
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, query, fields, body, host }) => {
        const search = query === null ? '' : `?${new URLSearchParams(query)}`
        const url = new URL(`${host}/${path.join('/')}${search}`)
        const mayHaveBody = method === 'POST' || method === 'PUT'
        const init = {
          method,
          headers: fields,
          ...(mayHaveBody && body !== null ? { body: Uint8Array.from(body) } : {}),
        }
        const { base, signed } = await signedElsewhere(
          url.href,
          init,
          fields.map(([name]) => name),
        )
        const read = readWalletSignature({
          signatureInput: signed.headers.get('signature-input') ?? undefined,
          signature: signed.headers.get('signature') ?? undefined,
        })
        if (read === undefined) throw new Error('no signature of a wallet was found')
        expect(read.wallet).toEqual({ chainId: 8453, address: ADDRESS })
        const own = signatureBase(
          { method, target: url.pathname + url.search, rawHeaders: [...signed.headers].flat(), publicUrl: host },
          read.components,
          read.signatureParams,
        )
        expect(Buffer.from(own).toString()).toBe(Buffer.from(base).toString())
      }),
      { numRuns: 200 },
    )
  })

  it('has the lines of RFC 9421, section 2.5', () => {
    const base = signatureBase(
      {
        method: 'POST',
        target: '/foo?param=Value&Pet=dog',
        publicUrl: 'https://www.example.com',
        rawHeaders: [
          'Date',
          'Tue, 20 Apr 2021 02:07:55 GMT',
          'Content-Type',
          'application/json',
          'Content-Length',
          '18',
        ],
      },
      ['@method', '@authority', '@path', '@query', '@target-uri', 'content-length', 'content-type'],
      '("@method");created=1618884473;keyid="test"',
    )
    expect(Buffer.from(base).toString().split('\n')).toEqual([
      '"@method": POST',
      '"@authority": www.example.com',
      '"@path": /foo',
      '"@query": ?param=Value&Pet=dog',
      '"@target-uri": https://www.example.com/foo?param=Value&Pet=dog',
      '"content-length": 18',
      '"content-type": application/json',
      '"@signature-params": ("@method");created=1618884473;keyid="test"',
    ])
  })

  it('takes path and query as they were sent', () => {
    const target = '/a/%2e%2E//b;c?x=%20+&&=?'
    const base = signatureBase(
      { method: 'GET', target, publicUrl: 'http://h', rawHeaders: [] },
      ['@path', '@query'],
      '()',
    )
    expect(Buffer.from(base).toString()).toBe('"@path": /a/%2e%2E//b;c\n"@query": ?x=%20+&&=?\n"@signature-params": ()')
  })
})
