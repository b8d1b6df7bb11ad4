import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseFileName } from './file-name.ts'
import { MEDIA_TYPE_PATTERN, parseMediaType } from './media-type.ts'
import { ENCODED_FILE_NAME_PATTERN, FILE_NAME_PATTERN } from './patterns.ts'

const doesNotThrow = (check: () => unknown): boolean => {
  try {
    check()
    return true
  } catch {
    return false
  }
}

/** Characters that the rules are about, and some of every length in UTF-8. */
const character = fc.oneof(
  fc.constantFrom(
    ...'a.Z 0-_~%+"\'/\\\t\n\u007f\u0085\u00a0\u00e9\u07ff\u0800\u2028\u202a\u202e\u2066\u2069\u206a\ud7ff\uffee',
  ),
  fc.constantFrom('😀', '\u{10ffff}'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((text) => text.isWellFormed()),
)
const name = fc.string({ unit: character, maxLength: 20 })
/** What only the checks say: nothing but white space and dots, however they are written. */
const isBlank = (text: string): boolean => /^[\s.]*$/u.test(text)

describe('patterns of the documentation', () => {
  it('allow the file names that are accepted, and no others', () => {
    fc.assert(
      fc.property(name, (text) => {
        fc.pre(!isBlank(text))
        const isAccepted = doesNotThrow(() => parseFileName(encodeURIComponent(text)))
        expect(new RegExp(FILE_NAME_PATTERN, 'u').test(text)).toBe(isAccepted)
        expect(new RegExp(ENCODED_FILE_NAME_PATTERN).test(encodeURIComponent(text))).toBe(isAccepted)
      }),
      { numRuns: 2000 },
    )
  })

  it('allow the encoded file names that are accepted, and no others', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'a. /\\%\u00e9'),
      fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, '0')}`),
      fc.constantFrom(
        '%e2%80%a8',
        '%E2%80%A7',
        '%e2%81%a6',
        '%e2%81%aa',
        '%ED%9F%BF',
        '%ED%A0%80',
        '%F4%8F%BF%BF',
        '%F4%90%80%80',
      ),
    )
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), (text) => {
        fc.pre(!isBlank(decoded(text)))
        const isAccepted = doesNotThrow(() => parseFileName(text))
        expect(new RegExp(ENCODED_FILE_NAME_PATTERN).test(text), text).toBe(isAccepted)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    [255, 'a', true],
    [256, 'a', false],
    [85, '%E2%82%AC', true],
    [86, '%E2%82%AC', false],
  ])('count bytes of UTF-8: %i times %s', (count, text, isAllowed) => {
    const repeated = text.repeat(count)
    expect(new RegExp(ENCODED_FILE_NAME_PATTERN).test(repeated)).toBe(isAllowed)
    expect(doesNotThrow(() => parseFileName(repeated))).toBe(isAllowed)
  })

  it('take a long name of any kind in no time', () => {
    const pattern = new RegExp(ENCODED_FILE_NAME_PATTERN)
    const start = performance.now()
    for (const text of ['%20'.repeat(255), `${'%E2%82%AC'.repeat(80)}/`, '.'.repeat(255), 'a'.repeat(16_000)])
      pattern.test(text)
    expect(performance.now() - start).toBeLessThan(200)
  })

  it.each(['text/plain', 'TEXT/html; charset="utf-8"', 'a/b;', 'text', 'text/', 'a/b; c', ''])(
    'allow the media types that are accepted: %j',
    (text) => {
      expect(new RegExp(MEDIA_TYPE_PATTERN).test(text)).toBe(doesNotThrow(() => parseMediaType(text)))
    },
  )
})

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return 'not UTF-8'
  }
}
