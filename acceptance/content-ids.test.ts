import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  blockCidOf,
  CODEC,
  cidV0Of,
  cidV1,
  HASH,
  hexOf,
  identityCidOf,
  legacyOf,
  multibase,
  multihash,
  rawCidOf,
  sha256,
} from './content-ids.ts'
import { expectProblem } from './problem.ts'
import { sampleBytes, useTarget } from './target.ts'

const target = useTarget()

const mixedCase = (text: string) => [...text].map((char, at) => (at % 2 === 0 ? char.toUpperCase() : char)).join('')

const FORMS: readonly [string, (bytes: Uint8Array) => string][] = [
  ['64 hex digits', hexOf],
  ['64 hex digits in upper case', (bytes) => hexOf(bytes).toUpperCase()],
  ['the legacy id', legacyOf],
  ['the legacy id in upper case', (bytes) => legacyOf(bytes).toUpperCase()],
  ['CIDv1 raw in base32', (bytes) => rawCidOf(bytes).base32],
  ['CIDv1 raw in base32, upper case', (bytes) => rawCidOf(bytes).base32.toUpperCase()],
  ['CIDv1 raw in base32, mixed case', (bytes) => mixedCase(rawCidOf(bytes).base32)],
  ['CIDv1 raw in base36', (bytes) => rawCidOf(bytes).base36],
  ['CIDv1 raw in base36, upper case', (bytes) => rawCidOf(bytes).base36.toUpperCase()],
  ['CIDv1 raw in base16', (bytes) => rawCidOf(bytes).base16],
  ['CIDv1 raw in base16, upper case', (bytes) => rawCidOf(bytes).base16.toUpperCase()],
  ['CIDv1 raw in base58', (bytes) => rawCidOf(bytes).base58],
]

test('the suite computes the published ids of "hello world"', () => {
  const bytes = Buffer.from('hello world')
  expect(legacyOf(bytes)).toBe('bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq')
  expect(rawCidOf(bytes).base32).toBe('bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e')
  expect(cidV0Of(bytes)).toBe('Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD')
})

describe.for(FORMS)('%s', ([, form]) => {
  test('is verified, and every alias of it resolves', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const result = await caller.stage(bytes, { cid: form(bytes) })
    expect(result).toMatchObject({ cid: form(bytes), verified: true, sha256: hexOf(bytes) })
    for (const [name, alias] of FORMS) {
      const answer = await caller.retrieve(alias(bytes))
      expect(answer.status, name).toBe(200)
      expect(answer.body.equals(bytes), name).toBe(true)
    }
  })

  test('refuses bytes of another hash with expected and actual in the same form, keeping and charging nothing', async (context) => {
    const user = await target.freshUser(context)
    const [bytes, others] = [sampleBytes(), sampleBytes()]
    const problem = expectProblem(await user.upload(others, { cid: form(bytes) }), 422, 'cid_mismatch')
    const isBase58 = form(bytes).startsWith('z')
    const fold = (text = '') => (isBase58 ? text : text.toLowerCase())
    expect(fold(problem.expected)).toBe(fold(form(bytes)))
    expect(fold(problem.actual)).toBe(fold(form(others)))
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    expect((await user.retrieve(form(bytes))).status).toBe(404)
    expect((await user.retrieve(form(others))).status).toBe(404)
  })
})

describe('base58 keeps its case', () => {
  test('refuses a lower-cased CIDv0 and says why', async () => {
    const bytes = sampleBytes()
    const cid = cidV0Of(bytes).toLowerCase()
    const problem = expectProblem(await target.anonymous().upload(bytes, { cid }), 400, 'invalid_cid')
    expect(problem.detail).toMatch(/case|base58|CIDv0/i)
  })

  test('refuses to read a lower-cased CIDv0 too', async () => {
    expectProblem(await target.anonymous().retrieve(cidV0Of(sampleBytes()).toLowerCase()), 400, 'invalid_cid')
  })

  test('a base58 CIDv1 in lower case is not an alias', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    const { base58 } = rawCidOf(bytes)
    await caller.stage(bytes, { cid: base58 })
    expect([400, 404]).toContain((await caller.retrieve(base58.toLowerCase())).status)
  })
})

describe('identity', () => {
  test('is verified when the body equals the inline bytes', async () => {
    const bytes = sampleBytes(20)
    const cid = identityCidOf(bytes).base32
    const caller = target.anonymous()
    expect(await caller.stage(bytes, { cid })).toMatchObject({ cid, verified: true, size: 20 })
    expect((await caller.retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test.for([20, 19, 21])('refuses a body of %i bytes that is not the 20 inline bytes', async (size) => {
    const answer = await target.anonymous().upload(sampleBytes(size), { cid: identityCidOf(sampleBytes(20)).base32 })
    expectProblem(answer, 422, 'cid_mismatch')
  })
})

describe('opaque ids', () => {
  const opaque = () => `acceptance${sampleBytes(8).toString('hex')}`

  test('are taken unverified, with the sha2-256 of what was staged', async () => {
    const bytes = sampleBytes()
    const cid = opaque()
    const caller = target.anonymous()
    expect(await caller.stage(bytes, { cid })).toMatchObject({ cid, verified: false, sha256: hexOf(bytes) })
    expect((await caller.retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test('belong to the first bytes staged under them: other bytes conflict, and nothing is charged', async (context) => {
    const cid = opaque()
    const bytes = sampleBytes()
    await target.anonymous().stage(bytes, { cid })
    const user = await target.freshUser(context)
    expectProblem(await user.upload(sampleBytes(), { cid }), 409, 'cid_conflict')
    expect((await user.usage()).today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
    expect((await user.retrieve(cid)).body.equals(bytes)).toBe(true)
  })

  test('take the same bytes from another caller', async (context) => {
    const cid = opaque()
    const bytes = sampleBytes()
    await target.anonymous().stage(bytes, { cid })
    const user = await target.anyUser(context)
    expect(await user.stage(bytes, { cid })).toMatchObject({ cid, verified: false, owner: user.email })
  })

  test('do not make an unverified name an alias of the verified one until its bytes are there', async () => {
    const bytes = sampleBytes()
    const caller = target.anonymous()
    await caller.stage(bytes, { cid: opaque() })
    const answer = await caller.retrieve(hexOf(bytes))
    if (answer.status === 200) expect(answer.body.equals(bytes)).toBe(true)
    else expectProblem(answer, 404, 'not_found')
  })

  test.for([8, 80])('may be %i characters long', async (length) => {
    const cid = `x${sampleBytes(40).toString('hex')}`.slice(0, length)
    expect(cid).toHaveLength(length)
    expect((await target.anonymous().upload(sampleBytes(), { cid })).status).toBe(200)
  })
})

describe('real CIDs that the service does not verify', () => {
  const digest = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest()
  const raw = (code: number, hash: Uint8Array) => multibase(cidV1(CODEC.raw, multihash(code, hash))).base32

  test.for([
    ['sha1', (bytes: Uint8Array) => raw(HASH.sha1, digest('sha1', bytes)), /sha-?1\b|0x11\b/i],
    ['sha3-256', (bytes: Uint8Array) => raw(HASH.sha3_256, digest('sha3-256', bytes)), /sha3-?256|0x16\b/i],
    ['keccak-256', (bytes: Uint8Array) => raw(HASH.keccak256, sha256(bytes)), /keccak-?256|0x1b\b/i],
    ['dbl-sha2-256', (bytes: Uint8Array) => raw(HASH.dblSha256, sha256(sha256(bytes))), /dbl-?sha2-?256|0x56\b/i],
    ['blake2s-256', (bytes: Uint8Array) => raw(HASH.blake2s256, digest('blake2s256', bytes)), /blake2s-?256|0xb260\b/i],
    [
      'a sha2-256 cut to 20 bytes',
      (bytes: Uint8Array) => raw(HASH.sha256, sha256(bytes).subarray(0, 20)),
      /sha2-?256|20|length|0x12\b/i,
    ],
  ] as const)('refuses raw with %s and names the hash', async ([, form, name]) => {
    const bytes = sampleBytes()
    const problem = expectProblem(await target.anonymous().upload(bytes, { cid: form(bytes) }), 400, 'invalid_cid')
    expect(problem.detail).toMatch(name)
  })
})

describe('CIDs of blocks and files, computed here without a library', () => {
  test.for([
    ['CIDv0 of a UnixFS file', cidV0Of],
    ['dag-cbor block', (bytes: Uint8Array) => blockCidOf(CODEC.dagCbor, bytes).base32],
    ['dag-json block', (bytes: Uint8Array) => blockCidOf(CODEC.dagJson, bytes).base32],
    ['dag-pb block', (bytes: Uint8Array) => blockCidOf(CODEC.dagPb, bytes).base32],
  ] as const)('a %s is verified, and refuses other bytes', async ([, form]) => {
    const bytes = sampleBytes()
    const cid = form(bytes)
    const caller = target.anonymous()
    expectProblem(await caller.upload(sampleBytes(), { cid }), 422, 'cid_mismatch')
    expect(await caller.stage(bytes, { cid })).toMatchObject({ cid, verified: true, sha256: hexOf(bytes) })
    expect((await caller.retrieve(cid)).body.equals(bytes)).toBe(true)
  })
})
