import { describe, expect, it } from 'vitest'
import { readTarget } from './gateway-target.ts'

const RAW = 'bafkreihhpc5y2pqvl5rbe5uuyhqjouybfs3rvlmisccgzue2kkt5zq6upq'
const V0 = 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD'

describe('readTarget', () => {
  it.each([
    [`/ipfs/${RAW}`, []],
    [`/ipfs/${RAW}/`, []],
    [`/ipfs/${RAW}/a/b`, ['a', 'b']],
    [`/ipfs/${RAW}//a//b/`, ['a', 'b']],
    [`/ipfs/${RAW}/a%20b/%E6%97%A5`, ['a b', '日']],
    [`/ipfs/${RAW}/a%2Fb`, ['a/b']],
    [`/ipfs/${RAW}/a/../b/./c/%2e%2E/d`, ['b', 'd']],
    [`/ipfs/${RAW}/a%00b`, ['a\0b']],
    [`/ipfs/${RAW}/Portugal%252C+Espa%C3%B1a`, ['Portugal%2C+España']],
  ])('reads %s', (path, segments) => {
    expect(readTarget(path)).toMatchObject({ segments, id: { text: RAW } })
  })

  it.each([RAW, V0, RAW.toUpperCase(), 'bafyreih7dg6sh7njtqbjbqftslpcnzmzpkglwwv5bsjxnczlz3gzyx3p3q', 'bafkqaaa'])(
    'reads %s as the block that it names',
    (text) => {
      const { cid, path } = readTarget(`/ipfs/${text}`)
      expect(cid.toString().toLowerCase()).toBe(text.toLowerCase())
      expect(path).toBe(`/ipfs/${text}`)
    },
  )

  it('writes the path with every name encoded, fit for a header', () => {
    expect(readTarget(`/ipfs/${RAW}/日%0D%0Ax/`).path).toBe(`/ipfs/${RAW}/%E6%97%A5%0D%0Ax`)
  })

  it.each([
    ['', false],
    ['/', true],
    ['/a', false],
    ['/a/', true],
    ['/a//', true],
    ['/a/.', true],
    ['/a/b/..', true],
  ])('behind the CID, %j says whether a folder is meant', (rest, hasSlash) => {
    expect(readTarget(`/ipfs/${RAW}${rest}`)).toMatchObject({ hasSlash })
  })

  it('never leads above the root', () => {
    for (const rest of ['/..', '/../x', '/a/../..', '/%2e%2e/x', '/a/%2E./../b']) {
      expect(() => readTarget(`/ipfs/${RAW}${rest}`), rest).toThrow(expect.objectContaining({ code: 'bad_request' }))
    }
  })

  it.each([
    ['an opaque id', 'myfile01'],
    ['a digest', 'ab'.repeat(32)],
    ['a legacy id', 'bafyxfgspomtju7arjjokll5u7nl7lcij37dpjjyb3uqrd32zyxpzxuq'],
    ['nothing', ''],
    ['a damaged CID', RAW.slice(0, -1)],
    ['a CID of a hash that is not checked', 'bafkrgihhxnlj6qgijypf4zolvczjcuhsvwgo2ydtfl2gzpjicnrufoxv2q'],
  ])('error: %s is invalid_cid', (_title, text) => {
    expect(() => readTarget(`/ipfs/${text}`)).toThrow(expect.objectContaining({ code: 'invalid_cid' }))
  })

  it.each([
    'baga6ea4seaqo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
    'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq',
  ])('error: the piece CID %s is not_acceptable, and says where it is', (text) => {
    const refusal = { code: 'not_acceptable', message: expect.stringContaining(`/piece/${text}`) }
    expect(() => readTarget(`/ipfs/${text}`)).toThrow(expect.objectContaining(refusal))
  })

  it.each(['%', '%zz', '%c3', 'a%'])('error: the name %s is bad_request', (name) => {
    expect(() => readTarget(`/ipfs/${RAW}/${name}`)).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})
