/**
 * `_redirects` files of sites: what gateway-conformance v0.13 asks of `redirects-file`, said in other words, and the rest of the specification.
 *
 * Not here, since this service resolves no names: the checks of the suite at hosts of DNSLink. That pages which rules name for 404, 410 and 451 are
 * `immutable` is seen only with `LADE_CACHE_SECONDS=29030400`; here they have the `Cache-Control` of files.
 *
 * @see https://specs.ipfs.tech/http-gateways/web-redirects-file/
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Caller, headerOf } from '../caller.ts'
import { expectProblem } from '../problem.ts'
import { useTarget } from '../target.ts'
import { rawCid, stageFolder } from './folders.ts'
import { askSite, NO_SITES } from './sites.ts'

const target = useTarget()
const BROWSER = { Accept: 'text/html' }

const PAGES = {
  'index.html': 'my index',
  '404.html': 'my 404',
  '410.html': 'my 410',
  '451.html': 'my 451',
  'one.html': 'my one',
  'app/index.html': 'my app',
  'data.json': '{"a": 1}',
}
const RULES = `# as in the specification
/redirect-one /one.html
/301-redirect-one /one.html 301
/302-redirect-two /two.html 302
/303 /one.html 303
/307 /one.html 307
/308 /one.html 308
/200-index /index.html 200
/posts/:year/:month/:day/:title /articles/:year/:month/:day/:title 301
/splat/* /redirected-splat/:splat 301
/not-found/* /404.html 404
/gone/* /410.html 410
/unavail/* /451.html 451
/one.html /two.html 301
/query /t?own=1&both=2 302
/elsewhere/* https://example.net/:splat
/folder /app/ 200
/data /data.json 200
/broken /none.html 200
/loop /loop 200
/round /round 302
/* /index.html 200
`

let caller: Caller
let root: string
const site = (path: string, headers: Record<string, string> = {}, of = root): Promise<Answer> =>
  askSite(caller, of, path, headers)
beforeAll(async () => {
  caller = target.anonymous()
  root = await stageFolder(caller, { ...PAGES, _redirects: RULES })
})
beforeEach((context) => target.needsOwnServer(context, NO_SITES))

describe('a path that a site does not have', () => {
  test.for([
    ['/redirect-one', 301, '/one.html'],
    ['/301-redirect-one', 301, '/one.html'],
    ['/301-redirect-one/', 301, '/one.html'],
    ['/302-redirect-two', 302, '/two.html'],
    ['/303', 303, '/one.html'],
    ['/307', 307, '/one.html'],
    ['/308', 308, '/one.html'],
    ['/posts/2022/01/01/hello-world', 301, '/articles/2022/01/01/hello-world'],
    ['/splat/one.html', 301, '/redirected-splat/one.html'],
    ['/splat/a/%C4%85%20b', 301, '/redirected-splat/a/%C4%85%20b'],
    ['/splat/%0d%0aX:%20y', 301, '/redirected-splat/%0D%0AX%3A%20y'],
    ['/elsewhere//evil.example/x', 301, 'https://example.net/evil.example/x'],
    ['/redirect-one?a=1&a=2', 301, '/one.html?a=1&a=2'],
    ['/query?both=3', 302, '/t?own=1&both=3'],
    ['/round', 302, '/round'],
  ] as const)('%s redirects with %i to %s', async ([path, status, location]) => {
    const answer = await site(path)
    expect([answer.status, headerOf(answer, 'location')]).toEqual([status, location])
    expect(headerOf(answer, 'cache-control')).toMatch(/^public, max-age=\d+$/)
  })

  test.for([
    ['/200-index', 200, 'index.html'],
    ['/catch-all', 200, 'index.html'],
    ['/any/depth?x=1', 200, 'index.html'],
    ['/folder', 200, 'app/index.html'],
    ['/data', 200, 'data.json'],
    ['/not-found/has-no-redirects-entry', 404, '404.html'],
    ['/gone/has-no-redirects-entry', 410, '410.html'],
    ['/unavail/has-no-redirects-entry', 451, '451.html'],
  ] as const)('%s is answered with %i and %s, kept like a file', async ([path, status, page]) => {
    const answer = await site(path)
    expect([answer.status, answer.body.toString()]).toEqual([status, PAGES[page]])
    expect(headerOf(answer, 'cache-control')).toMatch(/^public, max-age=\d+$/)
    expect(headerOf(answer, 'etag')).toBe(`"${rawCid(PAGES[page])}"`)
    expect(answer.headers).not.toHaveProperty('content-security-policy')
    expect(headerOf(answer, 'content-type')).toContain(page.endsWith('json') ? 'json' : 'text/html')
    const head = await askSite(caller, root, path, {}, 'HEAD')
    expect([head.status, head.body.length, headerOf(head, 'etag')]).toEqual([status, 0, headerOf(answer, 'etag')])
    const again = await site(path, { 'If-None-Match': headerOf(answer, 'etag') })
    expect(again.status).toBe(status === 200 ? 304 : status)
  })

  test.for(['/broken', '/loop'])(
    '%s is 404 where the page of its rule is missing, and no other rule is asked',
    async (path) => {
      const answer = await site(path, BROWSER)
      expect([answer.status, answer.body.toString()]).toEqual([404, PAGES['404.html']])
      expect(headerOf(answer, 'cache-control')).toBe('no-store')
    },
  )

  test('is 404 where the client asks for blocks', async () => {
    for (const format of ['raw', 'car', 'tar']) {
      expectProblem(await site(`/catch-all?format=${format}`), 404, 'not_found')
    }
  })

  test('is the data of its rule for a script that asks for JSON', async () => {
    const answer = await site('/data', { Accept: 'application/json' })
    expect([answer.status, answer.body.toString()]).toEqual([200, PAGES['data.json']])
  })
})

test('rules change nothing of the paths that a site has', async () => {
  expect((await site('/one.html')).body.toString()).toBe(PAGES['one.html'])
  expect((await site('/')).body.toString()).toBe(PAGES['index.html'])
  expect((await site('/_redirects')).body.toString()).toBe(RULES)
})

test('rules are those of a site on its own host: below paths, folders of all share an origin', async () => {
  for (const door of ['ipfs', 'p']) {
    const answer = await caller.get(`/${door}/${root}/redirect-one`, BROWSER)
    expect([answer.status, answer.body.toString()]).toEqual([404, PAGES['404.html']])
  }
})

describe('a _redirects file', () => {
  const staged = (rules: string | Buffer, files = {}) =>
    stageFolder(caller, { 'index.html': 'i', ...files, _redirects: rules })

  test('may end its lines like Windows does, and leave out the last end', async () => {
    const other = await staged('/redirect-one /one.html\r\n\r\n# x\r\n/b /c 302')
    expect(headerOf(await site('/redirect-one', {}, other), 'location')).toBe('/one.html')
    expect((await site('/b', {}, other)).status).toBe(302)
  })

  test.for([
    ['a forced status', '/a /b 301!', 'line 1: the status "301!" is not supported'],
    ['a status that there is not', '/x /y 302\n/a /b 418', 'line 2: the status "418" is not supported'],
    ['words', 'hello', 'line 1: a rule has the form'],
    ['65,537 bytes', '#'.repeat(65_537), 'redirects file size cannot exceed 65536 bytes'],
  ] as const)('with %s is named as the fault, for missing paths alone', async ([_what, rules, fault]) => {
    const other = await staged(rules)
    const answer = await site('/not-found', {}, other)
    expect(answer.status).toBe(500)
    expect(answer.body.toString()).toContain(`could not parse _redirects: ${fault}`)
    expectProblem(await site('/x', { Accept: 'application/json' }, other), 500, 'invalid_redirects')
    expect((await site('/index.html', {}, other)).body.toString()).toBe('i')
  })

  test('of 10,000 rules is read and matched in time', async () => {
    const rules = '/a /b\n'.repeat(10_000)
    const other = await staged(`${rules}/x/* /c\n`)
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => site(`/x/${index}`, {}, other)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 301))
    expect((performance.now() - started) / answers.length).toBeLessThan(200)
  })

  test('that is a folder is none', async () => {
    const other = await stageFolder(caller, { '_redirects/a': 'x' })
    expect((await site('/b', {}, other)).status).toBe(404)
  })
})
