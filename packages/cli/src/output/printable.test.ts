import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable, shorten, widthOf } from './printable.ts'

describe('printable', () => {
  it.each([
    ['a\x1b[2Jb', 'a\\x1b[2Jb'],
    ['line\nline', 'line\\x0aline'],
    ['bell\x07', 'bell\\x07'],
    ['c1\x9b1m', 'c1\\x9b1m'],
    ['invoice\u202egpj.exe', 'invoice\\u202egpj.exe'],
    ['naïve 猫 👩‍💻.jpg', 'naïve 猫 👩‍💻.jpg'],
  ])('shows %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown)
  })

  it('never leaves a control character, and changes nothing twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = printable(text)
        expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u)
        expect(printable(shown)).toBe(shown)
      }),
    )
  })
})

describe('shorten', () => {
  it('takes from the middle, and keeps the ending', () => {
    expect(shorten('photograph-of-a-cat.jpg', 12)).toBe('photog…t.jpg')
    expect(shorten('short.jpg', 12)).toBe('short.jpg')
  })

  it('counts wide characters as two columns and takes none apart', () => {
    expect(shorten('猫猫猫猫猫', 7)).toBe('猫猫…猫')
    expect(shorten('猫猫猫猫猫', 6)).toBe('猫…猫')
    expect(shorten('👩‍💻👩‍💻👩‍💻', 4)).toBe('👩‍💻…')
  })

  it('is never wider than asked for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, width) => {
        expect(widthOf(shorten(printable(text), width))).toBeLessThanOrEqual(width)
      }),
    )
  })
})
