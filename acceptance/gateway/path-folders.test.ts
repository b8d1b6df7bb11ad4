/**
 * Folders at `/ipfs/{cid}[/{path}]/` and `/p/{cid}/[{path}]`: their pages, their lists, and what gateway-conformance v0.13 asks of
 * `path-unixfs-gateway` for them.
 *
 * @see https://specs.ipfs.tech/http-gateways/path-gateway/#generated-html-with-directory-index
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { type Caller, headerOf } from '../caller.ts'
import { PROFILES } from '../network-ids.ts'
import { expectProblem } from '../problem.ts'
import { sampleBytes, useTarget } from '../target.ts'
import { rawCid, stageFolder } from './folders.ts'

const target = useTarget()
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

interface Listing {
  readonly path: string
  readonly cid: string
  readonly entries: readonly { readonly name: string; readonly cid: string; readonly dagSize: number | null }[]
  readonly next: string | null
}

describe('a folder', () => {
  let caller: Caller
  let root: string
  beforeAll(async () => {
    caller = target.anonymous()
    root = await stageFolder(caller, {
      'ą/ę/file-źł.txt': 'I am a txt file on path with utf8\n',
      'ą/ę/<b>&"\'.txt': 'named like markup',
      'site/index.html': '<!doctype html><script>alert(1)</script>',
      'site/style.css': 'b {}',
      'site/404.html': 'not in this site',
    })
  })

  test.for([
    ['', '/'],
    ['/%C4%85/%C4%99', '/%C4%85/%C4%99/'],
    ['/site?download=true', '/site/?download=true'],
  ] as const)('%s redirects to its address with a slash', async ([path, location]) => {
    const answer = await caller.get(`/ipfs/${root}${path}`)
    expect([answer.status, headerOf(answer, 'location')]).toEqual([301, `/ipfs/${root}${location}`])
  })

  test('without a page is a list, with the links that other gateways have', async () => {
    const path = `/ipfs/${root}/%C4%85/%C4%99`
    const answer = await caller.get(`${path}/`)
    const text = answer.body.toString()
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'content-type')).toMatch(/^text\/html\b/)
    expect(text).toContain('Index of')
    expect(text).toContain(
      `/ipfs/<a href="/ipfs/${root}">${root}</a>/<a href="/ipfs/${root}/%C4%85">ą</a>/<a href="${path}">ę</a>`,
    )
    expect(text).toContain(`<a href="${path}/..">..</a>`)
    expect(text).toContain(`<a href="${path}/file-%C5%BA%C5%82.txt">file-źł.txt</a>`)
    const cid = rawCid('I am a txt file on path with utf8\n')
    expect(text).toContain(
      `<a class="ipfs-hash" translate="no" href="/ipfs/${cid}?filename=file-%25C5%25BA%25C5%2582.txt">`,
    )
    expect(text).not.toMatch(/<b>|<script/)
    expect((await caller.get(`/ipfs/${root}/`)).body.toString()).not.toContain('>..</a>')
  })

  test('has a tag of its own as a list, which caches may ask by and no other', async () => {
    const path = `/ipfs/${root}/%C4%85/%C4%99/`
    const answer = await caller.get(path)
    const [rootCid, , folder] = headerOf(answer, 'x-ipfs-roots').split(',')
    expect(rootCid).toBe(root)
    const etag = headerOf(answer, 'etag')
    expect(etag).toMatch(/^"DirIndex-[^"]+"$/)
    expect(etag).toContain(`_CID-${folder}`)
    expect(headerOf(answer, 'x-ipfs-path')).toBe(path)
    expect(answer.headers).not.toHaveProperty('cache-control')
    for (const tag of [etag, `W/${etag}`]) {
      expect((await caller.get(path, { 'If-None-Match': tag })).status).toBe(304)
    }
  })

  test('is a list as JSON for programs', async () => {
    const answer = await caller.get(`/ipfs/${root}/%C4%85/%C4%99/`, { Accept: 'application/json' })
    expect(headerOf(answer, 'content-type')).toBe('application/json')
    expect(answer.json<Listing>()).toMatchObject({
      path: `/ipfs/${root}/%C4%85/%C4%99`,
      entries: [{ name: '<b>&"\'.txt' }, { name: 'file-źł.txt', dagSize: 34 }],
      next: null,
    })
  })

  test('with index.html is that page, without scripts, under the tag of the folder', async () => {
    const answer = await caller.get(`/ipfs/${root}/site/`, BROWSER)
    expect([answer.status, answer.body.toString()]).toEqual([200, '<!doctype html><script>alert(1)</script>'])
    const folder = headerOf(answer, 'x-ipfs-roots').split(',').at(-1)
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/html\b/),
      'content-disposition': 'inline',
      'cache-control': expect.stringMatching(/^public, max-age=/),
      etag: `"${folder}"`,
    })
    const policy = headerOf(answer, 'content-security-policy')
    expect(policy).toMatch(/^sandbox\b/)
    expect(policy).toContain("style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; media-src 'self'")
    expect(policy).not.toMatch(/script|allow-forms|allow-popups/)
    const known = await caller.get(`/ipfs/${root}/site/`, { 'If-None-Match': `"${folder}"` })
    expect(known.status).toBe(304)
    const style = await caller.get(`/ipfs/${root}/site/style.css`)
    expect(headerOf(style, 'content-type')).toMatch(/^text\/css\b/)
  })

  test('answers 404 for what it does not have: a browser by its own page, others by a document', async () => {
    expectProblem(await caller.get(`/ipfs/${root}/site/nothing`), 404, 'not_found')
    const page = await caller.get(`/ipfs/${root}/site/nothing`, BROWSER)
    expect([page.status, page.body.toString()]).toEqual([404, 'not in this site'])
    expectProblem(await caller.get(`/ipfs/${root}/nothing`, BROWSER), 404, 'not_found')
  })

  test('installs no service worker', async () => {
    for (const path of ['', '/', '/site/', '/site/style.css']) {
      const answer = await caller.get(`/ipfs/${root}${path}`, { 'Service-Worker': 'script' })
      expectProblem(answer, 400, 'bad_request')
    }
  })

  test('is at /p/ as well, where its upload stays what it was', async () => {
    const car = await caller.retrieve(root, { headers: BROWSER })
    expect([car.status, headerOf(car, 'content-type')]).toEqual([200, 'application/vnd.ipld.car'])
    const page = await caller.retrieve(`${root}/site/`, { headers: BROWSER })
    expect(page.body.toString()).toContain('<!doctype html>')
    const redirect = await caller.retrieve(`${root}/site`)
    expect([redirect.status, headerOf(redirect, 'location')]).toEqual([301, `/p/${root}/site/`])
    expect((await caller.retrieve(`${root}/`)).body.toString()).toContain('Index of')
  })
})

describe('a sharded folder', () => {
  test('has its files, and a list in pages', async () => {
    const caller = target.anonymous()
    const names = Array.from({ length: 1200 }, (_, index) => `${index}.txt`)
    const files = Object.fromEntries(names.map((name) => [name, name]))
    const options = { ...PROFILES['unixfs-v1-2025'], shardSplitThresholdBytes: 50 }
    const root = await stageFolder(caller, files, options)
    expect((await caller.get(`/ipfs/${root}/1111.txt`)).body.toString()).toBe('1111.txt')
    const first = (await caller.get(`/ipfs/${root}/?format=json`)).json<Listing>()
    const after = encodeURIComponent(first.next ?? '')
    const second = (await caller.get(`/ipfs/${root}/?format=json&after=${after}`)).json<Listing>()
    expect(second.next).toBeNull()
    const listed = [...first.entries, ...second.entries].map(({ name }) => name)
    expect(listed.sort()).toEqual([...names, '.mark'].sort())
    expect((await caller.get(`/ipfs/${root}/`)).body.toString()).toContain('rel="next"')
  })
})

describe('a private folder', () => {
  test('is there for its owner at /p/, and for nobody else', async (context) => {
    const user = await target.anyUser(context)
    const secret = sampleBytes(16).toString('hex')
    const owner = user.with({ 'X-Visibility': 'private' })
    const answer = await stageFolder(owner, { 'secret.txt': secret }).catch((error: unknown) => error)
    if (typeof answer !== 'string') return context.skip('private files are refused there')
    expect((await user.retrieve(`${answer}/secret.txt`)).body.toString()).toBe(secret)
    expectProblem(await target.anonymous().retrieve(`${answer}/secret.txt`), 404, 'not_found')
    expectProblem(await user.get(`/ipfs/${answer}/secret.txt`), 404, 'not_found')
  })
})
