import { LadeError } from '@lade/core/errors'
import { beforeEach, describe, expect, it } from 'vitest'
import { type FakeChain, openFakeChain } from '../chain/fake-chain.ts'
import { readWalletSignature } from './signature-input.ts'
import {
  ALICE,
  BOB,
  baseText,
  componentsOf,
  contentDigest,
  openTestNonces,
  parametersOf,
  rawHeadersOf,
  type SigningOptions,
  signedHeaders,
} from './testing-wallets.ts'
import { verifyRequest } from './verify-request.ts'

const CREATED = 1_790_000_000
const PUBLIC_URL = 'https://stage.example'
const TARGET = '/api/upload?cid=bafkzcibcaabmfldjtozgne6adk7eve2vdxte7vzlivae7nzsbrawobo546zkijq'
const BODY = Buffer.alloc(127, 0xcc)

/** The example that protocol and program were checked against, of the first account of anvil on chain 8453. */
const EXAMPLE: Record<string, string> = {
  Host: 'stage.example',
  'Content-Type': 'application/octet-stream',
  'Content-Length': '127',
  'Content-Digest': 'sha-256=:IFDqQLQt5PGO7237a4PhakjqOxaPCoL44PDPCFecJdE=:',
  'Signature-Input':
    'eth=("@method" "@authority" "@path" "@query" "content-digest" "content-length" "content-type");created=1790000000;expires=1790000060;nonce="3q2-7wAAAAAAAAAAAAAAAQ";keyid="erc8128:8453:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"',
  Signature: 'eth=:70Izi4sjWdbupvjR32VQmxHlorOegS0FTC+HfVxLQwkDTcByd59Bvcb6tUSeFEL+DfQiS0fQ6l14mhLdWSshkBs=:',
}

interface Asked {
  readonly method?: string
  readonly target?: string
  readonly publicUrl?: string
  readonly headers?: Record<string, string>
  readonly hasBody?: boolean
  /** Epoch seconds. */
  readonly at?: number
}

let chain: FakeChain
let nonces = openTestNonces()
beforeEach(() => {
  chain = openFakeChain({ chainId: 8453 })
  nonces = openTestNonces()
})

async function verify(asked: Asked = {}): Promise<string> {
  const { method = 'POST', target = TARGET, publicUrl = PUBLIC_URL, headers = EXAMPLE, at = CREATED } = asked
  const find = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const signed = readWalletSignature({ signatureInput: find('signature-input'), signature: find('signature') })
  if (signed === undefined) throw new Error('no signature of a wallet was found')
  const wallet = await verifyRequest({ chain, nonces, now: () => at * 1000 }, signed, {
    method,
    target,
    publicUrl,
    rawHeaders: rawHeadersOf(headers),
    hasBody: asked.hasBody ?? true,
    hasSha256: find('content-digest')?.includes('sha-256=') ?? false,
  })
  return wallet.address
}

/** The reason of the refusal, of which nothing is left. */
async function refusal(asked: Asked): Promise<string> {
  const error: unknown = await verify(asked).catch((reason: unknown) => reason)
  if (!LadeError.has(error, 'invalid_signature')) throw error
  expect(nonces.used.size).toBe(0)
  return error.evidence.reason
}

const changed = (changes: Record<string, string | undefined>) =>
  Object.fromEntries(
    Object.entries({ ...EXAMPLE, ...changes }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
const inInput = (from: string | RegExp, to: string) =>
  changed({ 'Signature-Input': EXAMPLE['Signature-Input']?.replace(from, to) ?? '' })

const OPTIONS: SigningOptions = {
  chainId: 8453,
  method: 'POST',
  target: TARGET,
  publicUrl: PUBLIC_URL,
  body: BODY,
  created: CREATED,
}
const sign = (changes: Partial<SigningOptions> = {}) => signedHeaders({ ...OPTIONS, ...changes })
const withParameters = (change: (parameters: string) => string) => sign({ parameters: change(parametersOf(OPTIONS)) })

describe('the example', () => {
  it('verifies, once', async () => {
    expect(await verify()).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    await expect(verify()).rejects.toMatchObject({ code: 'replayed_signature' })
  })

  it('is what an independent signer makes of the same request', async () => {
    const fields = { 'content-length': '127', 'content-type': 'application/octet-stream' }
    const headers = await sign({ fields, nonce: '3q2-7wAAAAAAAAAAAAAAAQ' })
    expect(contentDigest(BODY)).toBe(EXAMPLE['Content-Digest'])
    expect(headers['signature-input']).toBe(EXAMPLE['Signature-Input'])
    expect(headers.signature).toBe(EXAMPLE.Signature)
  })

  it('lets one of 100 uses at once through', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => verify()))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'replayed_signature' })
    }
  })

  it.each<[string, Asked]>([
    ['method', { method: 'PUT' }],
    ['path', { target: TARGET.replace('/api/upload', '/api/compose') }],
    ['a path in another spelling', { target: TARGET.replace('/api', '/%61pi') }],
    ['query', { target: `${TARGET}&x=1` }],
    ['a query without its value', { target: '/api/upload?' }],
    ['authority', { publicUrl: 'https://other.example' }],
    ['port', { publicUrl: 'https://stage.example:8443' }],
    ['path of the public address', { publicUrl: 'https://stage.example/a' }],
    ['digest', { headers: changed({ 'Content-Digest': contentDigest(Buffer.from('other')) }) }],
    ['length', { headers: changed({ 'Content-Length': '128' }) }],
    ['type', { headers: changed({ 'Content-Type': 'text/html' }) }],
    ['expiry', { headers: inInput('expires=1790000060', 'expires=1790000061') }],
    ['creation', { headers: inInput('created=1790000000', 'created=1790000001') }],
    ['nonce', { headers: inInput('AAAQ', 'AAAR') }],
    ['order of what is covered', { headers: inInput('"@method" "@authority"', '"@authority" "@method"') }],
    ['account', { headers: inInput(ALICE.address.toLowerCase(), BOB.address.toLowerCase()) }],
    ['a tag that came on top', { headers: inInput(/$/, ';tag="x"') }],
    ['a field that came on top', { headers: inInput('"content-type")', '"content-type" "host")') }],
  ])('does not hold for another %s', async (_, asked) => {
    expect(await refusal(asked)).toMatch(/^This is not a signature of this request to \S+ by 0x[0-9a-fA-F]{40}\.$/)
  })

  it('holds whatever is not covered', async () => {
    expect(await verify({ headers: changed({ Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' }) })).toBe(
      ALICE.address,
    )
  })

  it('holds at the default port, in any case of the configured host', async () => {
    expect(await verify({ publicUrl: 'https://STAGE.example:443' })).toBe(ALICE.address)
  })
})

describe('what every signature needs', () => {
  const without = (name: string) => sign({ components: componentsOf(OPTIONS).filter((each) => each !== name) })

  it.each(['@method', '@authority', '@path', '@query', 'content-digest'])(
    'refuses one that does not cover %s',
    async (name) => {
      expect(await refusal({ headers: await without(name) })).toBe(`The signature does not cover ${name}.`)
    },
  )

  it('names all that is not covered', async () => {
    expect(await refusal({ headers: await sign({ components: ['@authority'] }) })).toBe(
      'The signature does not cover @method, @path, @query, content-digest.',
    )
  })

  it('does not take @target-uri for its parts', async () => {
    expect(
      await refusal({ headers: await sign({ components: ['@method', '@target-uri', 'content-digest'] }) }),
    ).toMatch(/^The signature does not cover @authority, @path, @query\./)
  })

  it('takes @target-uri on top', async () => {
    const components = [...componentsOf(OPTIONS), '@target-uri']
    expect(await verify({ headers: await sign({ components }) })).toBe(ALICE.address)
  })

  it('takes a request without query and body that covers neither, and one that covers an absent query as "?"', async () => {
    const plain = { target: '/api/files', method: 'GET' }
    const bare = { ...OPTIONS, ...plain }
    const { body: _, ...bodiless } = bare
    expect(await verify({ ...plain, hasBody: false, headers: await signedHeaders(bodiless) })).toBe(ALICE.address)
    const components = ['@method', '@authority', '@path', '@query']
    expect(await verify({ ...plain, hasBody: false, headers: await signedHeaders({ ...bodiless, components }) })).toBe(
      ALICE.address,
    )
  })

  it('covers the path that callers see where a proxy takes a part of it away', async () => {
    const headers = await sign({ publicUrl: 'https://stage.example/lade' })
    expect(await verify({ headers, publicUrl: 'https://stage.example/lade' })).toBe(ALICE.address)
  })

  it('refuses a digest that is not sha-256', async () => {
    const headers = { ...(await sign()), 'content-digest': 'sha-512=:AA==:' }
    expect(await refusal({ headers })).toMatch(/^Content-Digest has no sha-256/)
  })

  it('refuses a field that is covered and not there', async () => {
    const { 'content-type': _, ...headers } = await sign({ fields: { 'content-type': 'text/plain' } })
    expect(await refusal({ headers })).toBe(
      'The signature covers the header content-type, but the request does not have it.',
    )
  })

  it.each(['@status', '@query-param', '@request-target', '@scheme', '@', 'Content-Type', 'x y', ''])(
    'refuses the component %j',
    async (name) => {
      const headers = await sign({ components: [...componentsOf(OPTIONS), name], fields: {} })
      expect(await refusal({ headers })).toMatch(/^(The component|A component)/)
    },
  )

  it('refuses a field whose value is not printable ASCII', async () => {
    const headers = await sign({ fields: { 'x-filename': 'naïve' } })
    expect(await refusal({ headers })).toMatch(/^The value of x-filename is not printable ASCII/)
  })

  it('refuses another chain', async () => {
    expect(await refusal({ headers: await sign({ chainId: 1 }) })).toBe('keyid names another chain; expected 8453.')
  })
})

describe('time', () => {
  const at = (seconds: number) => refusal({ at: CREATED + seconds })

  it('is good from a minute before it was created to a minute after it expires', async () => {
    expect(await verify({ at: CREATED - 60 })).toBe(ALICE.address)
    nonces = openTestNonces()
    expect(await verify({ at: CREATED + 119.999 })).toBe(ALICE.address)
  })

  it('is refused beyond that', async () => {
    expect(await at(-60.001)).toBe('The signature was created in the future. Check your clock.')
    expect(await at(120)).toBe('The signature has expired. Sign the request again.')
  })

  it('may not be good for more than five minutes, nor for none', async () => {
    expect(await verify({ headers: await sign({ ttlSeconds: 300 }) })).toBe(ALICE.address)
    nonces = openTestNonces()
    expect(await refusal({ headers: await sign({ ttlSeconds: 301 }) })).toBe(
      'The signature is valid for 301 seconds; the maximum is 300.',
    )
    expect(await refusal({ headers: await sign({ ttlSeconds: 0 }) })).toBe(
      'The signature expires before it is created.',
    )
    expect(await refusal({ headers: await sign({ ttlSeconds: -1 }) })).toBe(
      'The signature expires before it is created.',
    )
  })
})

describe('who signed', () => {
  it('is nobody when somebody else did', async () => {
    const theirs = await sign({ account: BOB, nonce: 'n' })
    const ours = await sign({ nonce: 'n' })
    expect(await refusal({ headers: { ...ours, signature: theirs.signature ?? '' } })).toMatch(
      /^This is not a signature of/,
    )
  })

  it('is nobody for the other half of a signature, whose s is high', async () => {
    const order = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n
    const bytes = Buffer.from(EXAMPLE.Signature?.slice('eth=:'.length, -1) ?? '', 'base64')
    const s = BigInt(`0x${bytes.subarray(32, 64).toString('hex')}`)
    const high = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')
    const mirrored = Buffer.concat([bytes.subarray(0, 32), high, Buffer.from([bytes[64] === 27 ? 28 : 27])])
    const headers = changed({ Signature: `eth=:${mirrored.toString('base64')}:` })
    expect(await refusal({ headers })).toMatch(/^This is not a signature of/)
  })

  it('is nobody for every change of a single bit of the signature', async () => {
    const bytes = Buffer.from(EXAMPLE.Signature?.slice('eth=:'.length, -1) ?? '', 'base64')
    for (let index = 0; index < bytes.length * 8; index += 7) {
      const flipped = Buffer.from(bytes)
      flipped[index >> 3] = (flipped[index >> 3] ?? 0) ^ (1 << (index & 7))
      const headers = changed({ Signature: `eth=:${flipped.toString('base64')}:` })
      expect(await refusal({ headers })).toMatch(/^This is not a signature of/)
    }
  })

  it('is a contract where the contract says so', async () => {
    const headers = { ...(await sign()), signature: 'eth=:q80=:' }
    expect(await refusal({ headers })).toMatch(/^This is not a signature of/)
    chain.acceptAsContract(ALICE.address, Buffer.from('abcd', 'hex'))
    expect(await verify({ headers })).toBe(ALICE.address)
    await expect(verify({ headers })).rejects.toMatchObject({ code: 'replayed_signature' })
  })

  it('asks no chain about a nonce that was used before', async () => {
    const headers = { ...(await sign()), signature: 'eth=:q80=:' }
    chain.acceptAsContract(ALICE.address, Buffer.from('abcd', 'hex'))
    expect(await verify({ headers })).toBe(ALICE.address)
    chain.setOnline(false)
    await expect(verify({ headers })).rejects.toMatchObject({ code: 'replayed_signature' })
  })

  it('is not known while the chain does not answer, unless the key itself signed', async () => {
    chain.setOnline(false)
    const headers = { ...(await sign()), signature: 'eth=:q80=:' }
    await expect(verify({ headers })).rejects.toMatchObject({ code: 'chain_offline' })
    expect(nonces.used.size).toBe(0)
    expect(await verify()).toBe(ALICE.address)
  })
})

describe('parameters', () => {
  it('refuses alg, whatever it says, and every parameter that is not known', async () => {
    for (const name of ['alg="ecdsa-p256-sha256"', 'alg="eip191"', 'x=1']) {
      const headers = await withParameters((parameters) => `${parameters};${name}`)
      expect(await refusal({ headers })).toBe(`The parameter ${name.split('=')[0]} is not allowed.`)
    }
  })

  it('takes a tag', async () => {
    expect(await verify({ headers: await withParameters((parameters) => `${parameters};tag="lade"`) })).toBe(
      ALICE.address,
    )
  })

  it('verifies the parameters in whatever order they stand', async () => {
    const keyId = `erc8128:8453:${ALICE.address.toLowerCase()}`
    const parameters = `;keyid="${keyId}";nonce="n";expires=${CREATED + 9};created=${CREATED}`
    expect(await verify({ headers: await sign({ parameters }) })).toBe(ALICE.address)
  })
})

describe('the base that is signed', () => {
  it('has the lines of one field joined, without the white space around each', async () => {
    const fields = { 'x-many': 'a, b  c, d' }
    const { 'x-many': _, ...headers } = await sign({ fields })
    const signed = readWalletSignature({ signatureInput: headers['signature-input'], signature: headers.signature })
    const rawHeaders = [...rawHeadersOf(headers), 'X-Many', ' a\t', 'x-many', 'b  c', 'X-MANY', '  d ']
    if (signed === undefined) throw new Error('no signature of a wallet was found')
    const request = {
      method: 'POST',
      target: TARGET,
      publicUrl: PUBLIC_URL,
      rawHeaders,
      hasBody: true,
      hasSha256: true,
    }
    const deps = { chain, nonces, now: () => CREATED * 1000 }
    expect((await verifyRequest(deps, signed, request)).address).toBe(ALICE.address)
    expect(baseText({ ...OPTIONS, fields }, ['x-many'], ';created=1')).toContain('"x-many": a, b  c, d\n')
  })
})
