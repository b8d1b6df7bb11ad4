import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildDirectory, type PathEntry } from '@lade/core/dag'
import { sha256 } from '@lade/node/hashing/sha256'
import { type MailServer, openMailServer } from '@lade/server/testing/mail-server'
import { CID } from 'multiformats/cid'
import { create as createDigest } from 'multiformats/hashes/digest'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium, type View } from './chromium.ts'
import { checkLooks } from './console-looks.ts'
import { type ConsolePage, consolePage } from './console-page.ts'
import { freePort } from './free-port.ts'
import type { Hands } from './hands.ts'
import { keyboardHands } from './keyboard-hands.ts'
import { type Lade, startLade } from './lade.ts'
import { PICTURE } from './newcomer-files.ts'
import { pointerHands } from './pointer-hands.ts'
import { watchUploads } from './sent-uploads.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const RAW = 0x55
const SHA2_256 = 0x12
const MIB = 1_048_576
const ADA = 'ada@example.org'
const DESK: View = { width: 1440, height: 900, scheme: 'light' }
const CHOOSE_FOLDER = '#choose-folder'

/** 60 files in three levels, one of them empty, and two that are hidden. */
const FILES: ReadonlyMap<string, Uint8Array> = new Map<string, Uint8Array>([
  ['index.html', Buffer.from('<!doctype html><title>A holiday</title><h1>A holiday</h1>')],
  ['picture.png', PICTURE],
  ['notes.txt', Buffer.from('Viele Grüße aus Köln\n')],
  ['README', Buffer.from('Read this first.\n')],
  ['empty.txt', new Uint8Array()],
  ...numbered(20, (at) => `docs/page ${at}.txt`),
  ...numbered(35, (at) => `docs/deep & wide/leaf-${at}.bin`),
])
const HIDDEN = new Map([
  ['.env', Buffer.from('SECRET=1')],
  ['docs/.git/config', Buffer.from('[core]')],
])

function numbered(count: number, nameOf: (at: number) => string): [string, Uint8Array][] {
  return Array.from({ length: count }, (_, at) => [nameOf(at), Buffer.from(`${nameOf(at)} has these words.\n`)])
}

function rootOf(files: ReadonlyMap<string, Uint8Array>): string {
  const entries = [...files].map(([path, bytes]): PathEntry => {
    const cid = CID.createV1(RAW, createDigest(SHA2_256, sha256.of(bytes)))
    return { path, kind: 'file', cid, dagBytes: bytes.length, sizeBytes: bytes.length }
  })
  return buildDirectory({ entries: [...entries, { path: 'nothing', kind: 'folder' }], sha256 }).root.toString()
}

function writeFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): string {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  mkdirSync(join(folder, 'nothing'), { recursive: true })
  return folder
}

const rowsIn = (state: string) => `document.querySelectorAll('.row[data-state=${state}]').length`
const heads = (text: string) => `document.querySelector('h1')?.textContent === ${JSON.stringify(text)}`

describeScenario(
  { id: 'console-folders', name: 'folders in the console', needs: [program('chromium', 'chromium')] },
  () => {
    let home: TempHome
    let inbox: MailServer
    let service: Lade
    let chromium: Chromium
    let page: Page
    let console_: ConsolePage

    beforeAll(async () => {
      home = openTempHome('console-folders')
      inbox = await openMailServer()
      const port = await freePort()
      service = await startLade({
        LADE_PORT: String(port),
        LADE_DATA_DIR: join(home.path, 'data'),
        LADE_MIN_FREE_MB: '0',
        LADE_LOG_LEVEL: 'warn',
        LADE_SITES_URL: `http://*.ipfs.localhost:${port}`,
        ...inbox.settings,
      })
    })
    afterAll(async () => {
      await service.stop()
      await inbox.close()
      home.discard()
    })
    beforeEach(async () => {
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      console_ = consolePage(page)
      await page.look(DESK)
    })
    afterEach(() => chromium.close())

    async function signIn(email: string): Promise<void> {
      await page.open(service.url.href)
      await console_.goTo('#/sign-in')
      await console_.fill('input[type=email]', email)
      const before = inbox.countFor(email)
      await console_.click('button[type=submit]')
      await console_.sees('the field of the code', 'document.querySelector("input.code")')
      await expect.poll(() => inbox.countFor(email)).toBe(before + 1)
      await console_.fill('input.code', inbox.codeFor(email))
      await console_.click('button[type=submit]')
      await console_.sees('the files', 'location.hash === "#/files" && document.querySelector(".filters")')
    }

    async function film(hands: Hands, step: string, subject?: string): Promise<void> {
      await hands.rest(step)
      await checkLooks(page, console_, `folders-${step}`, { after: DESK, ...(subject !== undefined && { subject }) })
    }

    /** Closes the dialog, and waits until the focus is back. */
    async function close(hands: Hands): Promise<void> {
      await hands.close()
      await console_.sees('that the dialog is closed', '!document.querySelector("dialog")')
    }

    test('a dropped folder is one row, opens, is previewed, shared and removed, with the keyboard alone', async () => {
      const root = rootOf(FILES)
      await signIn(ADA)
      await console_.goTo('#/')
      await console_.sees('the limits', 'document.querySelector(".facts dd")')
      const folder = writeFolder(join(home.path, 'holiday'), new Map([...FILES, ...HIDDEN]))
      await pointerHands(page).drop([folder])
      await console_.sees('that it has arrived', `${rowsIn('done')} === 1`)
      const hands = keyboardHands(page)
      expect(await page.evaluate('document.querySelectorAll(".row").length')).toBe(1)
      const row = String(await page.evaluate('document.querySelector(".row").innerText'))
      expect(row).toContain('60 files')
      expect(row).toContain('2 hidden files are left out')
      const links = '[...document.querySelectorAll(".result a")].map((one) => one.href)'
      await console_.sees('the link to the site', `${links}.some((one) => one.includes('ipfs.localhost'))`)
      const [link, , site] = (await page.evaluate(links)) as string[]
      expect(link).toBe(new URL(`/p/${root}/`, service.url).href)
      expect(site).toBe(`http://${root}.ipfs.localhost:${service.url.port}/`)
      expect(await (await fetch(link ?? '')).text()).toContain('A holiday')
      await film(hands, 'uploaded')

      await hands.use('.result a', 'Show contents')
      await console_.sees(
        'the folder',
        `${heads('holiday')} && document.querySelectorAll(".folder-table tbody tr").length === 7`,
      )
      await film(hands, 'opened')
      await hands.use('.file-name a', 'docs')
      await console_.sees(
        'what is in docs',
        `${heads('docs')} && document.querySelectorAll(".folder-table tbody tr").length === 21`,
      )
      await hands.use('.file-name a', 'deep & wide')
      await console_.sees('the third level', heads('deep & wide'))
      await film(hands, 'deep')
      const deep = String(await page.evaluate('location.href'))
      await page.open('about:blank')
      await page.open(deep)
      await console_.sees(
        'the same after a reload',
        `${heads('deep & wide')} && document.querySelectorAll(".folder-table tbody tr").length === 35`,
      )
      await hands.use('.crumbs a', 'docs')
      await console_.sees('docs again', heads('docs'))
      await hands.rest('docs', 'h1')
      await hands.use('.crumbs a', 'holiday')
      await console_.sees('the root again', heads('holiday'))

      await hands.use('.file-name a', 'nothing')
      await console_.sees('that it is empty', 'document.querySelector(".empty")')
      await film(hands, 'empty')
      await hands.use('.crumbs a', 'holiday')
      await console_.sees('the root again', heads('holiday'))
      await hands.use('.file-name a', 'picture.png')
      await console_.sees('the picture', 'document.querySelector("img.preview")?.naturalWidth > 0')
      await film(hands, 'picture')
      await hands.goRound()
      await close(hands)
      await hands.rest('closed', '.file-name a')
      await hands.use('.file-name a', 'README')
      await console_.sees('the text', 'document.querySelector("iframe.preview")')
      await film(hands, 'text')
      await close(hands)

      await hands.use('button', 'Details and changes')
      await console_.sees('the details', 'document.querySelector("dialog[open] .timeline")')
      await film(hands, 'details')
      await hands.use('button', 'Make private')
      await console_.sees(
        'that it is private',
        'document.querySelector("dialog .sheet-facts")?.innerText.includes("Private")',
      )
      expect((await fetch(link ?? '')).status).toBe(404)
      await hands.use('button', 'Make a link')
      await console_.sees('the link', 'document.querySelector(".shared code")')
      const shared = String(await page.evaluate('document.querySelector(".shared code").title'))
      expect(shared).toMatch(new RegExp(`^${service.url.origin}/share/[^/]+/${root}/$`))
      await film(hands, 'shared', '.shared')
      await close(hands)
      await console_.sees('that it is private', '/Private/.test(document.querySelector(".folder-head").innerText)')
      await hands.use('.file-name a', 'picture.png')
      await console_.sees('the private picture', 'document.querySelector("img.preview")?.naturalWidth > 0')
      await close(hands)
      await hands.use('.file-name a', 'notes.txt')
      await console_.sees('the private text', 'document.querySelector("iframe.preview")?.src.includes("/share/")')
      await film(hands, 'private-text')
      await close(hands)
      expect(page.complaints()).toEqual([])

      const other = await startChromium(pathOf('chromium') ?? '')
      try {
        const stranger = await other.newPage()
        await stranger.open(shared)
        expect(await stranger.evaluate('document.title')).toBe('A holiday')
        await stranger.open(new URL('docs/', shared).href)
        expect(await stranger.evaluate('document.body.innerText.includes("page 7.txt")')).toBe(true)
      } finally {
        await other.close()
      }

      await hands.use('.crumbs a', 'All files')
      await console_.sees(
        'the list of files',
        'document.querySelector(".filters") && document.querySelectorAll(".file-name").length === 1',
      )
      expect(await page.evaluate('document.querySelector(".file-name").innerText')).toContain('60 files')
      await film(hands, 'listed')
      await hands.use('.file-name a', 'holiday')
      await console_.sees('the folder', heads('holiday'))
      await hands.use('button', 'Details and changes')
      await console_.sees('the details', 'document.querySelector("dialog[open] .timeline")')
      await hands.use('button', 'Remove')
      await console_.sees('the question', 'document.querySelectorAll("dialog[open]").length === 2')
      await film(hands, 'remove')
      await hands.use('button', 'Remove')
      await console_.sees('that nothing is left', 'location.hash === "#/files" && document.querySelector(".empty")')
      expect((await fetch(shared)).status).toBe(410)
      await page.open('about:blank')
      await page.open(deep)
      await console_.sees(
        'that it is gone',
        'document.querySelector(".empty h2")?.textContent === "There is nothing here"',
      )
      await film(hands, 'gone')
    })

    test('without an account a folder is claimed later; files beside it stay files, and what is hidden is taken when somebody asks', async () => {
      await page.open(service.url.href)
      await console_.sees('the limits', 'document.querySelector(".facts dd")')
      const own = new Map(FILES).set('notes.txt', randomBytes(100))
      const folder = writeFolder(join(home.path, 'trip'), new Map([...own, ...HIDDEN]))
      writeFileSync(join(home.path, 'beside.txt'), randomBytes(50))
      await pointerHands(page).drop([folder, join(home.path, 'beside.txt')])
      await console_.sees('that both have arrived', `${rowsIn('done')} === 2`)
      await console_.sees('all files', 'document.body.innerText.includes("61 of 61 files uploaded")')
      await checkLooks(page, console_, 'folders-anonymous')
      await console_.click('.button-text', 'Upload them too')
      await console_.sees('a third row', `${rowsIn('done')} === 3`)
      await console_.click('button[aria-label="Details: trip"]')
      await console_.sees('its root', 'document.querySelector(".result code")')
      expect(await page.evaluate('document.querySelector(".result code").textContent')).toBe(
        rootOf(new Map([...own, ...HIDDEN])),
      )
      await page.open(service.url.href)
      await console_.sees('the links of before', 'document.querySelectorAll(".row .row-name").length === 3')
      await signIn('grace@example.org')
      await console_.click('button', 'Add to my account')
      await console_.sees('that all are claimed', '!document.querySelector("#claims-title")')
      await console_.sees('the three', 'document.querySelectorAll(".file-name").length === 3')
    })

    test('a folder is paused, goes on after a reload, and is cancelled: what has arrived is not sent again', async () => {
      await signIn('lin@example.org')
      await console_.goTo('#/')
      const files = new Map(Array.from({ length: 12 }, (_, at) => [`part-${at}.bin`, randomBytes(2 * MIB)] as const))
      const folder = writeFolder(join(home.path, 'large'), files)
      await page.slowDown({ upBytesPerSecond: 4 * MIB })
      await page.chooseFiles(CHOOSE_FOLDER, [folder])
      const said = '/(\\d+) of 12 files/.exec(document.querySelector(".row")?.innerText)?.[1]'
      await console_.sees('that some have arrived', `Number(${said}) >= 3`)
      await checkLooks(page, console_, 'folders-sending')
      await page.slowDown({})
      await console_.click('.panel-actions button', 'Pause')
      await console_.sees('that it is paused', 'document.querySelector(".queue-words .tag")?.textContent === "Paused"')
      const arrived = Number(await page.evaluate(said))
      expect(arrived).toBeLessThan(12)
      await page.command('Page.reload')
      await console_.sees('what was not finished', 'document.body.innerText.includes("Not finished last time")')
      await checkLooks(page, console_, 'folders-unfinished')
      const sent = await watchUploads(page)
      await page.chooseFiles(CHOOSE_FOLDER, [folder])
      await console_.sees('the end', `${rowsIn('done')} === 1`)
      expect(sent.ids().length).toBeGreaterThan(0)
      expect(sent.ids().length).toBeLessThanOrEqual(12 - arrived)

      const other = new Map([['film.bin', randomBytes(30 * MIB)]])
      await page.slowDown({ upBytesPerSecond: MIB })
      await page.chooseFiles(CHOOSE_FOLDER, [writeFolder(join(home.path, 'other'), other)])
      await console_.sees('that it is sent', `${rowsIn('sending')} === 1`)
      await console_.click('button[aria-label="Cancel: other"]')
      await console_.sees('that it is gone', 'document.querySelectorAll(".row").length === 1')
      await page.slowDown({})
      await console_.goTo('#/files')
      await console_.sees('the first folder alone', 'document.querySelectorAll(".file-name").length === 1')
    })

    test('says why a folder with a private file stays private, lists a long folder page by page, and what is not there', async () => {
      const visitor = pointerHands(page)
      await signIn('edsger@example.org')
      await console_.goTo('#/')
      await console_.click('.choice-check input')
      const files = new Map<string, Uint8Array>(numbered(700, (at) => `note-${at}.txt`))
      const folder = writeFolder(join(home.path, 'notes'), files)
      await page.chooseFiles('#choose-files', [join(folder, 'note-7.txt')])
      await console_.sees('the file', `${rowsIn('done')} === 1`)
      await visitor.drop([folder])
      await console_.sees('the folder', `${rowsIn('done')} === 2`)
      await console_.goTo(`#/files/${rootOf(files)}/`)
      await console_.sees(
        'the first page',
        'document.querySelector(".folder-count")?.textContent === "The first 250 entries"',
      )
      const toEnd = 'scrollTo(0, document.body.scrollHeight), document.querySelector(".folder-count").textContent'
      await expect.poll(() => page.evaluate(toEnd)).toBe('701 entries')
      await console_.click('button', 'Details and changes')
      await console_.click('dialog button', 'Make public')
      await console_.sees(
        'why it stays private',
        '/1 file is private, such as/.test(document.querySelector("dialog [role=alert]")?.innerText)',
      )
      await checkLooks(page, console_, 'folders-stays-private', { subject: 'dialog [role=alert]' })
      await close(visitor)
      await console_.goTo(`#/files/${rootOf(files)}/no/such/place/`)
      await console_.sees(
        'that nothing is there',
        'document.querySelector(".empty h2")?.textContent === "There is nothing here"',
      )
      await checkLooks(page, console_, 'folders-not-found')
      await visitor.use('.empty a', 'Go to the top of the folder')
      await console_.sees('the top', heads('notes'))

      await console_.choose('.language select', 'de')
      await console_.sees('it in German', 'document.querySelector(".crumbs a")?.textContent === "Alle Dateien"')
      await checkLooks(page, console_, 'folders-german')
      await console_.goTo('#/')
      await console_.sees('the rows', `${rowsIn('done')} === 2`)
      await checkLooks(page, console_, 'folders-german-upload')
    })
  },
)
