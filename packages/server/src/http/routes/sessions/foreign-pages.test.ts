import { type AddressInfo, createServer } from 'node:net'
import type { FileList, SessionList, SessionState, TokenList } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, type RunningService, runService } from '../../../testing/running/running-service.ts'
import { type PageRequest, TestBrowser } from '../../../testing/running/test-browser.ts'

const ADA = 'ada@example.org'
const HOME = 'https://lade.example'
const CONTENT = 'https://files.lade.example'
const TEXT = 'what Ada has'
const CID = sha256Hex(Buffer.from(TEXT))
const OCTETS = { 'content-type': 'application/octet-stream' }

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Behind a proxy that speaks https, and with a host of its own for content. */
async function runBehindProxy(): Promise<{ service: RunningService; address: { readonly url: string } }> {
  const port = await freePort()
  const env = {
    LADE_PUBLIC_URL: HOME,
    LADE_CONTENT_URL: CONTENT,
    LADE_PORT: String(port),
    LADE_SIGNUPS_PER_HOUR: '1000',
  }
  return { service: await runService({ env }), address: { url: `http://127.0.0.1:${port}` } }
}

let service: RunningService
let address: { readonly url: string }
let ada: TestBrowser
beforeAll(async () => {
  ;({ service, address } = await runBehindProxy())
  ada = new TestBrowser(address, HOME)
  expect((await ada.signIn({ email: ADA })).status).toBe(200)
  const staged = await ada.fetch(`/api/upload?cid=${CID}`, { method: 'POST', body: TEXT, headers: OCTETS })
  expect(staged.status).toBe(200)
})
afterAll(() => service.remove())

/** What a page could gain by, and how. Node sends the cookie here whatever a browser would do. */
const CHANGES: readonly [name: string, path: string, request: PageRequest][] = [
  [
    'an upload',
    `/api/upload?cid=${sha256Hex(Buffer.from('foreign'))}`,
    { method: 'POST', body: 'foreign', headers: OCTETS },
  ],
  ['a removal', `/api/files/${CID}`, { method: 'DELETE' }],
  ['a new name', `/api/files/${CID}`, { method: 'PATCH', json: { filename: 'stolen.txt' } }],
  ['a share link', `/api/files/${CID}/share`, { method: 'POST', json: { ttlSeconds: 60 } }],
  ['a composition', `/api/compose?cid=${CID}`, { method: 'POST', json: { parts: [CID] } }],
  ['a token', '/api/auth/signup', { method: 'POST', json: { email: ADA, label: 'stolen' } }],
  ['a sign-in as somebody else', '/api/session', { method: 'POST', json: { email: 'eve@example.org' } }],
  ['a sign-out', '/api/session', { method: 'DELETE' }],
]

/** Who asks, as browsers say it. */
const PAGES: readonly [name: string, page: Pick<PageRequest, 'origin' | 'site'>][] = [
  ['a page of another site', { origin: 'https://evil.example', site: 'cross-site' }],
  ['a page of a sibling subdomain', { origin: 'https://blog.lade.example', site: 'same-site' }],
  ['a sandboxed page', { origin: 'null', site: 'cross-site' }],
]

const FORMS: readonly [name: string, path: string, request: PageRequest][] = [
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
].flatMap((type): [string, string, PageRequest][] => [
  [`an upload as ${type}`, `/api/upload?cid=${CID}`, { method: 'POST', body: TEXT, headers: { 'content-type': type } }],
  [
    `a sign-in as ${type}`,
    '/api/session',
    { method: 'POST', body: '{"email":"eve@example.org"}', headers: { 'content-type': type } },
  ],
])

const ATTACKS = [
  ...PAGES.flatMap(([page, from]) =>
    CHANGES.map(([change, path, request]) => [`${change} by ${page}`, path, { ...request, ...from }] as const),
  ),
  ...FORMS.map(
    ([form, path, request]) =>
      [
        `${form}, a form of another site`,
        path,
        { ...request, origin: 'https://evil.example', site: 'cross-site' },
      ] as const,
  ),
]

describe('a page of another origin, for whoever is signed in', () => {
  it('is refused in all of 30 attempts, and nothing has changed', async () => {
    expect(ATTACKS).toHaveLength(30)
    const { cookie } = ada
    const passed: string[] = []
    for (const [name, path, request] of ATTACKS) {
      const status = await ada.statusOf(path, request)
      if (status !== '403 foreign_origin') passed.push(`${name}: ${status}`)
      expect(ada.setCookie, name).toBeNull()
    }
    expect(passed).toEqual([])
    expect(ada.cookie).toBe(cookie)
    expect(await ada.json<SessionState>('/api/session')).toMatchObject({ session: { email: ADA } })
    expect((await ada.json<SessionList>('/api/sessions')).sessions).toHaveLength(1)
    expect((await ada.json<TokenList>('/api/tokens')).tokens).toEqual([])
    const { files } = await ada.json<FileList>('/api/files')
    expect(files.map(({ cid, filename }) => [cid, filename])).toEqual([[CID, null]])
    expect((await ada.fetch(`/p/${sha256Hex(Buffer.from('foreign'))}`)).status).toBe(404)
  })

  it.each<[string, Pick<PageRequest, 'origin' | 'site'>]>([
    ['no origin', { origin: null, site: null }],
    ['no origin, and the same site', { origin: null, site: 'same-origin' }],
    ['the right origin, and another site', { origin: HOME, site: 'cross-site' }],
    ['the right origin, and a sibling', { origin: HOME, site: 'same-site' }],
    ['the right origin, and nobody', { origin: HOME, site: 'none' }],
    ['http in place of https', { origin: 'http://lade.example', site: 'cross-site' }],
    ['another port', { origin: 'https://lade.example:8443', site: 'same-site' }],
    ['a longer name', { origin: 'https://lade.example.evil.example', site: null }],
    ['a name with a user', { origin: 'https://lade.example@evil.example', site: null }],
    ['the right origin with a path', { origin: `${HOME}/`, site: null }],
    ['the right origin in capitals', { origin: 'HTTPS://LADE.EXAMPLE', site: null }],
    ['two origins', { origin: `${HOME}, https://evil.example`, site: null }],
    ['the origin of content', { origin: CONTENT, site: null }],
    ['no origin that can be read', { origin: 'lade.example', site: null }],
  ])('is told by %s', async (_name, page) => {
    for (const [name, path, request] of CHANGES) {
      expect(await ada.statusOf(path, { ...request, ...page }), name).toBe('403 foreign_origin')
    }
  })

  it('reads nothing either', async () => {
    for (const path of [
      '/api/session',
      '/api/sessions',
      '/api/files',
      '/api/usage',
      '/api/tokens',
      `/api/files/${CID}`,
    ]) {
      for (const site of ['cross-site', 'same-site'])
        expect(await ada.statusOf(path, { site })).toBe('403 foreign_origin')
      for (const site of ['same-origin', 'none', null]) expect(await ada.statusOf(path, { site })).toBe('200')
      expect((await ada.fetch(path)).headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('may do what it may with a token, which counts before the cookie', async () => {
    const { token } = await ada.json<{ token: string }>('/api/auth/signup', {
      method: 'POST',
      json: { email: ADA, label: 'ci', scopes: ['put'] },
    })
    const page = { origin: 'https://evil.example', site: 'cross-site' }
    const headers = { ...OCTETS, ...bearer(token) }
    expect(await ada.statusOf(`/api/upload?cid=${CID}`, { method: 'POST', body: TEXT, headers, ...page })).toBe('200')
    expect(await ada.statusOf('/api/files', { headers: bearer(token) })).toBe('403 insufficient_scope')
    expect(await ada.statusOf('/api/files', { headers: bearer('pk_live_x') })).toBe('401 invalid_token')
    expect(await ada.statusOf('/api/files', { headers: { authorization: 'Basic eDp5' } })).toBe('401 invalid_token')
  })
})

describe('the cookie', () => {
  it('is for https and this host alone, where the service is reached by https', async () => {
    const browser = new TestBrowser(address, HOME)
    await browser.signIn({ email: ADA })
    expect(browser.setCookie).toMatch(
      /^__Host-lade-session=[A-Za-z0-9_-]{43}; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
    // Another name is nobody's, also with the right secret: a sibling could have set it.
    const stolen = new TestBrowser(address, HOME)
    stolen.cookie = browser.cookie?.replace('__Host-', '')
    expect(await stolen.json('/api/session')).toMatchObject({ session: null })
    await browser.fetch('/api/session', { method: 'DELETE' })
    expect(browser.setCookie).toBe('__Host-lade-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Strict')
  })

  it('is for the API alone, where the service is reached by http', async () => {
    const plain = await runService()
    const browser = new TestBrowser(plain)
    await browser.signIn({ email: ADA })
    expect(browser.setCookie).toMatch(/^lade-session=[^;]+; Max-Age=2592000; Path=\/api; HttpOnly; SameSite=Strict$/)
    const byName = new TestBrowser(plain, plain.url.replace('127.0.0.1', 'localhost'))
    expect((await byName.signIn({ email: ADA })).status).toBe(200)
    expect(await byName.statusOf('/api/auth/signup', { method: 'POST', json: { email: ADA, label: 'x' } })).toBe('200')
    await plain.remove()
  })

  it('is Secure behind a trusted proxy that says https, or there is none', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.5' }
    const proxied = { LADE_TRUSTED_PROXIES: '127.0.0.1' }
    const named = await runService({ env: { ...proxied, LADE_HOST: '0.0.0.0', LADE_TRUSTED_HOSTS: 'lade.example' } })
    const browser = new TestBrowser({ url: named.url.replace('0.0.0.0', '127.0.0.1') }, HOME)
    expect((await browser.signIn({ email: ADA }, { headers: forwarded })).status).toBe(200)
    expect(browser.setCookie).toMatch(
      /^__Host-lade-session=[^;]+; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    )
    await named.remove()

    // Nobody has told it that it is reached by https.
    const unnamed = await runService({ env: proxied })
    const other = new TestBrowser(unnamed, unnamed.url.replace('http:', 'https:'))
    expect((await other.signIn({ email: ADA }, { headers: forwarded })).status).toBe(403)
    expect(other.setCookie).toBeNull()
    await unnamed.remove()
  })

  it('opens no private file where content is shown, nor is it looked at there', async () => {
    const text = 'private'
    const cid = sha256Hex(Buffer.from(text))
    const headers = { ...OCTETS, 'x-visibility': 'private' }
    const plain = await runService()
    const browser = new TestBrowser(plain)
    await browser.signIn({ email: ADA })
    const staged = await browser.fetch(`/api/upload?cid=${cid}`, { method: 'POST', body: text, headers })
    const { pieceCid } = (await staged.json()) as { pieceCid: string }
    for (const path of [`/p/${cid}`, `/piece/${pieceCid}`, `/ipfs/f01551220${cid}?format=raw`]) {
      for (const site of ['same-origin', 'cross-site']) {
        const response = await browser.fetch(path, { site })
        expect(response.status, path).toBe(404)
      }
    }
    const challenge = await browser.fetch(`/p/${cid}/challenge`, { method: 'POST', json: { nonce: 'abcdefgh' } })
    expect(challenge.status).toBe(404)
    const { url } = await browser.json<{ url: string }>(`/api/files/${cid}/share`, {
      method: 'POST',
      json: { ttlSeconds: 300 },
    })
    expect(await (await fetch(url)).text()).toBe(text)
    await plain.remove()
  })

  it('cannot be chosen by somebody else before the sign-in', async () => {
    const planted = '__Host-lade-session=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    const victim = new TestBrowser(address, HOME)
    victim.cookie = planted
    expect((await victim.signIn({ email: ADA })).status).toBe(200)
    expect(victim.cookie).not.toBe(planted)
    const attacker = new TestBrowser(address, HOME)
    attacker.cookie = planted
    expect(await attacker.json('/api/session')).toMatchObject({ session: null })

    // Also one that is good: of a session that the attacker has, and left in the victim's browser.
    await attacker.signIn({ email: 'eve@example.org' })
    const left = attacker.cookie
    victim.cookie = left
    await victim.signIn({ email: ADA })
    attacker.cookie = left
    expect(await attacker.statusOf('/api/files')).toBe('401 invalid_session')
    expect(await victim.json('/api/session')).toMatchObject({ session: { email: ADA } })
  })

  it('is refused where there are two of them, since nobody knows whose the other is', async () => {
    const browser = new TestBrowser(address, HOME)
    await browser.signIn({ email: ADA })
    const [name = ''] = browser.cookie?.split('=') ?? []
    for (const cookie of [`${browser.cookie}; ${name}=x`, `${name}=x; ${browser.cookie}`]) {
      expect(await browser.statusOf('/api/files', { headers: { cookie } })).toBe('401 invalid_session')
    }
    expect(await browser.statusOf('/api/files', { headers: { cookie: `a=b; ${browser.cookie}; c` } })).toBe('200')
  })

  it.each(['', 'x', 'a'.repeat(43), `${'a'.repeat(42)}=`, 'ä'.repeat(20), "' OR 1=1 --", 'a'.repeat(8000)])(
    'opens nothing with the value %j',
    async (value) => {
      const headers = { cookie: `__Host-lade-session=${Buffer.from(value).toString('latin1')}` }
      expect(await ada.statusOf('/api/files', { headers })).toBe('401 invalid_session')
    },
  )
})
