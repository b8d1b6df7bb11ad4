/**
 * What no HTTP client sends: malformed framing, heads and targets, on raw sockets.
 *
 * Wherever it is in doubt where the next request begins, the connection has to be closed. Each case also has to leave
 * nothing behind, which the usage of a fresh user shows.
 */
import { describe, expect, test } from 'vitest'
import { rawCidOf } from './content-ids.ts'
import { exchangeRaw, expectRefused, head, NO_CLOSE_MS, type RawExchange } from './raw-http.ts'
import type { Problem } from './shapes.ts'
import { type User, useTarget } from './target.ts'

const target = useTarget()
type Context = Parameters<typeof target.freshUser>[0]

const BODY = 'hello'
const SMUGGLED = 'GET /healthz HTTP/1.1\r\nHost: smuggled\r\n\r\n'

/** An upload of `hello` by a fresh user, its head given by the case, followed by what would be a second request. */
async function uploadWith(context: Context, write: (parts: { line: string; host: string; user: User }) => string) {
  target.needsDirectConnection(context)
  const user = await target.freshUser(context)
  const cid = rawCidOf(Buffer.from(BODY)).base32
  const data = write({ line: `POST /api/upload?cid=${cid} HTTP/1.1`, host: `Host: ${target.directUrl.host}`, user })
  const raw = await exchangeRaw(target.directUrl, data)
  const usage = await user.usage()
  expect(usage.today).toMatchObject({ bytes: 0, files: 0, reservedBytes: 0 })
  expect(usage.stored).toMatchObject({ bytes: 0, files: 0 })
  return raw
}

const common = (user: User) => [`Authorization: Bearer ${user.token}`, 'Content-Type: text/plain', 'X-Term-Days: 1']

describe('Content-Length and Transfer-Encoding', () => {
  const refusedLengths: readonly [string, string[]][] = [
    ['+4', ['Content-Length: +5']],
    ['a leading zero', ['Content-Length: 05']],
    ['hexadecimal', ['Content-Length: 0x5']],
    ['a list', ['Content-Length: 5,5']],
    ['a list with a space', ['Content-Length: 5, 5']],
    ['two of them, equal', ['Content-Length: 5', 'Content-Length: 5']],
    ['two of them, different', ['Content-Length: 5', 'Content-Length: 6']],
    ['negative', ['Content-Length: -1']],
    ['empty', ['Content-Length:']],
    ['a fraction', ['Content-Length: 5.0']],
    ['an exponent', ['Content-Length: 5e0']],
    ['text', ['Content-Length: five']],
    ['a space before the colon', ['Content-Length : 5']],
    ['a folded line', ['Content-Length:\r\n 5']],
    ['a NUL inside', ['Content-Length: 5\0']],
  ]
  test.for(refusedLengths)('refuses Content-Length: %s', async ([, lines], context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) => head(line, host, ...common(user), ...lines) + BODY + SMUGGLED,
    )
    expectRefused(raw, [400], ['bad_request'])
  })

  test.for([
    [['Content-Length: 5', 'Content-Length: 5'], /^Two Content-Length headers\. Send one\.$/],
    [['Content-Length: five'], /^Content-Length must be a decimal number/],
    [['X-Filename: a', 'X-Filename: b', 'Content-Length: 5'], /^Two X-Filename headers\. Send one\.$/],
  ] as const)(
    'says what is wrong with %j, like any other error, and to pages of any origin',
    async ([lines, sentence]) => {
      const request = head(
        'POST /api/upload?cid=myfile01 HTTP/1.1',
        `Host: ${target.directUrl.host}`,
        'Content-Type: a/b',
        ...lines,
      )
      const { first } = await exchangeRaw(target.directUrl, request + BODY)
      const problem = JSON.parse(first?.body ?? '{}') as Problem
      expect(Object.keys(problem).slice(0, 6)).toEqual(['error', 'detail', 'type', 'title', 'status', 'requestId'])
      expect(problem.detail).toMatch(sentence)
      expect(Object.fromEntries(first?.headers ?? [])).toMatchObject({
        'access-control-allow-origin': '*',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': problem.requestId,
      })
    },
  )

  test('refuses a Content-Length beyond exact integers', async (context) => {
    const raw = await uploadWith(context, ({ line, host, user }) =>
      head(line, host, ...common(user), 'Content-Length: 9007199254740993'),
    )
    expectRefused(raw, [400, 413], ['bad_request', 'too_large'])
  })

  test('refuses a Content-Length beyond 64 bits', async (context) => {
    const raw = await uploadWith(context, ({ line, host, user }) =>
      head(line, host, ...common(user), 'Content-Length: 18446744073709551621'),
    )
    expectRefused(raw, [400, 413], ['bad_request', 'too_large'])
  })

  const chunked = `5\r\n${BODY}\r\n0\r\n\r\n`

  test.for([
    ['Transfer-Encoding and Content-Length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
    ['Content-Length and Transfer-Encoding', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['gzip, chunked', ['Transfer-Encoding: gzip, chunked']],
    ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked']],
    ['chunked, chunked', ['Transfer-Encoding: chunked, chunked']],
    ['identity', ['Transfer-Encoding: identity']],
    ['an unknown coding', ['Transfer-Encoding: xchunked']],
    ['an obfuscated coding', ['Transfer-Encoding: chunked;x=y']],
    ['an empty coding', ['Transfer-Encoding:']],
  ] as const)('refuses %s', async ([, lines], context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) => head(line, host, ...common(user), ...lines) + chunked + SMUGGLED,
    )
    expectRefused(raw, [400, 411, 501], ['bad_request', 'length_required'])
  })

  test('refuses Transfer-Encoding on HTTP/1.0', async (context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) =>
        head(line.replace('HTTP/1.1', 'HTTP/1.0'), host, ...common(user), 'Transfer-Encoding: chunked') +
        chunked +
        SMUGGLED,
    )
    expectRefused(raw, [400, 411, 501], ['bad_request', 'length_required'])
  })

  test('refuses Transfer-Encoding on a signup too', async (context) => {
    const raw = await uploadWith(
      context,
      ({ host }) =>
        head('POST /api/auth/signup HTTP/1.1', host, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
        chunked +
        SMUGGLED,
    )
    expectRefused(raw, [400, 411], ['bad_request', 'length_required'])
  })

  test('refuses a GET with a body', async (context) => {
    const raw = await uploadWith(
      context,
      ({ host }) => head('GET /healthz HTTP/1.1', host, 'Content-Length: 5') + BODY + SMUGGLED,
    )
    expectRefused(raw, [400], ['bad_request'])
  })
})

describe('the request line and Host', () => {
  const length = `Content-Length: ${BODY.length}`

  test.for([
    ['two Host headers', (host: string) => [host, host]],
    ['two different Host headers', (host: string) => [host, 'Host: evil.example']],
    ['no Host header', () => []],
    ['a Host with a path', () => ['Host: evil.example/x']],
    ['a Host with user info', () => ['Host: user@evil.example']],
    ['a list of hosts', (host: string) => [`${host}, evil.example`]],
  ] as const)('refuses %s', async ([, hosts], context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) => head(line, ...hosts(host), ...common(user), length) + BODY + SMUGGLED,
    )
    expectRefused(raw, [400], ['bad_request'])
  })

  test('refuses a target in absolute form', async (context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) =>
        head(line.replace(' /', ' http://evil.example/'), host, ...common(user), length) + BODY + SMUGGLED,
    )
    expectRefused(raw, [400], ['bad_request'])
  })

  test.for([
    ['no version', (line: string) => line.replace(' HTTP/1.1', '')],
    ['HTTP/1.2', (line: string) => line.replace('HTTP/1.1', 'HTTP/1.2')],
    ['HTTP/2.0', (line: string) => line.replace('HTTP/1.1', 'HTTP/2.0')],
    ['HTTP/9.9', (line: string) => line.replace('HTTP/1.1', 'HTTP/9.9')],
    ['a lower-case protocol', (line: string) => line.replace('HTTP/1.1', 'http/1.1')],
    ['a space in the target', (line: string) => line.replace('?', ' ?')],
    ['a NUL in the target', (line: string) => line.replace('?', '\0?')],
    ['a fragment in the target', (line: string) => line.replace(' HTTP', '#x HTTP')],
    ['a target without a slash', (line: string) => line.replace(' /', ' ')],
  ] as const)('refuses a request line with %s', async ([, spoil], context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) => head(spoil(line), host, ...common(user), length) + BODY + SMUGGLED,
    )
    expectRefused(raw, [400, 404, 505], ['bad_request', 'invalid_cid', 'not_found'])
  })

  test('refuses a request line with a bare LF for its end', async (context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) => head(line, host, ...common(user), length).replaceAll('\r\n', '\n') + BODY + SMUGGLED,
    )
    expectRefused(raw, [400], ['bad_request'])
  })

  test('refuses what is not HTTP at all', async (context) => {
    for (const garbage of [
      '\r\n\r\n\r\nnonsense\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]) {
      const raw = await uploadWith(context, () => garbage)
      expectRefused(raw, [400, 505], ['bad_request'])
    }
  })
})

describe('header fields', () => {
  const length = `Content-Length: ${BODY.length}`

  test.for([
    ['a bare CR in X-Filename', 'X-Filename: a\rb'],
    ['a bare LF in X-Filename', 'X-Filename: a\nX-Evil: 1'],
    ['a NUL in X-Filename', 'X-Filename: a\0b'],
    ['a DEL in X-Filename', 'X-Filename: a\x7fb'],
    ['a folded X-Filename', 'X-Filename: a\r\n b'],
    ['a space in a field name', 'X Filename: a'],
    ['a field without a colon', 'X-Filename'],
    ['a field without a name', ': a'],
    ['a NUL in a field name', 'X-\0Filename: a'],
  ])('refuses %s', async ([, line = ''], context) => {
    const raw = await uploadWith(
      context,
      ({ line: requestLine, host, user }) => head(requestLine, host, ...common(user), line, length) + BODY + SMUGGLED,
    )
    expect([400], JSON.stringify(raw.responses)).toContain(raw.first?.status)
    expect(['bad_request', 'invalid_filename']).toContain((JSON.parse(raw.first?.body ?? '{}') as Problem).error)
    if ((JSON.parse(raw.first?.body ?? '{}') as Problem).error === 'bad_request')
      expectRefused(raw, [400], ['bad_request'])
  })

  test.for([
    ['a bare CR in Content-Type', 'Content-Type: text/plain\rX-Evil: 1'],
    ['a bare LF in Content-Type', 'Content-Type: text/plain\nX-Evil: 1'],
    ['a NUL in Content-Type', 'Content-Type: text/plain\0'],
    ['two Content-Type headers', 'Content-Type: text/plain\r\nContent-Type: text/html'],
  ])('refuses %s', async ([, line = ''], context) => {
    const raw = await uploadWith(
      context,
      ({ line: requestLine, host, user }) =>
        head(requestLine, host, `Authorization: Bearer ${user.token}`, line, length, 'Connection: close') + BODY,
    )
    expectRefused(raw, [400], ['bad_request', 'invalid_content_type'])
  })

  test('refuses two X-Filename headers', async (context) => {
    const raw = await uploadWith(
      context,
      ({ line, host, user }) =>
        head(line, host, ...common(user), 'X-Filename: a.txt', 'X-Filename: b.txt', length, 'Connection: close') + BODY,
    )
    expectRefused(raw, [400], ['bad_request', 'invalid_filename'])
  })

  test.for([
    ['20 KiB in one field', [`X-Long: ${'a'.repeat(20_480)}`]],
    ['20 KiB in many fields', Array.from({ length: 400 }, (_, at) => `X-Field-${at}: ${'a'.repeat(40)}`)],
  ] as const)('refuses a head of %s with 431', async ([, lines], context) => {
    const raw = await uploadWith(context, ({ line, host, user }) => head(line, host, ...common(user), length, ...lines))
    expectRefused(raw, [431], ['headers_too_large'])
  })

  test('refuses a target of 20 KiB', async (context) => {
    const raw = await uploadWith(context, ({ host }) => head(`GET /p/${'a'.repeat(20_480)} HTTP/1.1`, host))
    expectRefused(raw, [400, 414, 431], ['headers_too_large', 'invalid_cid', 'bad_request'])
  })

  test('a header named __proto__ harms nothing', async (context) => {
    target.needsDirectConnection(context)
    const raw = await exchangeRaw(
      target.directUrl,
      head(
        'GET /healthz HTTP/1.1',
        `Host: ${target.directUrl.host}`,
        '__proto__: x',
        'constructor: y',
        'Connection: close',
      ),
    )
    expect(raw.first?.status).toBe(200)
  })
})

describe('paths under /p/', () => {
  test.for([
    '/p/..',
    '/p/../../etc/passwd',
    '/p/../api/usage',
    '/p/./aaaaaaaa',
    '/p//aaaaaaaa',
    '/p/%2e%2e',
    '/p/%2e%2e/%2e%2e/etc/passwd',
    '/p/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/p/%2fetc%2fpasswd',
    '/p/%252e%252e%252fetc',
    '/p/aaaaaaaa%2f..',
    '/p/aaaaaaaa%00',
    '/p/%00',
    '/p/..\\..\\etc\\passwd',
    '/p/aaaaaaaa\\',
    '/p/%5c..%5c',
    '/p/%zz',
    '/p/%',
    '/p/%c0%ae%c0%ae/',
    '/p/%ff%fe%fd%fc%fb%fa%f9%f8',
    '/p/aaaaaaaa;x=1',
    '/p/aaaaaaaa/',
    '/p/aaaaaaaa/more',
  ])('refuses %s', async (path, context) => {
    target.needsDirectConnection(context)
    const raw = await exchangeRaw(
      target.directContentUrl,
      head(`GET ${path} HTTP/1.1`, `Host: ${target.directContentUrl.host}`, 'Connection: close'),
    )
    expectRefused(raw, [400, 404], ['bad_request', 'invalid_cid', 'not_found'])
    expect(raw.first?.body).not.toMatch(/root:|ENOENT|\/data\//)
  })
})

describe('more than one request on a connection', () => {
  const ask = () => head('GET /healthz HTTP/1.1', `Host: ${target.directUrl.host}`)

  test('pipelined requests are answered in order', async (context) => {
    target.needsDirectConnection(context)
    const last = head('GET /api/nothing HTTP/1.1', `Host: ${target.directUrl.host}`, 'Connection: close')
    const raw = await exchangeRaw(target.directUrl, ask() + ask() + last)
    expect(raw.responses.map((response) => response.status)).toEqual([200, 200, 404])
  })

  test('garbage after a good request is refused once, and the connection closed', async (context) => {
    target.needsDirectConnection(context)
    const raw: RawExchange = await exchangeRaw(target.directUrl, `${ask()}\x00\x01garbage\r\n\r\n${ask()}`)
    expect(raw.closed).toBe(true)
    const statuses = raw.responses.map((response) => response.status)
    expect([[200, 400], [400], [200]]).toContainEqual(statuses)
  })

  test('nothing sent after a refused upload is read as a request', async (context) => {
    const raw = await uploadWith(
      context,
      ({ line, host }) =>
        head(
          line,
          host,
          'Content-Type: text/plain',
          'Authorization: Bearer pk_live_a.b.c',
          `Content-Length: ${SMUGGLED.length}`,
        ) + SMUGGLED,
    )
    expectRefused(raw, [401], ['invalid_token'], { closed: false })
  })

  test('an Upgrade is not followed', async (context) => {
    target.needsDirectConnection(context)
    const raw = await exchangeRaw(
      target.directUrl,
      head('GET /healthz HTTP/1.1', `Host: ${target.directUrl.host}`, 'Upgrade: websocket', 'Connection: Upgrade'),
      NO_CLOSE_MS,
    )
    expect(raw.responses.some((response) => response.status === 101)).toBe(false)
  })

  test('CONNECT opens no tunnel', async (context) => {
    target.needsDirectConnection(context)
    const raw = await exchangeRaw(
      target.directUrl,
      head('CONNECT 127.0.0.1:22 HTTP/1.1', 'Host: 127.0.0.1:22') + SMUGGLED,
    )
    expect(raw.responses.filter((response) => response.status < 300)).toEqual([])
    expect(raw.closed).toBe(true)
  })
})
