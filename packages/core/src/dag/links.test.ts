import * as dagJson from '@ipld/dag-json'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { describe, expect, test } from 'vitest'
import { cborBlock, fromUtf8, hex, inlineCid, jsonBlock, pbBlock, rawBlock, utf8 } from './car/testing-cars.ts'
import { asLink, decodeData, inlineBytes, type Links, linksOf } from './links.ts'

const a = rawBlock(utf8('a')).cid
const b = cborBlock({ b: true }).cid
const texts = (read: Links) => ('links' in read ? read.links.map(String) : read.fault)

describe('linksOf', () => {
  test('finds none in raw, cbor and json blocks, whatever their bytes', () => {
    for (const codec of [0x55, 0x51, 0x0200]) expect(linksOf(codec, utf8('{"/":"x"}'))).toEqual({ links: [] })
  })

  test('lists the links of a dag-pb block in order, each time they occur', () => {
    const { bytes } = pbBlock({ Links: [a, b, a].map((Hash) => ({ Hash, Name: '' })) })
    expect(texts(linksOf(0x70, bytes))).toEqual([a, b, a].map(String))
  })

  test('lists the links of a dag-cbor block depth first, in the order of its maps and lists', () => {
    const inline = inlineCid(0x55, utf8('inline'))
    const { bytes } = cborBlock({ a: [a, { x: b, y: [[inline]] }], z: a, n: null, t: 'text', d: utf8('data') })
    expect(texts(linksOf(0x71, bytes))).toEqual([a, b, inline, a].map(String))
    expect(texts(linksOf(0x71, cborBlock(a).bytes))).toEqual([a.toString()])
  })

  test('lists the links of a dag-json block, of both versions', () => {
    const v0 = pbBlock({ Links: [] }, { version: 0 }).cid
    const { bytes } = jsonBlock({ list: [v0, { '/x': b }], bytes: utf8('data') })
    expect(texts(linksOf(0x0129, bytes))).toEqual([v0, b].map(String))
  })

  test('keeps the order of links in the block, also under keys that look like numbers', () => {
    const link = fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => rawBlock(bytes).cid)
    const key = fc.oneof(fc.nat({ max: 120 }).map(String), fc.string({ maxLength: 4 }))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        link,
        fc.oneof(
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.string(),
          fc.uint8Array(),
          fc.boolean(),
        ),
        fc.array(tie('tree')),
        fc.dictionary(
          key.filter((name) => name !== '/'),
          tie('tree'),
          { noNullPrototype: true },
        ),
      ),
    }))
    fc.assert(
      fc.property(tree, (value) => {
        for (const { cid, bytes } of [cborBlock(value), jsonBlock(value)]) {
          const read = linksOf(cid.code, bytes)
          const links = 'links' in read ? read.links : expect.fail(read.fault)
          const places = links.map((each) =>
            cid.code === 0x71 ? hex(bytes).indexOf(hex(each.bytes)) : fromUtf8(bytes).indexOf(`"${each}"`),
          )
          expect(places).toEqual([...places].sort((x, y) => x - y))
          expect(texts(read)).toHaveLength(linksIn(value).length)
        }
      }),
    )
    expect(texts(linksOf(0x71, cborBlock({ 10: a, z: b }).bytes))).toEqual([b, a].map(String))
    expect(texts(linksOf(0x0129, jsonBlock({ 10: a, 9: b }).bytes))).toEqual([a, b].map(String))
  })

  test('reads links of dag-json with any white space and escapes that JSON allows', () => {
    const raw = String.raw
    const escaped = a.toString().replace('b', raw`\u0062`)
    for (const spelling of [raw`{"/":"${a}"}`, raw`[{ "\/"${'\n'}:${'\t'}"${a}" }]`, raw`{"\u002F":"${escaped}"}`]) {
      expect(texts(linksOf(0x0129, utf8(spelling)))).toEqual([a.toString()])
    }
    for (const spelling of [raw`{"/":"${a}\""}`, raw`{"/":"${a}","x":1}`, raw`{"/":"no cid"}`]) {
      expect(linksOf(0x0129, utf8(spelling))).toEqual({ fault: 'undecodable' })
    }
    for (const spelling of [raw`{"x":"{\"/\":\"${a}\"}"}`, raw`["{","/","${a}"]`, raw`{"x{":"/"}`]) {
      expect(linksOf(0x0129, utf8(spelling))).toEqual({ links: [] })
    }
  })

  test('finds just the links that the block decodes to, whatever has become of its bytes', () => {
    const value = { 10: a, list: [a, [b, { 1: a }]], '/x': 'text', data: utf8('{"/":"'), n: -1.5 }
    const blocks = [cborBlock(value), jsonBlock(value)]
    const change = fc.tuple(fc.nat(), fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(...utf8('{}[]",:/\\ '))))
    fc.assert(
      fc.property(fc.constantFrom(...blocks), fc.array(change, { maxLength: 3 }), ({ cid, bytes }, changes) => {
        const changed = new Uint8Array(bytes)
        for (const [place, byte] of changes) changed[place % bytes.length] = byte
        const read = texts(linksOf(cid.code, changed))
        const tree = decodeData(cid.code, changed)
        expect(typeof read === 'string' ? read : [...read].sort()).toEqual(
          tree === undefined ? 'undecodable' : linksIn(tree.value).sort(),
        )
      }),
      { numRuns: 3000 },
    )
  })

  test('finds links under every key, also under __proto__', () => {
    const bytes = utf8(`{"__proto__":{"constructor":{"/":"${a}"}}}`)
    expect(texts(linksOf(0x0129, bytes))).toEqual([a.toString()])
    expect(texts(linksOf(0x71, cborBlock(dagJson.decode(bytes)).bytes))).toEqual([a.toString()])
  })

  test('does not take a map with the keys of a CID for one', () => {
    const bytes = Uint8Array.from([0xa2, 0x61, 0x2f, 0x41, 1, 0x65, ...utf8('bytes'), 0x41, 1])
    expect(linksOf(0x71, bytes)).toEqual({ links: [] })
    const ofText = Uint8Array.from([0xa2, 0x61, 0x2f, 0x61, 0x78, 0x65, ...utf8('bytes'), 0x61, 0x78])
    expect(linksOf(0x71, ofText)).toEqual({ links: [] })
  })

  test('says that a codec is not read here', () => {
    for (const codec of [0x85, 0x78, 0x72, 0x0201, 2 ** 60]) {
      expect(linksOf(codec, new Uint8Array())).toEqual({ fault: 'unsupported' })
    }
  })

  test('says that bytes are not of their codec, for any bytes', () => {
    for (const codec of [0x70, 0x71, 0x0129]) {
      expect(linksOf(codec, utf8('\u{fffd} not a block'))).toEqual({ fault: 'undecodable' })
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
          const read = linksOf(codec, bytes)
          expect('links' in read || read.fault === 'undecodable').toBe(true)
        }),
      )
    }
  })

  test('gives up on nesting that is too deep to decode', () => {
    expect(linksOf(0x71, new Uint8Array(2 ** 20).fill(0x81))).toEqual({ fault: 'undecodable' })
    expect(linksOf(0x0129, new Uint8Array(2 ** 20).fill(0x5b))).toEqual({ fault: 'undecodable' })
  })

  test('refuses a link of a megabyte in dag-json without decoding its base58, however it is spelled', () => {
    const digits = 'a'.repeat(2 ** 20)
    for (const key of ['"/"', '"\\/"', '"\\u002f"', '"/" ']) {
      const startedAt = performance.now()
      expect(linksOf(0x0129, utf8(`{"a":{${key}:"Qm${digits}"}}`))).toEqual({ fault: 'undecodable' })
      expect(performance.now() - startedAt).toBeLessThan(5000)
    }
    // Long text is no link unless it stands where one does.
    for (const text of [`{"x":"${digits}"}`, `["/","${digits}"]`, `{"\\"/":"${digits}"}`]) {
      expect(linksOf(0x0129, utf8(text))).toEqual({ links: [] })
    }
  })

  test('reads blocks in memory that is shared between threads', () => {
    for (const { cid, bytes } of [pbBlock({ Links: [{ Hash: a, Name: 'n' }] }), cborBlock([a]), jsonBlock([a])]) {
      const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
      shared.set(bytes)
      expect(texts(linksOf(cid.code, shared))).toEqual([a.toString()])
    }
  })
})

describe('inlineBytes', () => {
  test('gives the block of an identity CID and of no other', () => {
    expect(inlineBytes(CID.parse('bafkqaaa'))).toEqual(new Uint8Array())
    expect(inlineBytes(inlineCid(0x55, utf8('inline')))).toEqual(utf8('inline'))
    expect(inlineBytes(a)).toBeUndefined()
  })
})

/** The links of a decoded value, in no order that matters. */
function linksIn(value: unknown): string[] {
  const link = asLink(value)
  // Its own text, whichever way the block spells it.
  if (link !== undefined) return [CID.decode(link.bytes).toString()]
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.values(value).flatMap(linksIn)
}
