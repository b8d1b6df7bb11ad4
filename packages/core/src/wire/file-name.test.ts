import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fastestMs } from '../../../../tools/tests/fastest-ms.ts'
import { processorSlowness } from '../../../../tools/tests/processor-slowness.ts'
import { LadeError } from '../errors/lade-error.ts'
import { FILE_NAME_MAX_BYTES, parseFileName } from './file-name.ts'

const utf8SizeOf = (text: string): number => new TextEncoder().encode(text).length

function refusalOf(headerValue: string): string {
  try {
    const name = parseFileName(headerValue)
    throw new Error(`read as ${JSON.stringify(name)}`)
  } catch (error) {
    if (LadeError.has(error, 'invalid_filename')) return error.evidence.reason
    throw error
  }
}

/** A few milliseconds where nothing slows the machine down. Steps that grow with the square of the length take seconds. */
const LONGEST_MS = 10 * processorSlowness()

describe('parseFileName', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['na%C3%AFve%20plan.pdf', 'naïve plan.pdf'],
    ['na%c3%afve plan.pdf', 'naïve plan.pdf'],
    ['%E6%97%A5%E6%9C%AC.txt', '日本.txt'],
    ['%F0%9F%9A%80', '🚀'],
    ['a+b%2Bc', 'a+b+c'],
    ['100%25', '100%'],
    ['...', '...'],
    ['.env', '.env'],
    ['%22quoted%22', '"quoted"'],
    ['%E2%80%8Fright', '\u200fright'],
  ])('reads %s', (headerValue, name) => {
    expect(parseFileName(headerValue)).toBe(name)
  })

  test('takes 255 bytes of UTF-8, however they are encoded', () => {
    for (const [unit, encoded] of [
      ['a', 'a'],
      ['a', '%61'],
      ['日', '%E6%97%A5'],
    ] as const) {
      const count = FILE_NAME_MAX_BYTES / utf8SizeOf(unit)
      expect(parseFileName(encoded.repeat(count))).toBe(unit.repeat(count))
      expect(refusalOf(encoded.repeat(count + 1))).toContain('bytes as UTF-8; the maximum is 255.')
    }
  })

  test.each(['%', 'a%2', '%zz', '%C3', '%C3%28', '%C0%AF', '%ED%A0%80', '%F4%90%80%80', '%FF', '%u0041'])(
    'refuses the malformed encoding %s',
    (headerValue) => {
      expect(refusalOf(headerValue)).toContain('malformed')
    },
  )

  test.each(['%00', 'a%0Ab', 'a%0D%0Ab', '%1F', '%7F', '%C2%80', '%C2%9F', '%E2%80%A8', '%E2%80%A9'])(
    'refuses the control character %s',
    (headerValue) => {
      expect(refusalOf(headerValue)).toBe('The file name contains a control character.')
    },
  )

  test('refuses every embedding, override and isolate of text direction', () => {
    for (const code of [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]) {
      expect(refusalOf(encodeURIComponent(`a${String.fromCharCode(code)}gpj.exe`))).toContain('text direction')
    }
  })

  test.each(['a/b', 'a%2Fb', '..%2f..%2fetc', 'C:\\a', 'a%5Cb'])('refuses the separator in %s', (headerValue) => {
    expect(refusalOf(headerValue)).toBe('The file name contains / or \\. Send only the last part of the path.')
  })

  test.each(['', ' ', '%20%20', '%C2%A0', '%EF%BB%BF'])('refuses %j as empty', (headerValue) => {
    expect(refusalOf(headerValue)).toBe('The file name is empty. Leave it out, or send one.')
  })

  test.each(['.', '..', '%2E%2E', ' ..'])('refuses %j as the name of a directory', (headerValue) => {
    expect(refusalOf(headerValue)).toBe('The file names . and .. are not allowed.')
  })

  test('refuses a raw value that is not printable ASCII, such as UTF-8 read as latin1', () => {
    for (const headerValue of ['naÃ¯ve', 'naïve', 'a\tb', 'a\nb', '\u0000', '日本']) {
      expect(refusalOf(headerValue)).toContain('printable ASCII')
    }
  })

  test('reads back every encoded name that it does not refuse, and throws nothing but invalid_filename', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' })), (name) => {
        fc.pre(name.isWellFormed())
        try {
          expect(parseFileName(encodeURIComponent(name))).toBe(name)
          expect(utf8SizeOf(name)).toBeLessThanOrEqual(FILE_NAME_MAX_BYTES)
        } catch (error) {
          if (!LadeError.has(error, 'invalid_filename')) throw error
        }
      }),
      { numRuns: 5000 },
    )
  })

  test('reads or refuses any header value, and a name that was read has no unsafe character', () => {
    const piece = fc.constantFrom(
      '%',
      '%2',
      '%C3',
      '%A9',
      '%E2',
      '%80',
      '%AE',
      '%2F',
      '.',
      ' ',
      'a',
      '\\',
      '\u0085',
      '+',
    )
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece).map((pieces) => pieces.join('')),
    )
    fc.assert(
      fc.property(value, (headerValue) => {
        try {
          const name = parseFileName(headerValue)
          expect(name.isWellFormed()).toBe(true)
          expect(name).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069/\\]/u)
          expect(name.trim()).not.toMatch(/^\.{0,2}$/)
        } catch (error) {
          if (!LadeError.has(error, 'invalid_filename')) throw error
        }
      }),
      { numRuns: 5000 },
    )
  })

  test.each(['%', '%20', '%41', 'a', ' ', '.', '\u0000', '%E2%80%AE', '%2F'])(
    'answers within 10 ms to 100 KB of %j',
    (piece) => {
      const headerValue = piece.repeat(Math.ceil(100_000 / piece.length))
      expect(fastestMs(() => refusalOf(headerValue))).toBeLessThan(LONGEST_MS)
    },
  )
})
