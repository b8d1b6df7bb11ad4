import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLadeClient } from '@lade/client'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startOwnServer } from '../acceptance/own-server.ts'
import type { OwnServer } from '../acceptance/server-under-test.ts'
import { describeScenario, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium } from './testing/chromium.ts'
import { cidOf, served } from './testing/content.ts'
import { type PageServer, servePage } from './testing/page-server.ts'

const POLL = { timeout: 20_000, interval: 20 }
const SLOW_BYTES_PER_SECOND = 400_000

/** What the page shows of one file. */
interface Row {
  readonly name: string
  readonly what: string
  readonly words: string
  readonly button: string
  readonly hasProgress: boolean
  readonly cid: string | null
  readonly link: string | null
}

const ROWS = `[...document.querySelectorAll('.file')].map((row) => ({
  name: row.querySelector('.name').textContent,
  what: row.dataset.state,
  words: row.querySelector('.state').textContent,
  button: row.querySelector('button').textContent,
  hasProgress: !row.querySelector('progress').hidden,
  cid: row.querySelector('dl').hidden ? null : row.querySelector('.cid').textContent,
  link: row.querySelector('dl').hidden ? null : row.querySelector('.link').href,
}))`

describeScenario({ id: 'browser-example', name: 'browser', needs: [program('chromium', 'chromium')] }, () => {
  let server: OwnServer
  let pages: PageServer
  let chromium: Chromium
  let dir = ''
  let page: Page

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'lade-browser-'))
    server = await startOwnServer({ LADE_MIN_FREE_MB: '0', LADE_LOG_LEVEL: 'silent' })
    pages = await servePage()
    chromium = await startChromium()
  })
  afterAll(async () => {
    await chromium?.close()
    await pages?.stop()
    await server?.discard()
    await rm(dir, { recursive: true, force: true })
  })
  beforeEach(async () => {
    page = await chromium.open(pages.url)
  })

  /** Writes new files of so many bytes, and gives their paths and bytes. */
  async function newFiles(sizes: Readonly<Record<string, number>>) {
    const files = Object.entries(sizes).map(([name, size]) => ({ path: join(dir, name), bytes: randomBytes(size) }))
    for (const { path, bytes } of files) await writeFile(path, bytes)
    return { paths: files.map(({ path }) => path), bytes: files.map(({ bytes }) => bytes) }
  }

  /** Types into a field as a user does, in place of what is there. */
  async function type(id: string, text: string): Promise<void> {
    await page.evaluate(`document.getElementById('${id}').select()`)
    await page.call('Input.insertText', { text })
  }

  async function press(key: string, code: number): Promise<void> {
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(key === 'Enter' && { text: '\r' }) }
    await page.call('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
    await page.call('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }

  async function choose(paths: readonly string[]): Promise<void> {
    const { root } = await page.call<{ root: { nodeId: number } }>('DOM.getDocument')
    const input = { nodeId: root.nodeId, selector: 'input[type=file]' }
    const { nodeId } = await page.call<{ nodeId: number }>('DOM.querySelector', input)
    await page.call('DOM.setFileInputFiles', { nodeId, files: paths })
  }

  /** Drops files at a place of the page, as a file manager does. */
  async function dropAt(x: number, y: number, paths: readonly string[]): Promise<void> {
    const data = { items: [], files: paths, dragOperationsMask: 1 }
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await page.call('Input.dispatchDragEvent', { type, x, y, data })
  }

  const news = () => page.evaluate<string>(`document.querySelector('[role=status]').textContent`)

  const rows = () => page.evaluate<Row[]>(ROWS)

  /** The rows, once each is in the state that is expected of it. */
  async function rowsOnce(...expected: readonly string[]): Promise<Row[]> {
    await expect.poll(async () => (await rows()).map(({ what }) => what), POLL).toEqual(expected)
    return rows()
  }

  test('stages files that are chosen, one after the other, and shows the cid and the link of each', async () => {
    const { paths, bytes } = await newFiles({
      'small.txt': 1000,
      'of three leaves.bin': 2_500_000,
      'large.bin': 9_000_000,
    })
    await type('url', server.baseUrl.origin)
    await choose(paths)
    const staged = await rowsOnce('staged', 'staged', 'staged')
    const cids = await Promise.all(bytes.map(cidOf))
    const links = cids.map((cid) => `${server.baseUrl.origin}/p/${cid}`)
    const names = ['small.txt', 'of three leaves.bin', 'large.bin']
    expect(staged).toEqual(
      names.map((name, at) => ({
        name,
        what: 'staged',
        words: 'Staged',
        button: 'Copy cid',
        hasProgress: false,
        cid: cids[at],
        link: links[at],
      })),
    )
    expect(await news()).toBe('large.bin is staged.')
    for (const [at, link] of links.entries()) expect((await served(link)).equals(bytes[at] ?? Buffer.of())).toBe(true)
    expect(page.complaints).toEqual([])
    // A worker that cannot be loaded is no error of the page: the client hashes without it, and slowly.
    expect(pages.printed()).not.toContain('There is no')
  })

  test('stages files that are dropped beside the place for it, as the owner of a token that it puts nowhere', async () => {
    const { token } = await createLadeClient({ url: server.baseUrl }).signup({
      email: 'drop@example.org',
      label: 'page',
    })
    const { paths, bytes } = await newFiles({ 'dropped.bin': 2000 })
    await type('url', server.baseUrl.origin)
    await type('token', token)
    await dropAt(5, 5, paths)
    const [row] = await rowsOnce('staged')
    expect(row?.cid).toBe(await cidOf(bytes[0] ?? Buffer.of()))
    const client = createLadeClient({ url: server.baseUrl, token })
    expect((await client.files.page()).files).toMatchObject([{ cid: row?.cid, filename: 'dropped.bin' }])
    const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, history.state])'
    expect(await page.evaluate(kept)).not.toContain('pk_live')
    expect(page.complaints).toEqual([])
  })

  test('shows how far a file is, and cancels it, or one that waits', async () => {
    const { paths } = await newFiles({ 'first.bin': 3_000_000, 'second.bin': 3_000_000 })
    await type('url', server.baseUrl.origin)
    await page.call('Network.enable')
    const slow = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: SLOW_BYTES_PER_SECOND }
    await page.call('Network.emulateNetworkConditions', slow)
    await choose(paths)
    const [first, second] = await rowsOnce('sending', 'waiting')
    expect(first?.words).toMatch(/^Sending, .+ of 2\.9 MiB$/)
    expect([first?.button, first?.hasProgress, second?.words]).toEqual(['Cancel', true, 'Waiting'])
    expect(await page.evaluate<number>(`document.querySelector('progress').value`)).toBeGreaterThanOrEqual(0.5)
    const asksBeforeItCloses = `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`
    expect(await page.evaluate(asksBeforeItCloses)).toBe(true)
    await page.evaluate(`document.querySelectorAll('.act')[1].click()`)
    await rowsOnce('sending', 'failed')
    await page.evaluate(`document.querySelectorAll('.act')[0].click()`)
    const cancelled = await rowsOnce('failed', 'failed')
    expect(cancelled.map(({ words }) => words)).toEqual(['Not staged. Cancelled.', 'Not staged. Cancelled.'])
    expect(await news()).toBe('first.bin is not staged. Cancelled.')
    expect(await page.evaluate(asksBeforeItCloses)).toBe(false)
  })

  test('says in words what is wrong, and tries again with the keyboard once that is corrected', async () => {
    const { paths, bytes } = await newFiles({ 'again.txt': 100 })
    await type('url', server.baseUrl.origin)
    await type('token', 'pk_live_a.b.c')
    await choose(paths)
    const [failed] = await rowsOnce('failed')
    const why =
      'The token is damaged, or was signed with a key that is no longer used. Copy it again, or get a new one with `lade login` or POST /api/auth/signup.'
    const words = `Not staged. ${why} Correct it, or leave it out.`
    expect(failed).toMatchObject({ words, button: 'Try again', cid: null })
    expect(await news()).toBe(`again.txt is not staged. ${why} Correct it, or leave it out.`)

    await type('token', '')
    // From the field over the chooser to the button.
    await press('Tab', 9)
    expect(await page.evaluate('document.activeElement.id')).toBe('choose')
    await press('Tab', 9)
    await press('Enter', 13)
    const [staged] = await rowsOnce('staged')
    expect(staged?.cid).toBe(await cidOf(bytes[0] ?? Buffer.of()))
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy cid')

    const permissions = {
      permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'],
      origin: new URL(pages.url).origin,
    }
    await page.call('Browser.grantPermissions', permissions)
    await press('Enter', 13)
    await expect.poll(rows, POLL).toMatchObject([{ words: 'Staged, cid copied' }])
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(staged?.cid)
  })

  test.each([
    ['no address', 'lade', /^Nothing is staged: correct the address of the service first\.$/, []],
    ['nobody there', 'http://127.0.0.1:2', /Cannot reach http.*\..* Is the address right, and does/, ['failed']],
  ])('says so when the service has %s', async (_, url, said, expected) => {
    const { paths } = await newFiles({ 'nowhere.txt': 100 })
    await type('url', url)
    await choose(paths)
    await rowsOnce(...expected)
    expect(await news()).toMatch(said)
  })

  test('says so when a folder is dropped', async () => {
    await dropAt(5, 5, [dir])
    await rowsOnce()
    expect(await news()).toBe('There is no file in that. Of a folder, drop the files in it.')
  })

  test('shows a name as the text that it is', async () => {
    const name = '<img src=x onerror=alert(1)>.txt'
    const { paths } = await newFiles({ [name]: 100 })
    await type('url', server.baseUrl.origin)
    await choose(paths)
    expect(await rowsOnce('staged')).toMatchObject([{ name }])
    expect(await page.evaluate('document.querySelectorAll("img").length')).toBe(0)
  })

  test('gives every control a name, keeps to a width of 360, and has contrast in light and dark', async () => {
    const { paths } = await newFiles({ [`${'a-long-name-'.repeat(15)}.txt`]: 100, 'other.txt': 100 })
    await type('url', server.baseUrl.origin)
    await choose(paths)
    await rowsOnce('staged', 'staged')
    await type('token', 'pk_live_a.b.c')
    await choose(paths.slice(1))
    await rowsOnce('staged', 'staged', 'failed')

    type AxNode = { ignored: boolean; role?: { value: string }; name?: { value: string } }
    const { nodes } = await page.call<{ nodes: AxNode[] }>('Accessibility.getFullAXTree')
    const controls = nodes.filter(({ role }) =>
      ['textbox', 'button', 'link', 'progressbar'].includes(role?.value ?? ''),
    )
    expect(controls.filter(({ ignored, name }) => !ignored && !name?.value)).toEqual([])
    expect(controls.map(({ name }) => name?.value)).toEqual(
      expect.arrayContaining(['Service', 'Token if you have one', 'Copy cid: other.txt', 'Try again: other.txt']),
    )
    await page.call('Emulation.setDeviceMetricsOverride', {
      width: 360,
      height: 740,
      deviceScaleFactor: 2,
      mobile: true,
    })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
    for (const value of ['light', 'dark']) {
      await page.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value }] })
      expect(await page.evaluate(TOO_FAINT), value).toEqual([])
    }
  })
})

/** Texts of the page whose contrast is less than 4.5 : 1, which is what WCAG 2.2 asks for (1.4.3). */
const TOO_FAINT = `(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number)
  const luminance = (color) => channels(color).slice(0, 3).reduce((sum, channel, at) => {
    const part = channel / 255
    return sum + [0.2126, 0.7152, 0.0722][at] * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
  }, 0)
  const isClear = (color) => channels(color)[3] === 0
  const behind = (element) => {
    const { backgroundColor } = getComputedStyle(element)
    return isClear(backgroundColor) ? behind(element.parentElement) : backgroundColor
  }
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')
  return [...document.body.querySelectorAll('*')].filter((element) => hasText(element) && element.checkVisibility()).flatMap((element) => {
    const [text, back] = [getComputedStyle(element).color, behind(element)].map(luminance)
    const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05)
    return contrast < 4.5 ? [element.className + ' ' + contrast.toFixed(2)] : []
  })
})()`
