import fc from 'fast-check'
import { base36 } from 'multiformats/bases/base36'
import { base58btc } from 'multiformats/bases/base58'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { describe, expect, test } from 'vitest'
import { parseLink } from './parse-link.ts'

const outcomeOf = (parse: (text: string) => CID, text: string): string => {
  try {
    return parse(text).toString()
  } catch {
    return 'refused'
  }
}

describe('parseLink', () => {
  const bytes = fc.uint8Array({ maxLength: 370, size: 'max' })
  const base = fc.constantFrom(base58btc, base36, undefined)

  test('reads every text of a CID as multiformats does', () => {
    fc.assert(
      fc.property(bytes, base, fc.constantFrom(0x55, 0x71, 0x0129), (digest, base, codec) => {
        const cid = CID.createV1(codec, createDigest(0, digest))
        expect(parseLink(cid.toString(base)).equals(cid)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('reads or refuses every other text as multiformats does', () => {
    fc.assert(
      fc.property(bytes, base, fc.nat(), fc.string({ minLength: 1, maxLength: 1 }), (digest, base, at, character) => {
        const cid = CID.createV1(0x55, createDigest(0, digest))
        const text = cid.toString(base)
        const place = at % text.length
        for (const other of [
          text.slice(0, place) + character + text.slice(place + 1),
          text.slice(0, place),
          text.slice(0, place) + text.slice(place + 1),
          (base ?? base58btc).encode(digest),
          (base ?? base58btc).encode(Uint8Array.of(0, ...cid.bytes)),
        ]) {
          expect(outcomeOf(parseLink, other)).toBe(outcomeOf(CID.parse, other))
        }
      }),
      { numRuns: 500 },
    )
  })
})
