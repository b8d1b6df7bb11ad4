import fc from 'fast-check'
import { base2 } from 'multiformats/bases/base2'
import { base8 } from 'multiformats/bases/base8'
import { base10 } from 'multiformats/bases/base10'
import { base16, base16upper } from 'multiformats/bases/base16'
import { base32, base32hex, base32upper, base32z } from 'multiformats/bases/base32'
import { base36, base36upper } from 'multiformats/bases/base36'
import { base58btc, base58flickr } from 'multiformats/bases/base58'
import { base64, base64url } from 'multiformats/bases/base64'
import { describe, expect, test } from 'vitest'
import { decodeMultibase } from './multibase.ts'

const BASES = [
  base2,
  base8,
  base10,
  base16,
  base16upper,
  base32,
  base32upper,
  base32hex,
  base32z,
  base36,
  base36upper,
  base58btc,
  base58flickr,
  base64,
  base64url,
]

describe('decodeMultibase', () => {
  test.each(BASES)('gives back the bytes that $name was made of', (base) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), fc.nat({ max: 4 }), (bytes, zeroes) => {
        const padded = Uint8Array.from([...new Uint8Array(zeroes), ...bytes])
        const text = base.encode(padded)
        // Of base64, texts of letters and numbers alone are read.
        if (!/^[A-Za-z0-9]+$/.test(text)) return
        expect(decodeMultibase(text)).toEqual({
          multibase: base.name,
          accepted: expect.any(Boolean),
          bytes: padded,
          strayBits: false,
        })
      }),
    )
  })

  test.each(BASES)('reads any text as the decoder of $name does, and says when bits are left over', (base) => {
    const text = fc.string({ unit: fc.constantFrom(...'0123456789ABCDEFXYZabcdefghijkxyz'), maxLength: 79 })
    fc.assert(
      fc.property(text, (digits) => {
        let strict: Uint8Array | undefined
        try {
          strict = base.baseDecode(digits)
        } catch {}
        const decoded = decodeMultibase(base.prefix + digits)
        const whole = decoded?.strayBits === false ? decoded.bytes : undefined
        expect(whole).toEqual(strict === undefined ? undefined : Uint8Array.from(strict))
      }),
    )
  })

  test('drops the bits behind the last whole byte', () => {
    const { bytes } = decodeMultibase('baa') ?? {}
    expect(bytes).toEqual(Uint8Array.of(0))
    expect(decodeMultibase('bab')).toEqual({
      multibase: 'base32',
      accepted: true,
      bytes: Uint8Array.of(0),
      strayBits: true,
    })
    expect(decodeMultibase('baaa')).toMatchObject({ bytes: Uint8Array.of(0), strayBits: true })
  })

  test('knows no other prefix, and no digit of another alphabet', () => {
    for (const text of ['', 'y', 'xab', 'b0', 'fg', 'z0', 'zé'])
      expect(decodeMultibase(text)?.bytes.length ?? 0).toBe(0)
    expect(decodeMultibase('zé')).toBeUndefined()
  })
})
