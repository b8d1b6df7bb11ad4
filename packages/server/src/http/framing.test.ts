import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { declaredBytes, framingProblem, MAX_HEADER_LINES, singleHeader } from './framing.ts'
import { requestOf } from './testing-request.ts'

const codeFor = (head: Parameters<typeof requestOf>[0]) => framingProblem(requestOf(head))?.code

describe('framingProblem', () => {
  it.each([
    ['a plain GET', {}],
    ['a GET with an explicit empty body', { lines: ['Content-Length', '0'] }],
    ['a POST with a length', { method: 'POST', lines: ['Content-Length', '5'] }],
    ['a POST without a body', { method: 'POST' }],
    ['a DELETE with a body', { method: 'DELETE', lines: ['Content-Length', '2'] }],
    ['a length of 2^53 - 1', { method: 'POST', lines: ['Content-Length', '9007199254740991'] }],
    [
      'repeated headers that are lists',
      { lines: ['Accept', 'a/b', 'Accept', 'c/d', 'Cookie', 'a=1', 'Cookie', 'b=2'] },
    ],
    ['a repeated X-Forwarded-For', { lines: ['X-Forwarded-For', '192.0.2.1', 'X-Forwarded-For', '192.0.2.2'] }],
    ['one header line less than the most', { lines: manyLines(MAX_HEADER_LINES - 2) }],
    ['HTTP/1.0', { httpVersion: '1.0', method: 'POST', lines: ['Content-Length', '5'] }],
  ])('passes %s', (_title, head) => {
    expect(codeFor(head)).toBeUndefined()
  })

  it.each([
    ['Authorization', 'Bearer a', 'Bearer b'],
    ['Content-Length', '5', '5'],
    ['Content-Length', '5', '6'],
    ['Content-Type', 'text/plain', 'text/html'],
    ['Expect', '100-continue', '100-continue'],
    ['Host', 'a.example', 'b.example'],
    ['If-None-Match', '"a"', '"b"'],
    ['If-Range', '"a"', '"b"'],
    ['Range', 'bytes=0-1', 'bytes=2-3'],
    ['Transfer-Encoding', 'chunked', 'chunked'],
    ['X-Filename', 'a', 'b'],
    ['X-Term-Days', '1', '2'],
    ['X-Visibility', 'public', 'private'],
  ])('refuses %s twice, in any case', (name, one, other) => {
    const problem = framingProblem(requestOf({ method: 'POST', lines: [name, one, name.toUpperCase(), other] }))
    expect(problem?.code).toBe('bad_request')
    expect(problem?.message).toBe(`Two ${name} headers. Send one.`)
  })

  it.each(['chunked', 'gzip, chunked', 'identity', 'Chunked', '', 'x'])(
    'refuses Transfer-Encoding: %s as length_required',
    (value) => expect(codeFor({ method: 'POST', lines: ['Transfer-Encoding', value] })).toBe('length_required'),
  )

  it('refuses Transfer-Encoding beside Content-Length, and in HTTP/1.0, as malformed', () => {
    const both = ['Transfer-Encoding', 'chunked', 'Content-Length', '5']
    expect(codeFor({ method: 'POST', lines: both })).toBe('bad_request')
    expect(codeFor({ method: 'POST', httpVersion: '1.0', lines: ['Transfer-Encoding', 'chunked'] })).toBe('bad_request')
  })

  it.each(['http://h.example/p/x', '*', 'h.example:443', '', 'p/x', '/p/x#y'])(
    'refuses the request target %j, which is no path and query',
    (url) => expect(codeFor({ url })).toBe('bad_request'),
  )

  it.each([
    '',
    ' ',
    '+4',
    '-1',
    '04',
    '00',
    '4 ',
    ' 4',
    '4,4',
    '4, 4',
    '0x4',
    '4.0',
    '1e3',
    '٤',
    '9007199254740992',
    '9007199254740993',
    '18446744073709551616',
    '9'.repeat(400),
    'NaN',
    'Infinity',
  ])('refuses Content-Length: %j', (length) => {
    expect(codeFor({ method: 'POST', lines: ['Content-Length', length] })).toBe('bad_request')
  })

  it('refuses HTTP/1.1 without a host, and takes HTTP/1.0 without one', () => {
    expect(codeFor({ hasNoHost: true })).toBe('bad_request')
    expect(codeFor({ hasNoHost: true, httpVersion: '1.0' })).toBeUndefined()
  })

  it.each(['2.0', '0.9', '1.2'])('refuses HTTP/%s', (httpVersion) => {
    expect(codeFor({ httpVersion })).toBe('bad_request')
  })

  it.each(['h.example', 'h.example:8080', '127.0.0.1:1', '[::1]:8080', 'localhost'])('takes the host %s', (host) => {
    expect(codeFor({ lines: ['Host', host] })).toBeUndefined()
  })

  it.each(['a b', 'a/b', 'a@b', 'a?b', 'a#b', 'a,b', 'h.example:port', '\\'])('refuses the host %j', (host) => {
    expect(codeFor({ lines: ['Host', host] })).toBe('bad_request')
  })

  it.each(['GET', 'HEAD'])('refuses a %s with a body', (method) => {
    expect(codeFor({ method, lines: ['Content-Length', '1'] })).toBe('bad_request')
  })

  it('refuses as many header lines as Node would cut off', () => {
    expect(codeFor({ lines: manyLines(MAX_HEADER_LINES - 1) })).toBe('headers_too_large')
  })

  it('lets a length pass exactly when it is the one way to write a number that is exact', () => {
    const text = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String),
      fc.string(),
      fc.stringMatching(/^[0-9]{1,18}$/),
    )
    fc.assert(
      fc.property(text, (length) => {
        const value = Number(length)
        const isExact = Number.isSafeInteger(value) && value >= 0 && String(value) === length && !Object.is(value, -0)
        expect(codeFor({ method: 'POST', lines: ['Content-Length', length] }) === undefined).toBe(isExact)
      }),
    )
  })
})

describe('declaredBytes', () => {
  it('is the declared length, and undefined where none is declared', () => {
    expect(declaredBytes(requestOf({ lines: ['Content-Length', '5242880'] }))).toBe(5_242_880)
    expect(declaredBytes(requestOf({ lines: ['Content-Length', '0'] }))).toBe(0)
    expect(declaredBytes(requestOf({}))).toBeUndefined()
  })
})

describe('singleHeader', () => {
  it('is the value of a header that is there, and undefined where it is not', () => {
    const request = requestOf({ lines: ['Range', 'bytes=0-1'] })
    expect(singleHeader(request, 'range')).toBe('bytes=0-1')
    expect(singleHeader(request, 'if-range')).toBeUndefined()
  })
})

function manyLines(count: number): string[] {
  return Array.from({ length: count }, (_, index) => [`X-Line-${index}`, 'v']).flat()
}
