import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { describeScenario, pathOf, program } from '../faults/harness.ts'
import { type Chromium, type Page, startChromium } from './chromium.ts'
import { checkLooks as looksOf } from './console-looks.ts'
import { type ConsolePage, consolePage } from './console-page.ts'
import { type Lade, startLade } from './lade.ts'
import { openTempHome, type TempHome } from './temp-home.ts'

const MAIN = fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))
const ADA = 'ada@example.org'
const CONTENT = 'Something that somebody complains about'
const CID = createHash('sha256').update(CONTENT).digest('hex')

describeScenario(
  { id: 'console-admin', name: "the operator's pages in Chromium", needs: [program('chromium', 'chromium')] },
  () => {
    let home: TempHome
    let service: Lade
    let tokens: { readonly admin: string; readonly ada: string }
    let chromium: Chromium
    let page: Page
    let console_: ConsolePage

    beforeAll(async () => {
      home = openTempHome('console-admin')
      const dataDir = join(home.path, 'data')
      const settings = { LADE_PORT: '0', LADE_MIN_FREE_MB: '0', LADE_SIGNUP: 'closed', LADE_LOG_LEVEL: 'warn' }
      service = await startLade({ ...settings, LADE_DATA_DIR: dataDir })
      const mint = async (email: string, ...more: string[]): Promise<string> => {
        const args = [MAIN, 'keys', 'mint', '--data-dir', dataDir, '--email', email, ...more]
        return (await promisify(execFile)(process.execPath, args)).stdout.trim()
      }
      tokens = { admin: await mint('ops@example.org', '--scopes', 'admin'), ada: await mint(ADA) }
      await upload('complaint.txt', CONTENT)
      for (let index = 0; index < 5; index += 1)
        await upload(`holiday-${index}.txt`, `A day by the sea, number ${index}`)
    })
    afterAll(async () => {
      await service.stop()
      home.discard()
    })
    beforeEach(async () => {
      chromium = await startChromium(pathOf('chromium') ?? '')
      page = await chromium.newPage()
      console_ = consolePage(page)
      await page.look({ width: 1440, height: 900, scheme: 'light' })
    })
    afterEach(() => chromium.close())

    const at = (path: string) => new URL(path, service.url)
    const statusOf = async () => (await fetch(at(`/p/${CID}`))).status
    const checkLooks = (name: string) => looksOf(page, console_, name)
    const hasText = (text: string) => `document.querySelector('#main').innerText.includes(${JSON.stringify(text)})`

    async function upload(name: string, content: string): Promise<void> {
      const cid = createHash('sha256').update(content).digest('hex')
      const headers = { 'content-type': 'text/plain', 'x-filename': name, authorization: `Bearer ${tokens.ada}` }
      const response = await fetch(at(`/api/upload?cid=${cid}`), { method: 'POST', body: content, headers })
      expect(response.status).toBe(200)
    }

    async function signIn(token: string): Promise<void> {
      await page.open(at('/#/sign-in').href)
      await console_.fill('input[type=password], textarea', token)
      await console_.click('form button[type=submit]', 'Sign in')
      await console_.sees('who has signed in', 'document.querySelector(".account")')
      // The page goes on to another one then, whatever address it has been given meanwhile.
      await console_.sees('the page behind', 'location.hash !== "#/sign-in" && document.querySelector("h1")')
    }

    test('shows totals, callers, files, blocks and the audit log', async () => {
      await signIn(tokens.admin)
      await console_.click('.nav a', 'Admin')
      await console_.sees('the totals', hasText('Background jobs'))
      await console_.sees('the chart', 'document.querySelector(".usage-chart canvas")')
      await checkLooks('admin-overview')
      const tabs = [
        ['Callers', ADA],
        ['Files', 'complaint.txt'],
        ['Blocks', 'No content is blocked'],
        ['Audit log', 'token.first_used'],
      ]
      for (const [tab = '', text = ''] of tabs) {
        await console_.click('.tabs a', tab)
        await console_.sees(tab, hasText(text))
        await checkLooks(`admin-${tab.toLowerCase().replace(' ', '-')}`)
      }
      await console_.click('.filters a', 'Download as JSON lines')
      expect(page.complaints()).toEqual([])
    })

    test('sets limits of a caller, and blocks and unblocks it', async () => {
      await signIn(tokens.admin)
      await console_.goTo('#/admin/callers')
      await console_.fill('input[type=search]', ADA)
      await console_.sees('the caller alone', 'document.querySelectorAll(".file-name a").length === 1')
      await console_.click('.file-name a', ADA)
      await console_.fill('dialog input[type=number]', '512')
      await console_.click('dialog button', 'Save')
      await console_.sees('that it is saved', 'document.querySelector("dialog [role=status]").textContent === "Saved."')
      const usage = async () => {
        const response = await fetch(at('/api/usage'), { headers: { authorization: `Bearer ${tokens.ada}` } })
        return response.status === 200
          ? ((await response.json()) as { quotaBytes: number }).quotaBytes
          : response.status
      }
      expect(await usage()).toBe(512 * 1_048_576)
      await checkLooks('admin-caller')
      await console_.fill('dialog input[maxlength="500"]', 'Spam')
      await console_.click('dialog button', 'Block')
      await expect.poll(usage).toBe(403)
      await console_.sees(
        'why it is blocked',
        'document.querySelector("dialog .notice-warning")?.innerText.includes("Spam")',
      )
      await checkLooks('admin-caller-blocked')
      await page.press('Escape')
      await console_.sees(
        'that it is blocked',
        'document.querySelector(".file-name small")?.innerText.includes("Blocked")',
      )
      await console_.click('.tabs a', 'Blocks')
      await console_.sees('the blocked caller', hasText('Spam'))
      await checkLooks('admin-blocked')
      await console_.click('.row-button button', 'Unblock')
      await expect.poll(usage).toBe(512 * 1_048_576)
      expect(page.complaints()).toEqual([])
    })

    test('blocks a file where it is seen, and unblocks it', async () => {
      await signIn(tokens.admin)
      await console_.goTo('#/admin/files')
      await console_.fill('input[type=search]', 'complaint')
      await console_.sees('the file alone', 'document.querySelectorAll(".file-name a").length === 1')
      await console_.click('.row-button button', 'Block')
      await console_.sees('the dialog', 'document.querySelector("dialog[open]")')
      await checkLooks('admin-block')
      await console_.fill('dialog input[maxlength="500"]', 'Complaint 1234')
      await console_.click('dialog button[type=submit]', 'Block')
      await console_.sees(
        'what it did',
        'document.querySelector("dialog [role=status]").textContent.includes("1 live file")',
      )
      expect(await statusOf()).toBe(451)
      await page.press('Escape')
      await console_.sees('that it is blocked', 'document.querySelector(".row-button .tag")?.textContent === "Blocked"')
      await console_.click('.tabs a', 'Blocks')
      await console_.sees('the reason', hasText('Complaint 1234'))
      await console_.click('.row-button button', 'Unblock')
      await expect.poll(statusOf).toBe(200)
      await console_.fill('input[minlength="8"]', CID)
      await console_.click('button', 'Block by content id')
      await console_.sees('the dialog', 'document.querySelector("dialog[open]")')
      await page.press('Escape')
      expect(await statusOf()).toBe(200)
    })

    test('is not there for a session without the scope, and the service says why', async () => {
      await signIn(tokens.ada)
      expect(await page.evaluate('document.querySelector(".nav").innerText.includes("Admin")')).toBe(false)
      await console_.goTo('#/admin')
      await console_.sees('the refusal', 'document.querySelector(".notice-bad")?.innerText.includes("scope")')
      await checkLooks('admin-refused')
    })
  },
)
