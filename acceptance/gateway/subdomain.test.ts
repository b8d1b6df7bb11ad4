/**
 * Sites at `{cid}.ipfs.example.com`: what gateway-conformance v0.13 asks of `subdomain-ipfs-gateway`, said in other words.
 *
 * Not here, since this service resolves no names: `subdomain-ipns-gateway` and `dnslink-gateway`, which are refused with a sentence. Not here
 * either, since it is no proxy: `proxy-gateway`.
 *
 * @see https://specs.ipfs.tech/http-gateways/subdomain-gateway/
 */
import { base36 } from 'multiformats/bases/base36'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Caller, headerOf } from '../caller.ts'
import { CODEC, rawCidOf } from '../content-ids.ts'
import { PROFILES } from '../network-ids.ts'
import { expectProblem } from '../problem.ts'
import { freshAddress, sampleBytes, useTarget } from '../target.ts'
import { rawCid, stageFolder } from './folders.ts'
import { askHost, askSite, DOMAIN, NO_SITES } from './sites.ts'

const target = useTarget()
const BROWSER = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const SHA2_512 = 0x13

const FILES = {
  'index.html': '<!doctype html><script src="app.js"></script>',
  'app.js': 'document.title = 1',
  'ą/ę/file-źł.txt': 'I am a txt file on path with utf8\n',
  'ipfs/file.txt': 'I am a txt file\n',
  'ipfs/ipns/bar': 'text-file-content',
  'api/info': 'not the API',
  'p/x.txt': 'not a file of the service',
  'healthz/index.html': 'a page',
  'paper.pdf': '%PDF-1.7',
  '404.html': 'nothing here',
}

let caller: Caller
let root: string
/** The same with a root of version 0, without a page. */
let oldRoot: string
const v1Of = (cid: string): string => CID.parse(cid).toV1().toString()
beforeAll(async () => {
  caller = target.anonymous()
  root = await stageFolder(caller, FILES)
  const { 'index.html': _page, '404.html': _missing, ...rest } = FILES
  oldRoot = await stageFolder(caller, rest, PROFILES['unixfs-v0-2015'])
})
beforeEach((context) => target.needsOwnServer(context, NO_SITES))

describe('the host of a site', () => {
  test.for([
    ['/', FILES['index.html'], 'text/html'],
    ['/index.html', FILES['index.html'], 'text/html'],
    ['/app.js', FILES['app.js'], 'text/javascript'],
    ['/ipfs/file.txt', FILES['ipfs/file.txt'], 'text/plain'],
    ['/ipfs/ipns/bar', FILES['ipfs/ipns/bar'], 'text/plain'],
    ['/%C4%85/%C4%99/file-%C5%BA%C5%82.txt', FILES['ą/ę/file-źł.txt'], 'text/plain'],
    ['/api/info', FILES['api/info'], 'text/plain'],
    ['/p/x.txt', FILES['p/x.txt'], 'text/plain'],
    ['/healthz/', FILES['healthz/index.html'], 'text/html'],
    ['/paper.pdf', FILES['paper.pdf'], 'application/pdf'],
  ] as const)('has %s of the root, and nothing of the service', async ([path, text, type]) => {
    const answer = await askSite(caller, root, path, BROWSER)
    expect([answer.status, answer.body.toString()]).toEqual([200, text])
    expect(headerOf(answer, 'content-type')).toContain(type)
    expect(headerOf(answer, 'content-disposition')).toBe('inline')
    // It is an origin of its own: there is nothing that a page may not do there.
    expect(answer.headers).not.toHaveProperty('content-security-policy')
    expect(headerOf(answer, 'cache-control')).toMatch(/^public, max-age=\d+$/)
    // The tag of a page is that of its folder.
    if (path === '/') expect(headerOf(answer, 'etag')).toBe(`"${root}"`)
    else if (!path.endsWith('/')) expect(headerOf(answer, 'etag')).toBe(`"${rawCid(text)}"`)
    expect(headerOf(answer, 'x-ipfs-path')).toBe(`/ipfs/${root}${path}`)
  })

  test('answers ranges, HEAD and conditions as every door does', async () => {
    const etag = `"${rawCid(FILES['app.js'])}"`
    const part = await askSite(caller, root, '/app.js', { Range: 'bytes=0-7' })
    expect([part.status, part.body.toString(), headerOf(part, 'etag')]).toEqual([206, 'document', etag])
    const same = await askSite(caller, root, '/app.js', { 'If-None-Match': etag })
    expect([same.status, same.body.length]).toEqual([304, 0])
    const head = await askSite(caller, root, '/app.js', {}, 'HEAD')
    expect([head.status, head.body.length, headerOf(head, 'content-length')]).toEqual([200, 0, '18'])
  })

  test.for(['', ':8080', '.', '.:80'])('is known by its name in any spelling, with %j behind it', async (behind) => {
    const answer = await askHost(caller, `${root.toUpperCase()}.IPFS.Example.COM${behind}`, '/app.js')
    expect(answer.status).toBe(200)
  })

  test('has the file itself at its root where the root is one', async () => {
    const text = sampleBytes(20).toString('hex')
    await caller.stage(Buffer.from(text))
    const answer = await askSite(caller, rawCid(text), '/')
    expect([answer.status, answer.body.toString()]).toEqual([200, text])
    // The namespace of paths is not there.
    expect((await askSite(caller, rawCid(text), `/ipfs/${rawCid(text)}/`)).status).toBe(404)
  })

  test('lets its pages have service workers', async () => {
    expect((await askSite(caller, root, '/app.js', { 'Service-Worker': 'script' })).status).toBe(200)
  })

  test('leaves the query to the site, where it is not meant for the gateway', async () => {
    for (const query of [
      'format=grid&format=2',
      'download=maybe',
      'a=1&a=2',
      'token=x',
      'entity-bytes=x',
      'filename=x.html',
    ])
      expect(headerOf(await askSite(caller, root, `/app.js?${query}`), 'content-type')).toMatch(/^text\/javascript/)
    const saved = await askSite(caller, root, '/app.js?download=true&filename=x.txt')
    expect(headerOf(saved, 'content-disposition')).toBe('attachment; filename="x.txt"')
    const block = await askSite(caller, root, '/app.js?format=raw')
    expect(headerOf(block, 'content-type')).toBe('application/vnd.ipld.raw')
    expect(headerOf(await askSite(caller, root, '/ipfs?format=car'), 'content-type')).toContain('vnd.ipld.car')
  })

  test('redirects to the slash of a folder, and keeps the query', async () => {
    const answer = await askSite(caller, root, '/%C4%85/%C4%99?a=1')
    expect([answer.status, headerOf(answer, 'location')]).toEqual([301, '/%C4%85/%C4%99/?a=1'])
  })

  test('answers 404.html to browsers for what is missing, and a sentence to others', async () => {
    const page = await askSite(caller, root, '/none', BROWSER)
    expect([page.status, page.body.toString()]).toEqual([404, 'nothing here'])
    const text = await askSite(caller, root, '/none')
    expect([text.status, headerOf(text, 'content-type')]).toEqual([404, 'text/plain; charset=utf-8'])
    expect(text.body.toString()).toContain('there is no "none"')
    expectProblem(await askSite(caller, root, '/none', { Accept: 'application/json' }), 404, 'not_found')
    const made = await askSite(caller, v1Of(oldRoot), '/none', BROWSER)
    expect([made.status, headerOf(made, 'content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(headerOf(made, 'content-security-policy')).toContain("default-src 'none'")
  })

  test.for(['POST', 'PUT', 'PATCH', 'DELETE'])('refuses %s, which is for the API alone', async (method) => {
    const answer = await askSite(caller, root, '/api/upload', { 'Content-Length': '0' }, method)
    expect([answer.status, headerOf(answer, 'allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await askSite(caller, root, '/', { 'Access-Control-Request-Headers': 'x-a' }, 'OPTIONS')).status).toBe(204)
  })
})

describe('the list of a folder at the host of a site', () => {
  test('links below the host, and upwards by the gateway', async () => {
    const label = v1Of(oldRoot)
    const text = (await askSite(caller, label, '/%C4%85/%C4%99/')).body.toString()
    expect(text).toContain('Index of')
    expect(text).toContain('<a href="/%C4%85/%C4%99/..">..</a>')
    const trail = `//${DOMAIN}/ipfs/${label}`
    expect(text).toContain(
      `/ipfs/<a href="${trail}">${label}</a>/<a href="${trail}/%C4%85">ą</a>/<a href="${trail}/%C4%85/%C4%99">ę</a>`,
    )
    expect(text).toContain('<a href="/%C4%85/%C4%99/file-%C5%BA%C5%82.txt">file-źł.txt</a>')
    expect(text).toMatch(
      new RegExp(
        `<a class="ipfs-hash" translate="no" href="//${DOMAIN}/ipfs/Qm\\w+\\?filename=file-%25C5%25BA%25C5%2582.txt">`,
      ),
    )
    expect(CID.parse(oldRoot).version).toBe(0)
  })

  test('has nothing above the root, and the names of the root', async () => {
    const answer = await askSite(caller, v1Of(oldRoot), '/')
    const text = answer.body.toString()
    expect(answer.status).toBe(200)
    expect(headerOf(answer, 'etag')).toContain('"DirIndex-')
    expect(answer.headers).not.toHaveProperty('cache-control')
    expect(text).not.toContain('>..</a>')
    expect(text).toContain('<a href="/ipfs">ipfs</a>')
    expect(text).toContain('href="/?format=tar"')
    const deep = (await askSite(caller, v1Of(oldRoot), '/ipfs/ipns/')).body.toString()
    expect(deep).toContain('<a href="/ipfs/ipns/..">..</a>')
    expect(deep).toContain('<a href="/ipfs/ipns/bar">bar</a>')
  })
})

describe('a CID in another form', () => {
  test('leads to the one host that its root has', async () => {
    const cid = CID.parse(root)
    const expected = [301, `http://${root}.ipfs.${DOMAIN}/a%20b?c=%20`]
    const answer = await askSite(caller, cid.toString(base36), '/a%20b?c=%20')
    expect([answer.status, headerOf(answer, 'location')]).toEqual(expected)
    const old = await askSite(caller, v1Of(oldRoot), '/app.js')
    expect(old.status).toBe(200)
  })

  test('that only base36 makes short enough for a host is written in base36', async () => {
    // 36 bytes are 59 characters in base32; some hashes with a longer code need 64, and 62 in base36.
    const long = CID.createV1(0x0200, createDigest(0xb220, sampleBytes(32)))
    const [inBase32, inBase36] = [long.toString(), long.toString(base36)]
    expect([inBase32.length > 63, inBase36.length <= 63]).toEqual([true, true])
    const answer = await askSite(caller, inBase36, '/')
    expect([answer.status, answer.body.toString()]).toEqual([404, expect.stringContaining('not_found')])
    const moved = await askSite(caller, inBase32, '/x')
    expect([moved.status, headerOf(moved, 'location')]).toEqual([301, `http://${inBase36}.ipfs.${DOMAIN}/x`])
  })

  test('that is too long for a host is refused at both doors', async () => {
    const long = CID.createV1(CODEC.raw, createDigest(SHA2_512, sampleBytes(64))).toString()
    for (const answer of [await askSite(caller, long, '/'), await askHost(caller, DOMAIN, `/ipfs/${long}/`)]) {
      expect(answer.status).toBe(400)
      expect(answer.body.toString()).toContain('CID incompatible with DNS label length limit of 63')
    }
  })

  test.for(['myfile01', 'x', 'a.b', 'www', 'a'.repeat(63)])(
    'that is none (%s) is named in the refusal',
    async (label) => {
      const answer = await askSite(caller, label, '/x')
      expect([answer.status, answer.body.toString()]).toEqual([
        400,
        expect.stringContaining(`invalid path "/ipfs/${label}/x"`),
      ])
    },
  )

  test.for(['k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8', 'en-wikipedia--on--ipfs-org'])(
    'of IPNS or DNSLink (%s) is refused with a sentence',
    async (label) => {
      const answer = await askHost(caller, `${label}.ipns.${DOMAIN}`, '/')
      expect([answer.status, answer.body.toString()]).toEqual([
        400,
        expect.stringContaining('no IPNS names and no DNSLink'),
      ])
    },
  )
})

describe('/ipfs/ at the domain of the sites', () => {
  test.for([
    ['', '/'],
    ['/', '/'],
    [
      '/Portugal%252C+Espa%C3%B1a=Peninsula%20Ib%C3%A9rica.txt',
      '/Portugal%252C+Espa%C3%B1a=Peninsula%20Ib%C3%A9rica.txt',
    ],
    ['/a//b/?x=1&x=%20', '/a//b/?x=1&x=%20'],
    ['/none?format=grid', '/none?format=grid'],
    ['?format=tar', '/?format=tar'],
  ] as const)('%s redirects to the site, as it was asked for', async ([path, location]) => {
    const answer = await askHost(caller, DOMAIN, `/ipfs/${root}${path}`)
    expect([answer.status, headerOf(answer, 'location')]).toEqual([301, `http://${root}.ipfs.${DOMAIN}${location}`])
  })

  test('redirects a CID of version 0 to base32, and a file of one block, too', async () => {
    const old = await askHost(caller, `${DOMAIN}:8080`, `/ipfs/${oldRoot}/`)
    expect(headerOf(old, 'location')).toBe(`http://${v1Of(oldRoot)}.ipfs.${DOMAIN}/`)
    const raw = rawCidOf(sampleBytes())
    const file = await askHost(caller, DOMAIN, `/ipfs/${raw.base58}`)
    expect([file.status, headerOf(file, 'location')]).toEqual([301, `http://${raw.base32}.ipfs.${DOMAIN}/`])
  })

  test('gives blocks and data of other codecs there and then', async () => {
    expect((await askHost(caller, DOMAIN, `/ipfs/${root}?format=raw`)).status).toBe(200)
    const car = await askHost(caller, DOMAIN, `/ipfs/${root}/app.js`, { Accept: 'application/vnd.ipld.car' })
    expect(car.status).toBe(200)
    const json = CID.createV1(0x0200, CID.parse(rawCid(FILES['app.js'])).multihash)
    expect((await askHost(caller, DOMAIN, `/ipfs/${json}`)).status).toBe(200)
  })

  test('says which path is none', async () => {
    const answer = await askHost(caller, DOMAIN, '/ipfs/QmInvalidCID')
    expect([answer.status, answer.body.toString()]).toEqual([
      400,
      expect.stringContaining('invalid path "/ipfs/QmInvalidCID"'),
    ])
    const browser = await askHost(caller, DOMAIN, '/ipfs/<script>', BROWSER)
    expect([browser.status, headerOf(browser, 'content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(browser.body.toString()).not.toContain('<script>')
    expectProblem(
      await askHost(caller, DOMAIN, '/ipfs/QmInvalidCID', { Accept: 'application/json' }),
      400,
      'invalid_cid',
    )
    expectProblem(await askHost(caller, DOMAIN, '/ipfs/QmInvalidCID?format=car'), 400, 'invalid_cid')
  })

  test('with ?uri=ipfs://… leads to the content path', async () => {
    const cid = CID.createV0(createDigest(0x12, sampleBytes(32))).toString()
    const ask = (uri: string) => askHost(caller, DOMAIN, `/ipfs/?uri=${encodeURIComponent(uri)}`)
    const moved = await ask(`ipfs://${cid}/wiki/Diego_Maradona.html`)
    expect([moved.status, headerOf(moved, 'location')]).toEqual([301, `/ipfs/${cid}/wiki/Diego_Maradona.html`])
    expect(headerOf(await ask(`ipfs://${cid}/ą/?q=ę#x`), 'location')).toBe(`/ipfs/${cid}/%C4%85/?q=%C4%99`)
    expect((await ask('ipns://example.net')).status).toBe(400)
    expect((await ask('https://example.net')).status).toBe(400)
    expect((await ask('ipfs://nothing')).status).toBe(400)
  })
})

describe('other hosts', () => {
  test('say in /api/info where sites are', async () => {
    expect((await caller.get('/api/info')).json<object>()).toMatchObject({ sitesUrl: `http://*.ipfs.${DOMAIN}` })
  })

  test('are path gateways', async () => {
    expect((await askHost(caller, 'fake.domain.com', `/ipfs/${rawCid(FILES['app.js'])}`)).status).toBe(200)
    expect((await caller.get(`/ipfs/${root}/app.js`)).status).toBe(200)
    expect((await caller.get(`/p/${root}/app.js`)).status).toBe(200)
  })

  test.for([undefined, 'http', 'https'])(
    'that a trusted proxy has another name for (with scheme %s) redirect by that',
    async (scheme) => {
      // A proxy would say something else of itself.
      const direct = new Caller(target.directUrl, target.directUrl, { 'X-Forwarded-For': freshAddress() })
      const answer = await askHost(direct, 'fake.domain.com', `/ipfs/${root}`, {
        'X-Forwarded-Host': DOMAIN,
        ...(scheme && { 'X-Forwarded-Proto': scheme }),
      })
      expect([answer.status, headerOf(answer, 'location')]).toEqual([
        301,
        `${scheme ?? 'http'}://${root}.ipfs.${DOMAIN}/`,
      ])
    },
  )
})
