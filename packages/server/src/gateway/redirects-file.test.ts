import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { MAX_REDIRECTS_BYTES, matchRedirect, parseRedirects, RedirectsFault, withSentQuery } from './redirects-file.ts'

const rulesOf = (text: string) => parseRedirects(Buffer.from(text))
const namesOf = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '')
    .map(decodeURIComponent)
const match = (text: string, path: string) => matchRedirect(rulesOf(text), namesOf(path))

/** The file that the specification gives as an example. */
const EXAMPLE = `/redirect-one /one.html
/301-redirect-one /one.html 301
/302-redirect-two /two.html 302
/200-index /index.html 200
/posts/:year/:month/:day/:title /articles/:year/:month/:day/:title 301
/splat/* /redirected-splat/:splat 301
/not-found/* /404.html 404
/gone/* /410.html 410
/unavail/* /451.html 451
/* /index.html 200
`

describe('matchRedirect', () => {
  it.each([
    ['/redirect-one', '/one.html', 301],
    ['/301-redirect-one/', '/one.html', 301],
    ['/302-redirect-two', '/two.html', 302],
    ['/200-index', '/index.html', 200],
    ['/posts/2022/06/15/hello-world', '/articles/2022/06/15/hello-world', 301],
    ['/posts/2022/06', '/index.html', 200],
    ['/splat/one.html', '/redirected-splat/one.html', 301],
    ['/splat/a/b/c', '/redirected-splat/a/b/c', 301],
    ['/splat', '/redirected-splat/', 301],
    ['/not-found/x', '/404.html', 404],
    ['/gone/x', '/410.html', 410],
    ['/unavail/x/y', '/451.html', 451],
    ['/anything/else', '/index.html', 200],
  ] as const)('of the example of the specification takes %s to %s with %i', (path, to, status) => {
    expect(match(EXAMPLE, path)).toEqual({ to, status })
  })

  it.each([
    ['the first rule', '/a /1\n/a /2\n/* /3', '/a', '/1'],
    ['a placeholder that is used twice', '/:a /:a/:a', '/x', '/x/x'],
    ['the longer of two names', '/:a/:ab /:ab-:a', '/1/2', '/2-1'],
    ['a name with signs of regular expressions', '/:a.b(c /x/:a.b(c', '/1', '/x/1'],
    ['a placeholder that is not in from', '/a /:b', '/a', '/:b'],
    ['values in a query', '/s/:code/:name /t?code=:code&name=:name', '/s/a&b/c', '/t?code=a%26b&name=c'],
    ['a URL with a port', '/a/* https://example.net:8080/b/:splat', '/a/c', 'https://example.net:8080/b/c'],
    [
      'values that are no part of an address',
      '/:a /x/:a',
      '/%0d%0aSet-Cookie:%20a%2F%2F%3F%23',
      '/x/%0D%0ASet-Cookie%3A%20a%2F%2F%3F%23',
    ],
    ['names as they are and percent-encoded', '/ą/%C4%99 /x', '/%C4%85/ę', '/x'],
    ['a percent sign that encodes nothing', '/100% /x', '/100%25', '/x'],
    ['the beginning of a name before an asterisk', '/blog* /new:splat', '/blog-2026/x', '/new-2026/x'],
  ])('knows %s', (_what, file, path, to) => {
    expect(match(file, path)?.to).toBe(to)
  })

  it.each([
    ['/a /b', '/a/b'],
    ['/a/b /c', '/a'],
    ['/A /b', '/a'],
    ['/:a /b', '/'],
    ['/blog* /x', '/blo'],
    ['/blog* /x', '/'],
  ])('of %s does not take %s', (file, path) => expect(match(file, path)).toBeUndefined())

  it('never leads to another host than the rule says, whatever the path', () => {
    const rules = rulesOf('/a/:x/* /:x/:splat\n/b/* /:splat\n/c/:x https://example.net/:x\n/d* /:splat\n/* /p:splat')
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed())
    const names = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.array(name, { maxLength: 5 }))
    fc.assert(
      fc.property(names, ([first, rest]) => {
        const found = matchRedirect(rules, [first, ...rest])
        if (found === undefined) return
        expect(found.to).toMatch(/^[\x21-\x7e]+$/)
        const host = new URL(found.to, 'https://site.example').host
        expect(host).toBe(found.to.startsWith('/') ? 'site.example' : 'example.net')
      }),
    )
  })

  it('takes exactly the paths of a pattern, with the names at their places', () => {
    const name = fc.stringMatching(/^[a-z]{1,4}$/)
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.boolean()), { minLength: 1, maxLength: 6 }), (parts) => {
        const from = parts.map(([, isPlaceholder], index) => (isPlaceholder ? `:p${index}` : parts[index]?.[0]))
        const to = parts.map(([word, isPlaceholder], index) => (isPlaceholder ? `:p${index}` : word))
        const path = parts.map(([word]) => word)
        const rules = rulesOf(`/${from.join('/')} /x/${to.join('/')} 302`)
        expect(matchRedirect(rules, path)?.to).toBe(`/x/${path.join('/')}`)
        expect(matchRedirect(rules, [...path, 'more'])).toBeUndefined()
        expect(matchRedirect(rules, path.slice(1))).toBeUndefined()
      }),
    )
  })
})

describe('parseRedirects', () => {
  it.each([
    ['nothing', '', 0],
    ['blank lines and comments', '\n \t\n# a\n  # b\n', 0],
    ['CRLF, spaces, tabs and no last line end', '/a /b\r\n\t /c\t\t/d  302 \r\n/e /f', 3],
    ['a byte order mark', '\ufeff/a /b', 1],
    [
      'every status',
      [200, 301, 302, 303, 307, 308, 404, 410, 451].map((status) => `/${status} /x ${status}`).join('\n'),
      9,
    ],
    ['URLs', '/a https://example.net/ 302\n/b ipfs://bafkqaaa\n/c ipns://example.net', 3],
  ])('reads %s', (_what, text, count) => expect(rulesOf(text)).toHaveLength(count))

  it.each([
    ['a forced status', '/ok /x\n/home /home.html 301!', 'line 2: the status "301!" is not supported'],
    ['an unknown status', '/a /b 418', 'line 1: the status "418" is not supported'],
    ['one field', '/a', 'line 1: a rule has the form "from to [status]"'],
    ['four fields', '/a /b 301 Country=us', 'line 1: a rule has the form "from to [status]"'],
    ['a from without a slash', 'a /b', 'line 1: the path "a" does not begin with a slash'],
    ['a to that is neither', '/a b', 'line 1: "b" is neither a path that begins with a slash'],
    ['a script', '/a javascript:alert(1)', 'line 1: "javascript:alert(1)" is neither'],
    ['a page elsewhere', '/a https://example.net/ 200', 'line 1: the status 200 needs a path of the site'],
    ['a placeholder twice', '/:a/:a /b', 'line 1: the path "/:a/:a" has the placeholder ":a" twice'],
    ['a placeholder named splat and an asterisk', '/:splat/* /b', 'has the placeholder ":splat" twice'],
    ['an asterisk in the middle', '/a/*/b /c', 'has an asterisk that is not its last character'],
    ['two asterisks', '/a/** /c', 'has an asterisk that is not its last character'],
    ['bytes that are not UTF-8', Buffer.from([0x2f, 0xff]), 'the file is not UTF-8'],
    ['too many bytes', '#'.repeat(MAX_REDIRECTS_BYTES + 1), 'redirects file size cannot exceed 65536 bytes'],
  ])('refuses %s', (_what, file, message) => {
    const parse = () => parseRedirects(Buffer.from(file as string))
    expect(parse).toThrow(RedirectsFault)
    expect(parse).toThrow(message)
  })

  it('either reads or refuses, whatever the bytes', () => {
    const line = fc.string({ unit: fc.constantFrom('/', ':', '*', 'a', ' ', '\n', '#', '%', '2', '0', '?', '\0') })
    fc.assert(
      fc.property(
        fc.oneof(
          line.map((text) => Buffer.from(text)),
          fc.uint8Array(),
        ),
        (bytes) => {
          try {
            parseRedirects(bytes)
          } catch (error) {
            expect(error).toBeInstanceOf(RedirectsFault)
          }
        },
      ),
    )
  })

  test('the most rules that a file has room for are read and matched in a few milliseconds', () => {
    const file = Buffer.from('/:a /b\n'.repeat(9362))
    const rules = parseRedirects(file)
    expect(rules.length).toBeGreaterThan(9000)
    // The best of ten, so that what else the machine does is not measured.
    const timesMs = Array.from({ length: 10 }, () => {
      const started = performance.now()
      matchRedirect(parseRedirects(file), ['a', 'b'])
      return performance.now() - started
    })
    expect(Math.min(...timesMs)).toBeLessThan(50)
  })
})

describe('withSentQuery', () => {
  it.each([
    ['/t', '', '/t'],
    ['/t', 'a=1&b', '/t?a=1&b'],
    ['/t#x', 'a=1', '/t?a=1#x'],
    ['/t?s=1&a=2', 'a=3', '/t?s=1&a=3'],
    ['/t?a=2#x#y', 'a=3&a=4', '/t?a=3&a=4#x#y'],
    ['https://example.net/t?s=1', 'q=%26', 'https://example.net/t?s=1&q=%26'],
    ['/t?', 'q=1', '/t?q=1'],
  ])('%s with %j is %s', (to, query, expected) => expect(withSentQuery(to, query)).toBe(expected))
})
