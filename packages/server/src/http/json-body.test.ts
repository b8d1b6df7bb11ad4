import { LadeError } from '@lade/core/errors'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJsonBody } from './json-body.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

function codeFor(bytes: Uint8Array): string {
  try {
    parseJsonBody(bytes)
    return 'parsed'
  } catch (error) {
    return LadeError.is(error) ? error.code : String(error)
  }
}

describe('parseJsonBody', () => {
  it.each(['{}', '[]', 'null', '"a"', '1', ' {"a": [1, {"b": "]}"}]} ', '{"a":"\\"[[[["}', '{"é":"日本"}'])(
    'parses %s',
    (text) => expect(parseJsonBody(bytesOf(text))).toEqual(JSON.parse(text)),
  )

  it('parses whatever JSON.stringify writes, as JSON.parse does', () => {
    const value = fc
      .jsonValue({ maxDepth: 6 })
      .filter((json) => !/"(__proto__|constructor)":/.test(JSON.stringify(json)))
    fc.assert(
      fc.property(value, (json) => {
        const text = JSON.stringify(json)
        expect(parseJsonBody(bytesOf(text))).toEqual(JSON.parse(text))
      }),
    )
  })

  it.each([
    '',
    ' ',
    '{',
    '{"a":}',
    "{'a':1}",
    '{"a":1,}',
    '{"a":1}{}',
    'undefined',
    'NaN',
    '01',
    '{"a":1} x',
    '"\u0001"',
  ])('refuses %j, which does not parse', (text) => expect(codeFor(bytesOf(text))).toBe('invalid_json'))

  it.each([
    ['a lone continuation byte', [0x22, 0x80, 0x22]],
    ['an overlong slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['a cut sequence', [0x22, 0xe6, 0x97]],
    ['latin1', [0x22, 0xe9, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0, 0x7d, 0]],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ])('refuses %s', (_title, bytes) => {
    expect(codeFor(Uint8Array.from(bytes))).toBe('invalid_json')
  })

  it('takes 16 levels, and refuses 17 and 10,000', () => {
    expect(codeFor(bytesOf(nested(16)))).toBe('parsed')
    expect(codeFor(bytesOf(nested(17)))).toBe('invalid_json')
    expect(codeFor(bytesOf(nested(10_000)))).toBe('invalid_json')
    expect(codeFor(bytesOf('['.repeat(60_000)))).toBe('invalid_json')
  })

  it.each([
    '{"__proto__":{"polluted":true}}',
    '{"a":[{"__proto__":1}]}',
    '{"constructor":{"prototype":{"polluted":true}}}',
    '{"\\u005f\\u005fproto__":{"polluted":true}}',
    '{"a":{"const\\u0072uctor":1}}',
  ])('refuses %s and leaves every prototype alone', (text) => {
    expect(codeFor(bytesOf(text))).toBe('invalid_json')
    expect('polluted' in {}).toBe(false)
  })

  it('answers a value or invalid_json for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect(['parsed', 'invalid_json']).toContain(codeFor(bytes))
      }),
    )
  })
})
