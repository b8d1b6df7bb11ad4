import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CID } from 'multiformats/cid'
import { sha256 } from 'multiformats/hashes/sha2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { directoryDag } from '../../../retrieval/testing-dags.ts'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { uploadDag } from '../gateway/testing-folders.ts'

const BAD = Buffer.from('to be taken down')

describe('a site', () => {
  let service: RunningService
  let dir: string
  let root: string
  const files = {
    'index.html': Buffer.from('home'),
    'bad.txt': BAD,
    'denied.html': Buffer.from('denied by its path'),
    _redirects: Buffer.from('/alias /bad.txt 200\n/other /denied.html 404\n/private/* /secret.txt 200'),
  }
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'lade-sites-'))
    const dag = await directoryDag(files)
    writeFileSync(join(dir, 'one.deny'), `version: 1\n---\n/ipfs/${dag.root}/denied.html\n`)
    const env = {
      LADE_SITES_URL: 'http://*.ipfs.sites.example',
      LADE_CONTENT_URL: 'http://files.example',
      LADE_DENYLIST: join(dir, 'one.deny'),
      LADE_CACHE_SECONDS: '29030400',
      LADE_METRICS_TOKEN: 'a-token-for-metrics',
    }
    service = await runService({ env })
    root = await uploadDag(service, dag)
    const blocked = await service.fetch('/api/admin/blocks', {
      method: 'POST',
      headers: { ...bearer(await service.mint(['admin'])), 'content-type': 'application/json' },
      body: JSON.stringify({ cid: CID.createV1(0x55, await sha256.digest(BAD)).toString(), reason: 'A complaint' }),
    })
    expect(blocked.status).toBe(200)
  })
  afterAll(async () => {
    await service.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Asks a host whose name is in no DNS. */
  async function ask(host: string, path: string, headers: Record<string, string> = {}) {
    const { hostname, port } = new URL(service.url)
    return new Promise<{ status: number | undefined; text: string; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        const options = { hostname, port, path, headers: { ...headers, host }, agent: false }
        request(options, (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode, text: body, headers: response.headers }),
            reject,
          )
        })
          .on('error', reject)
          .end()
      },
    )
  }
  const site = (path: string, headers?: Record<string, string>) => ask(`${root}.ipfs.sites.example`, path, headers)

  it.each(['/bad.txt', '/bad.txt?format=raw', '/alias', '/denied.html', '/other'])(
    'refuses what is blocked, also by a rule: %s',
    async (path) => expect((await site(path)).status).toBe(451),
  )

  it('has what is beside it, which caches may keep as long as any content', async () => {
    const page = await site('/')
    expect([page.status, page.text]).toEqual([200, 'home'])
    expect(page.headers['cache-control']).toMatch(/^public, max-age=\d+, immutable$/)
    expect(page.headers).toMatchObject({ 'origin-agent-cluster': '?1', 'x-content-type-options': 'nosniff' })
  })

  it('tells browsers in a page why, which nothing runs in', async () => {
    const { status, text: html, headers } = await site('/bad.txt', { accept: 'text/html' })
    expect([status, headers['content-type']]).toEqual([451, 'text/html; charset=utf-8'])
    expect(html).toContain('<h1>The operator blocked this content.</h1>')
    expect(headers['content-security-policy']).toMatch(/^sandbox allow-downloads; default-src 'none'/)
  })

  it('is never answered with a file of the service that is at hand', async () => {
    const bytes = Buffer.from('cached')
    const { cid } = (await (await service.upload(bytes)).json()) as { cid: string }
    for (let times = 0; times < 3; times += 1) await ask('files.example', `/p/${cid}`)
    expect((await ask('files.example', `/p/${cid}`)).text).toBe('cached')
    expect((await site(`/p/${cid}`)).status).toBe(404)
  })

  it('has public content alone', async () => {
    const bytes = Buffer.from('a secret')
    const token = (await service.signUp()).token
    const answer = await service.upload(bytes, { token, headers: { 'x-visibility': 'private' } })
    const cid = CID.createV1(0x55, await sha256.digest(bytes)).toString()
    const authorization = { authorization: `Bearer ${token}` }
    expect(answer.status, await answer.text()).toBe(200)
    expect((await ask(`${cid}.ipfs.sites.example`, '/', authorization)).status).toBe(404)
    expect((await ask(`${cid}.ipfs.sites.example`, '/')).status).toBe(404)
  })

  it('has a broken _redirects file counted apart, and no failure of the service is logged', async () => {
    const broken = await uploadDag(service, await directoryDag({ _redirects: Buffer.from('x') }))
    const errors = () => service.logged().filter(({ level }) => Number(level) >= 50)
    const before = errors().length
    expect((await ask(`${broken}.ipfs.sites.example`, '/missing')).status).toBe(500)
    await expect.poll(() => service.logged().some(({ code }) => code === 'invalid_redirects')).toBe(true)
    expect(errors()).toHaveLength(before)
    const metrics = await (await service.fetch('/metrics', { headers: bearer('a-token-for-metrics') })).text()
    expect(metrics).toContain('route="{cid}.ipfs/_redirects"')
  })

  it('is at a host that is nobody else’s: others are refused or a gateway', async () => {
    expect((await ask('rebound.example', '/api/info')).status).toBe(421)
    expect((await ask('rebound.example', `/p/${root}/`)).status).toBe(421)
    expect((await ask('rebound.example', `/ipfs/${root}/`)).status).toBe(200)
    expect((await ask('files.example', `/ipfs/${root}/`)).headers.location).toBe(`http://${root}.ipfs.sites.example/`)
  })
})

describe('the start', () => {
  it.each([
    ['https://lade.example.org', 'https://*.ipfs.lade.example.org', 1],
    ['https://lade.example.org', 'https://*.ipfs.example.org', 1],
    ['https://lade.example.org', 'https://*.ipfs.example.net', 0],
    ['https://lade.dweb.link', 'https://*.ipfs.dweb.link', 0],
  ])('warns of %s with %s: %i', async (publicUrl, sitesUrl, count) => {
    const service = await runService({ env: { LADE_PUBLIC_URL: publicUrl, LADE_SITES_URL: sitesUrl } })
    const warned = service.logged().filter(({ msg }) => String(msg).startsWith('sites are on the same site'))
    await service.remove()
    expect(warned).toHaveLength(count)
  })
})
