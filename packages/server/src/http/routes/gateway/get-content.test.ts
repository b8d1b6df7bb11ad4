import * as dagPb from '@ipld/dag-pb'
import type { FolderListing } from '@lade/core/wire'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cborDag, directoryDag, fileDag, patternBytes, type TestDag } from '../../../retrieval/testing-dags.ts'
import { type RunningService, runService } from '../../../testing/running/running-service.ts'
import { answerAt, BROWSER, uploadDag } from './testing-folders.ts'

const SANDBOX =
  "sandbox allow-downloads; default-src 'none'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'"
const BIG = patternBytes(2_500_000, 5)
const HOME = Buffer.from('<!doctype html><title>Home</title><link rel=stylesheet href=site.css>')

const SITE = {
  'index.html': HOME,
  'site.css': Buffer.from('body { color: red }'),
  '404.html': Buffer.from('<!doctype html><title>Not here</title>'),
  'docs/list.txt': Buffer.from('zażółć'),
  'docs/ź 日+%2C.txt': Buffer.from('named'),
  'docs/z 日+%2C.txt': Buffer.from('another'),
  'docs/no-ending': Buffer.from('{"json": true}'),
  'docs/paper.pdf': Buffer.from('%PDF-1.7'),
  'docs/pixel': Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  'docs/big.bin': BIG,
  'docs/deep/index.html': Buffer.from('<h1>Deep</h1>'),
}

/** A symbolic link beside what it leads to. */
async function symlinkDag(): Promise<TestDag> {
  const block = async (type: 'symlink' | 'directory', data: string | undefined, Links: dagPb.PBLink[]) => {
    const message = new UnixFS(data === undefined ? { type } : { type, data: Buffer.from(data) })
    const bytes = dagPb.encode({ Data: message.marshal(), Links })
    return { cid: CID.createV1(dagPb.code, await sha256.digest(bytes)), bytes }
  }
  const link = await block('symlink', '../else/where', [])
  const root = await block('directory', undefined, [{ Name: 'link', Hash: link.cid, Tsize: link.bytes.length }])
  return { root: root.cid, blocks: new Map([link, root].map(({ cid, bytes }) => [cid.toString(), bytes])) }
}

describe('GET /ipfs/{cid}/{path}', () => {
  let service: RunningService
  let site: string
  let dag: TestDag
  beforeAll(async () => {
    service = await runService({ env: { LADE_SPONSORED_DAILY_MB: '1000' } })
    dag = await directoryDag(SITE)
    site = await uploadDag(service, dag)
  })
  afterAll(() => service.remove())
  const at = (path: string, init?: RequestInit) => answerAt(service, `/ipfs/${site}${path}`, init)

  it.each([
    ['/docs/list.txt', 'text/plain; charset=utf-8'],
    ['/site.css', 'text/css; charset=utf-8'],
    ['/docs/%C5%BA%20%E6%97%A5%2B%252C.txt', 'text/plain; charset=utf-8'],
    ['/docs/no-ending', 'application/json'],
    ['/docs/pixel', 'image/png'],
    ['/docs/big.bin', 'application/octet-stream'],
    ['/docs/list.txt?filename=x.svg', 'image/svg+xml'],
  ])('%s is a file of type %s', async (path, type) => {
    const answer = await at(path)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, type])
    const [name = ''] = path.slice(1).split('?')
    const expected = Object.entries(SITE).find(([known]) => known === decodeURIComponent(name))?.[1]
    expect(answer.bytes.equals(expected ?? Buffer.alloc(0))).toBe(true)
  })

  it('has the headers of the specification, also for HEAD, and 304 by its tag', async () => {
    const path = '/docs/list.txt'
    const [get, head] = [await at(path), await at(path, { method: 'HEAD' })]
    const end = CID.createV1(0x55, await sha256.digest(SITE['docs/list.txt'])).toString()
    expect(get.headers).toMatchObject({
      etag: `"${end}"`,
      'cache-control': 'public, max-age=3600',
      'accept-ranges': 'bytes',
      'content-length': '10',
      'content-disposition': 'inline',
      'content-security-policy': SANDBOX,
      'x-content-type-options': 'nosniff',
      'x-ipfs-path': `/ipfs/${site}${path}`,
      'x-ipfs-roots': expect.stringMatching(new RegExp(`^${site},baf[^,]+,${end}$`)),
      vary: 'Accept',
      'access-control-allow-origin': '*',
    })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['content-type', 'content-length', 'etag', 'x-ipfs-roots', 'cache-control']) {
      expect(head.headers[name], name).toBe(get.headers[name])
    }
    for (const tag of [`"${end}"`, `W/"${end}"`, `"x", "${end}"`, '*']) {
      const known = await at(path, { headers: { 'if-none-match': tag } })
      expect([known.status, known.text, known.headers.etag]).toEqual([304, '', `"${end}"`])
    }
  })

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=1999990-2000009', 1_999_990, 2_000_010],
    ['bytes=2499999-', 2_499_999, 2_500_000],
    ['bytes=-7', 2_499_993, 2_500_000],
    ['bytes=5-9, 0-3', 5, 10],
  ])('answers Range: %s with the first range of it', async (range, start, end) => {
    const answer = await at('/docs/big.bin', { headers: { range } })
    expect([answer.status, answer.headers['content-range']]).toEqual([206, `bytes ${start}-${end - 1}/2500000`])
    expect(answer.bytes.equals(BIG.subarray(start, end))).toBe(true)
  })

  it('answers 416 for a range that is outside', async () => {
    const answer = await at('/docs/big.bin', { headers: { range: 'bytes=2500000-' } })
    expect([answer.status, answer.headers['content-range']]).toEqual([416, 'bytes */2500000'])
  })

  it('sends from a folder to its address with a slash, with the query', async () => {
    for (const [path, location] of [
      ['', '/'],
      ['/docs?download=true', '/docs/?download=true'],
      ['//docs', '/docs/'],
    ] as const) {
      const answer = await at(path, { headers: BROWSER })
      expect([answer.status, answer.headers.location]).toEqual([301, `/ipfs/${site}${location}`])
    }
  })

  it('shows index.html for a folder, without scripts, under the tag of the folder', async () => {
    const answer = await at('/', { headers: BROWSER })
    expect([answer.status, answer.text]).toEqual([200, HOME.toString()])
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'inline',
      'content-security-policy': SANDBOX,
      'cache-control': 'public, max-age=3600',
      etag: `"${site}"`,
    })
    const known = await at('/', { headers: { 'if-none-match': `"${site}"` } })
    expect([known.status, known.headers['content-security-policy']]).toEqual([304, SANDBOX])
    expect((await at('/docs/deep/')).text).toBe('<h1>Deep</h1>')
  })

  it('saves a PDF, and anything that is to be saved', async () => {
    const pdf = await at('/docs/paper.pdf')
    expect(pdf.headers['content-disposition']).toBe('attachment; filename="paper.pdf"')
    const saved = await at('/site.css?download=true&filename=a%20%C3%A4.css')
    expect(saved.headers['content-disposition']).toBe(`attachment; filename="a _.css"; filename*=UTF-8''a%20%C3%A4.css`)
    expect((await at('/site.css?download=yes')).status).toBe(400)
  })

  it('a file that is no part of a folder is shown or saved as at /p/', async () => {
    const page = await fileDag(Buffer.from('<!doctype html><script>alert(1)</script>'))
    const text = await fileDag(Buffer.from('text'))
    for (const { root, blocks } of [page, text]) {
      await service.upload(blocks.get(root.toString()) ?? Buffer.alloc(0), { cid: root.toString() })
    }
    const saved = await answerAt(service, `/ipfs/${page.root}`)
    expect(saved.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="${page.root}"`,
      'content-security-policy': expect.not.stringContaining('allow-scripts'),
    })
    expect((await answerAt(service, `/ipfs/${text.root}`)).headers['content-disposition']).toBe('inline')
  })

  it('gives a file that was uploaded as bytes: under its UnixFS root, and under a raw CID, however long it is', async () => {
    const raw = CID.createV1(0x55, await sha256.digest(BIG)).toString()
    const { root } = await fileDag(BIG)
    for (const cid of [raw, root.toString()]) {
      expect((await service.upload(BIG, { cid })).status).toBe(200)
      const whole = await answerAt(service, `/ipfs/${cid}`)
      expect([whole.status, whole.headers.etag]).toEqual([200, `"${cid}"`])
      expect(whole.bytes.equals(BIG)).toBe(true)
      const part = await answerAt(service, `/ipfs/${cid}`, { headers: { range: 'bytes=-9' } })
      expect([part.status, part.bytes.equals(BIG.subarray(-9))]).toEqual([206, true])
      const head = await answerAt(service, `/ipfs/${cid}`, { method: 'HEAD' })
      expect(head.headers['content-length']).toBe(String(BIG.length))
      expect((await answerAt(service, `/ipfs/${cid}?format=tar`)).status).toBe(200)
    }
  })

  it('lists a folder without index.html, and tells caches nothing but its tag', async () => {
    const answer = await at('/docs/', { headers: BROWSER })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      etag: expect.stringMatching(/^"DirIndex-.*_CID-baf[^"]+"$/),
      'content-security-policy': expect.stringMatching(
        /^sandbox allow-downloads; default-src 'none'; style-src 'sha256-/,
      ),
      'x-ipfs-path': `/ipfs/${site}/docs/`,
    })
    expect(answer.headers).not.toHaveProperty('cache-control')
    expect(answer.headers).not.toHaveProperty('content-disposition')
    expect(answer.text).toContain(`/ipfs/<a href="/ipfs/${site}">${site}</a>/<a href="/ipfs/${site}/docs">docs</a>`)
    expect(answer.text).toContain(`<a href="/ipfs/${site}/docs/..">..</a>`)
    expect(answer.text).toContain(`<a href="/ipfs/${site}/docs/list.txt">list.txt</a>`)
    expect(answer.text).toContain(`<a href="/ipfs/${site}/docs/%C5%BA%20%E6%97%A5%2B%252C.txt">ź 日+%2C.txt</a>`)
    expect(answer.text).not.toContain('<script')
    const known = await at('/docs/', { headers: { 'if-none-match': answer.headers.etag ?? '' } })
    expect(known.status).toBe(304)
    expect((await at('/docs/', { method: 'HEAD' })).headers['content-length']).toBe(answer.headers['content-length'])
  })

  it('lists a folder as JSON where that is asked for', async () => {
    for (const [path, headers] of [
      ['/docs', { accept: 'application/json' }],
      ['/docs/', { accept: 'application/json, text/plain, */*' }],
      ['/docs/?format=json', {}],
    ] as const) {
      const answer = await at(path, { headers })
      expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json'])
      const { entries, ...rest } = answer.json<FolderListing>()
      expect(rest).toEqual({ path: `/ipfs/${site}/docs`, cid: expect.stringMatching(/^bafybei/), next: null })
      const names = Object.keys(SITE).flatMap((name) => /^docs\/([^/]+)/.exec(name)?.[1] ?? [])
      expect(entries.map(({ name }) => name)).toEqual([...new Set(names)].sort())
      expect(entries.find(({ name }) => name === 'list.txt')).toMatchObject({ dagSize: 10 })
    }
  })

  it('answers 404 for a path that leads nowhere, and shows a browser the page of the folder for it', async () => {
    for (const path of [
      '/nothing',
      '/docs/nothing',
      '/docs/list.txt/inside',
      '/docs/a%00b',
      '/docs/a%2Fb',
      '/docs/%2e%2e%2fsite.css',
    ]) {
      const plain = await at(path)
      expect(plain.json(), path).toMatchObject({ status: 404, error: 'not_found' })
      const page = await at(path, { headers: BROWSER })
      expect([page.status, page.text]).toEqual([404, '<!doctype html><title>Not here</title>'])
      expect(page.headers).toMatchObject({ 'cache-control': 'no-store', 'content-security-policy': SANDBOX })
    }
    expect((await at('/docs/nothing')).json<{ detail: string }>().detail).toContain('"nothing"')
  })

  it('answers the path that a symbolic link leads to, and does not follow it', async () => {
    const root = await uploadDag(service, await symlinkDag())
    const link = await answerAt(service, `/ipfs/${root}/link`)
    expect([link.status, link.text, link.headers['content-type']]).toEqual([
      200,
      '../else/where',
      'text/plain; charset=utf-8',
    ])
    expect((await answerAt(service, `/ipfs/${root}/link/x`)).status).toBe(404)
  })

  it('pages through a sharded folder, and finds each of its files', async () => {
    const names = Array.from({ length: 2300 }, (_, index) => `${index}.txt`)
    const files = Object.fromEntries(names.map((name) => [name, Buffer.from(name)]))
    const root = await uploadDag(service, await directoryDag(files, { shardSplitThresholdBytes: 50 }))
    const listed: string[] = []
    const pages: number[] = []
    for (let after: string | null = ''; after !== null; ) {
      const query: string = after === '' ? '' : `&after=${encodeURIComponent(after)}`
      const page: FolderListing = (await answerAt(service, `/ipfs/${root}/?format=json${query}`)).json()
      listed.push(...page.entries.map(({ name }) => name))
      pages.push(page.entries.length)
      after = page.next
    }
    expect(pages).toEqual([1000, 1000, 300])
    expect(listed.sort()).toEqual(names.sort())
    const html = await answerAt(service, `/ipfs/${root}/`)
    expect(html.text).toMatch(/<a rel="next" href="\/ipfs\/baf[^"?]+\/\?after=[^"]+">Next page<\/a>/)
    expect((await answerAt(service, `/ipfs/${root}/1234.txt`)).text).toBe('1234.txt')
  })

  it('gives data of dag-cbor as it is, follows its links, and converts nothing', async () => {
    const leaf = await cborDag({ hello: 'leaf' })
    const root = await uploadDag(service, await cborDag({ a: { link: leaf.root }, value: [1] }, leaf.blocks))
    const end = await answerAt(service, `/ipfs/${root}/a/link`)
    expect(end.bytes.equals(leaf.blocks.get(leaf.root.toString()) ?? Buffer.alloc(0))).toBe(true)
    expect(end.headers).toMatchObject({
      'content-type': 'application/vnd.ipld.dag-cbor',
      'content-disposition': `attachment; filename="${leaf.root}.cbor"`,
      etag: `"${leaf.root}.dag-cbor"`,
    })
    const plain = await answerAt(service, `/ipfs/${root}?format=cbor`)
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'application/cbor'])
    for (const format of ['dag-json', 'json', 'tar']) {
      expect((await answerAt(service, `/ipfs/${root}?format=${format}`)).status, format).toBe(406)
    }
    expect((await answerAt(service, `/ipfs/${root}/value/0`)).json()).toMatchObject({
      status: 501,
      error: 'not_implemented',
    })
    expect((await answerAt(service, `/ipfs/${root}/a/nothing`)).status).toBe(404)
    const page = await answerAt(service, `/ipfs/${root}`, { headers: BROWSER })
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(page.text).toContain(`href="/ipfs/${leaf.root}"`)
  })

  it('gives JSON where JSON alone is asked for, or nothing', async () => {
    const json = { headers: { accept: 'application/json' } }
    expect((await at('/docs/no-ending', json)).headers['content-type']).toBe('application/json')
    expect((await at('/docs/list.txt', json)).status).toBe(406)
    const axios = { headers: { accept: 'application/json, text/plain, */*' } }
    expect((await at('/docs/list.txt', axios)).text).toBe('zażółć')
    expect((await at('/docs/list.txt?format=dag-json')).status).toBe(406)
  })

  it('never installs a service worker, and answers what it does not have as other gateways do', async () => {
    expect((await at('/site.css', { headers: { 'service-worker': 'script' } })).status).toBe(400)
    const { root } = await directoryDag({ a: patternBytes(10, 99) })
    expect((await answerAt(service, `/ipfs/${root}/a`)).status).toBe(404)
    const cached = { headers: { 'cache-control': 'only-if-cached' } }
    expect((await answerAt(service, `/ipfs/${root}/a`, cached)).status).toBe(412)
    expect((await at('/site.css', cached)).status).toBe(200)
  })

  it('follows long paths, without a header for them that nobody could read', async () => {
    const path = Array.from({ length: 120 }, () => 'd')
    const root = await uploadDag(service, await directoryDag({ [[...path, 'x.txt'].join('/')]: Buffer.from('deep') }))
    const deep = await answerAt(service, `/ipfs/${root}/${path.join('/')}/x.txt`)
    expect([deep.status, deep.text]).toEqual([200, 'deep'])
    expect(deep.headers).not.toHaveProperty('x-ipfs-roots')
    const less = await answerAt(service, `/ipfs/${root}/${path.slice(0, 100).join('/')}/`)
    expect(less.headers['x-ipfs-roots']?.split(',')).toHaveLength(101)
  })

  it('is logged and counted under the template of its path', async () => {
    await at('/site.css')
    const routes = () => service.logged().map(({ route }) => route)
    await expect.poll(routes).toContain('/ipfs/{cid}/{path}')
    expect(JSON.stringify(routes())).not.toContain('site.css')
  })

  it('lets scripts of other origins ask before', async () => {
    const answer = await at('/site.css', {
      method: 'OPTIONS',
      headers: { 'access-control-request-headers': 'range, x-y' },
    })
    expect([answer.status, answer.headers['access-control-allow-headers']]).toEqual([
      204,
      'Content-Type, Range, User-Agent, X-Requested-With, range, x-y',
    ])
  })
})
