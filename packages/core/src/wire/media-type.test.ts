import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fastestMs } from '../../../../tools/tests/fastest-ms.ts'
import { processorSlowness } from '../../../../tools/tests/processor-slowness.ts'
import { LadeError } from '../errors/lade-error.ts'
import { isPageMediaType, isShownMediaType, MEDIA_TYPE_MAX_CHARACTERS, parseMediaType } from './media-type.ts'

function refusalOf(value: string | undefined): string {
  try {
    throw new Error(`read as ${JSON.stringify(parseMediaType(value))}`)
  } catch (error) {
    if (LadeError.has(error, 'invalid_content_type')) return error.evidence.reason
    throw error
  }
}

const token = fc.string({
  unit: fc.constantFrom(..."!#$%&'*+-.^_`|~09azAZ"),
  minLength: 1,
  maxLength: 6,
})
const quotedString = fc
  .array(fc.constantFrom('a', ' ', '\t', ';', '=', '/', ',', '\\"', '\\\\', '\\a', '\u00e9', '{'), { maxLength: 6 })
  .map((pieces) => `"${pieces.join('')}"`)
const ows = fc.constantFrom('', ' ', '\t', '  ')
const parameter = fc
  .tuple(ows, ows, fc.option(fc.tuple(token, fc.oneof(token, quotedString))))
  .map(([before, after, pair]) => (pair === null ? `${before};` : `${before};${after}${pair[0]}=${pair[1]}`))
const mediaType = fc
  .tuple(token, token, fc.array(parameter, { maxLength: 5 }))
  .map(([type, subtype, parameters]) => `${type}/${subtype}${parameters.join('')}`)

/** A few milliseconds where nothing slows the machine down. Steps that grow with the square of the length take seconds. */
const LONGEST_MS = 10 * processorSlowness()

describe('parseMediaType', () => {
  test.each([
    'application/octet-stream',
    'text/plain;charset=utf-8',
    'text/plain; charset="utf-8"',
    'Text/HTML;Charset="utf-8"',
    'text/plain ; a=b\t;c="d;e=\\"f\\" g"',
    'text/plain;',
    'text/plain; ; ;a=b;',
    'multipart/form-data; boundary=----x',
    'application/vnd.api+json;profile="https://example.com/a b"',
    'a/b;c="é"',
  ])('gives %s back as sent', (value) => {
    expect(parseMediaType(value)).toBe(value)
  })

  test('drops the white space around the value and none inside it', () => {
    expect(parseMediaType(' \ttext/plain; a=b \t')).toBe('text/plain; a=b')
  })

  test('refuses a missing header', () => {
    expect(refusalOf(undefined)).toBe(
      'Content-Type is missing. Send the media type of the bytes; application/octet-stream fits any.',
    )
  })

  test.each([
    '',
    ' ',
    'text',
    'text/',
    '/plain',
    'text/plain/x',
    'text /plain',
    'text/ plain',
    'text/plain, text/html',
    'text/plain charset=utf-8',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain; =utf-8',
    'text/plain; charset =utf-8',
    'text/plain; charset= utf-8',
    'text/plain; a="b',
    'text/plain; a=b"c"',
    'text/plain; a="b"c',
    'text/plain; a="b\\"',
    'text/plain\r\nX: y',
    'text/plain; a="b\nc"',
    'text/plain; a="\u0000"',
    'text/plain; a="日"',
    'té/plain',
  ])('refuses %j', (value) => {
    expect(refusalOf(value)).toContain('type/subtype')
  })

  test('takes 255 characters and refuses one more', () => {
    const value = `text/${'a'.repeat(MEDIA_TYPE_MAX_CHARACTERS - 5)}`
    expect(parseMediaType(value)).toBe(value)
    expect(refusalOf(`${value}a`)).toContain('256 characters')
  })

  test('reads everything that the grammar of RFC 9110 generates', () => {
    fc.assert(
      fc.property(mediaType, ows, ows, (value, before, after) => {
        fc.pre(value.length <= 240)
        expect(parseMediaType(before + value + after)).toBe(value)
      }),
      { numRuns: 5000 },
    )
  })

  test('reads or refuses any string, and throws nothing but invalid_content_type', () => {
    const damagedType = fc
      .tuple(mediaType, fc.nat({ max: 40 }), fc.constantFrom('"', '\\', ' ', ';', '=', '/', '\n', '\u0000', '日'))
      .map(([value, at, piece]) => value.slice(0, at) + piece + value.slice(at))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), damagedType), (value) => {
        try {
          expect(parseMediaType(value)).toBe(value.replace(/^[\t ]+|[\t ]+$/g, ''))
        } catch (error) {
          if (!LadeError.has(error, 'invalid_content_type')) throw error
        }
      }),
      { numRuns: 5000 },
    )
  })

  test('answers within 10 ms to 250 characters that almost match', () => {
    for (const piece of ['; ', ';', ' ', ';a=b', '; a="b"', '"', '\\', '\\"', ';a=']) {
      const value = `${`a/b;c="${piece}"`.padEnd(10)}${piece.repeat(250)}`.slice(0, 250)
      for (const candidate of [`${value}\u0000`, `a/b${piece.repeat(250)}`.slice(0, 250).concat('!\u0000')]) {
        expect(fastestMs(() => refusalOf(candidate))).toBeLessThan(LONGEST_MS)
      }
    }
  })

  test('answers within 10 ms to 100 KB', () => {
    for (const piece of ['a', ' ', ';', '; ', 'a/b;', '"']) {
      const value = piece.repeat(Math.ceil(100_000 / piece.length))
      expect(fastestMs(() => refusalOf(value))).toBeLessThan(LONGEST_MS)
    }
  })
})

describe('what a browser does with a type', () => {
  test.each([
    'text/plain',
    'TEXT/PLAIN; charset=utf-8',
    ' text/markdown ;x=y',
    'text/csv',
    'application/json',
    'image/png',
    'image/avif',
    'audio/mpeg',
    'video/mp4',
    'font/woff2',
    'text/plain; x=text/html',
  ])('is to show %s', (value) => {
    expect([isShownMediaType(value), isPageMediaType(value)]).toEqual([true, false])
  })

  test.each([
    'text/html',
    'TEXT/HTML; charset=utf-8',
    ' text/html ;x=y',
    'application/xhtml+xml',
    'image/svg+xml',
    'IMAGE/SVG+XML',
    'image/x+xml',
    'application/xml',
    'text/xml',
    'application/rss+xml',
    'application/pdf',
  ])('is to open %s as a page', (value) => {
    expect([isShownMediaType(value), isPageMediaType(value)]).toEqual([false, true])
  })

  test.each([
    'application/octet-stream',
    'application/zip',
    'application/vnd.ipld.car',
    'text/css',
    'text/javascript',
    'text/html5',
    'text/x-unknown',
    'text/vtt',
    'application/wasm',
    'application/xml+json',
    'application/x-shockwave-flash',
    'multipart/x-mixed-replace;boundary=x',
    'multipart/related',
    'message/rfc822',
    'imagination/png',
    'image',
    '*/*',
    '',
  ])('is neither, so that %j is saved', (value) => {
    expect([isShownMediaType(value), isPageMediaType(value)]).toEqual([false, false])
  })

  test('is the same whatever the case, the white space and the parameters', () => {
    fc.assert(
      fc.property(mediaType, ows, (value, space) => {
        const essence = value.split(';')[0] ?? ''
        for (const is of [isShownMediaType, isPageMediaType]) expect(is(space + value.toUpperCase())).toBe(is(essence))
      }),
    )
  })

  test('is known within 10 ms of 100 KB', () => {
    for (const piece of ['a', ' ', ';', '+xml', 'text/html ', 'image/']) {
      const value = piece.repeat(Math.ceil(100_000 / piece.length))
      expect(fastestMs(() => isShownMediaType(value) || isPageMediaType(value))).toBeLessThan(LONGEST_MS)
    }
  })
})
