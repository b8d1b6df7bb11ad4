import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { Page } from './chromium.ts'
import type { ConsolePage } from './console-page.ts'
import type { Hands } from './hands.ts'
import type { Lade } from './lade.ts'
import { PICTURE, SMALL_FILES, writeFile, writeSmallFiles } from './newcomer-files.ts'
import { type SentUploads, untilLoaded } from './sent-uploads.ts'

const MIB = 1_048_576
const ADA = 'ada@example.org'
const PART_TYPE = 'application/vnd.lade.part'
/** So slow that a large file is seen on its way. */
const UP_BYTES_PER_SECOND = 20 * MIB
const LARGE_MS = 300_000
/** The prover of the service takes new files within a minute. */
const PROOF_MS = 180_000
/** Where the codes arrive. */
interface Inbox {
  countFor(address: string): number
  /** The code of the latest mail. */
  codeFor(address: string): string
}

/** Somebody who opens the console for the first time, and what is around them. */
export interface Newcomer {
  readonly page: Page
  readonly console_: ConsolePage
  readonly hands: Hands
  readonly service: Lade
  readonly inbox: Inbox
  /** A folder of theirs. */
  readonly folder: string
  readonly sent: SentUploads
  readonly sizes: { readonly filmBytes: number; readonly reelBytes: number }
  /** Looks at what is seen at a step. @param subject - what is to be in the middle. */
  film(step: string, subject?: string): Promise<void>
}

/** What came of a walk. */
export interface WalkFigures {
  /** Parts of the large file that had arrived when the page was loaded again, and those of them that were sent once more. */
  readonly arrivedParts: number
  readonly sentAgain: number
}

const rowsIn = (state: string) => `document.querySelectorAll('.row[data-state=${state}]').length`
const reads = (text: string) => `document.body.innerText.includes(${JSON.stringify(text)})`

/** The whole way, from the first look at the page to the end of the session. */
export async function walk(newcomer: Newcomer): Promise<WalkFigures> {
  await uploadWithoutAccount(newcomer)
  await signInByCode(newcomer)
  await claim(newcomer)
  const figures = await uploadLarge(newcomer)
  await findFile(newcomer)
  const shared = await useFile(newcomer)
  await useToken(newcomer)
  await removeFile(newcomer, shared)
  await signOut(newcomer)
  // The client asks which parts are there, and hears of others that they are not.
  expect(newcomer.page.complaints().filter((text) => !text.includes('status of 404'))).toEqual([])
  return figures
}

async function uploadWithoutAccount({ page, console_, hands, service, film, ...rest }: Newcomer): Promise<void> {
  await page.open(service.url.href)
  await console_.sees('the limits', 'document.querySelector(".facts dd")?.textContent === "100 MB"')
  await film('open')
  const files = writeSmallFiles(rest.folder)
  await hands.drop([writeFile(rest.folder, 'film.mp4', randomBytes(rest.sizes.filmBytes))])
  await hands.drop(files)
  await console_.sees(
    'that all have arrived',
    reads(`${SMALL_FILES + 1} of ${SMALL_FILES + 1} files uploaded`),
    LARGE_MS,
  )
  await film('uploaded')
}

async function signInByCode({ console_, hands, inbox, film }: Newcomer): Promise<void> {
  await hands.use('.account-sign-in')
  await console_.sees('the way to sign in', 'document.querySelector("input[type=email]")')
  await hands.write('input[type=email]', ADA)
  await film('sign-in')
  await hands.use('form button', 'Mail the code')
  await console_.sees('the field of the code', 'document.querySelector("input.code")')
  await expect.poll(() => inbox.countFor(ADA), { timeout: 60_000 }).toBe(1)
  await hands.write('input.code', inbox.codeFor(ADA))
  await film('code')
  await hands.use('form button', 'Sign in')
  await console_.sees('the files', 'location.hash === "#/files" && document.querySelector(".filters")')
}

async function claim({ console_, hands, film }: Newcomer): Promise<void> {
  const title = `${SMALL_FILES + 1} files`
  await console_.sees('the offer', `document.querySelector("#claims-title")?.textContent.startsWith("${title}")`)
  await film('claim')
  await hands.use('button', 'Add to my account')
  await console_.sees('that all are claimed', '!document.querySelector("#claims-title")', LARGE_MS)
  await console_.sees('how many there are', reads(`${SMALL_FILES + 1} files,`))
  await film('claimed')
}

/** Sends a large file in parts, loads the page again in the middle, and chooses the file again. */
async function uploadLarge({ page, console_, hands, service, sent, film, ...rest }: Newcomer): Promise<WalkFigures> {
  const path = writeFile(rest.folder, 'reel.mov', randomBytes(rest.sizes.reelBytes))
  await hands.use('.nav a', 'Upload')
  await console_.sees('the first page', 'document.querySelector(".drop")')
  await page.slowDown({ upBytesPerSecond: UP_BYTES_PER_SECOND })
  sent.forget()
  await hands.drop([path])
  const storedParts = async () => (await page.evaluate(PARTS)) as string[]
  await expect.poll(async () => (await storedParts()).length, { timeout: LARGE_MS, interval: 200 }).not.toBe(0)
  // Nothing more of it arrives while it is looked at.
  service.signal('SIGSTOP')
  await film('large', '.row[data-state=sending]')
  expect(await page.evaluate(rowsIn('sending'))).toBe(1)
  service.signal('SIGCONT')

  await untilLoaded(page, () => page.command('Page.reload'))
  expect(page.dialogs()).toContain('beforeunload')
  await page.slowDown({})
  await console_.sees('what was not finished', reads('Not finished last time'))
  await film('unfinished')
  const arrived = await storedParts()
  expect(arrived.length, 'parts that have arrived').toBeGreaterThan(0)
  sent.forget()
  await hands.choose('button', 'Choose again', [path])
  await console_.sees(
    'the parts of before',
    '/parts? (was|were) already stored/.test(document.body.innerText)',
    LARGE_MS,
  )
  await console_.sees('the end', `${rowsIn('done')} === 1`, LARGE_MS)
  await film('resumed')
  const again = sent.ids().filter((cid) => arrived.includes(cid))
  expect(again, 'parts that had arrived and were sent once more').toEqual([])
  expect(sent.ids().length, 'the parts that were missing').toBeGreaterThan(0)
  return { arrivedParts: arrived.length, sentAgain: again.length }
}

async function findFile({ console_, hands, film }: Newcomer): Promise<void> {
  await hands.use('.nav a', 'Files')
  await console_.sees('the list', 'document.querySelectorAll(".file-name").length > 10')
  await hands.write('input[type=search]', 'harbour')
  await console_.sees('the file alone', 'document.querySelectorAll(".file-name").length === 1')
  await film('found')
}

/** Looks at a file, shares it, extends it, and has it proved. @returns the link that is shared. */
async function useFile({ page, console_, hands, film }: Newcomer): Promise<string> {
  await hands.use('.file-name a', 'harbour.png')
  await console_.sees('the preview', 'document.querySelector("img.preview")?.naturalWidth > 0')
  await console_.sees('the deal', 'document.querySelector(".timeline")')
  await film('preview', '.preview')

  await hands.pick('.sheet-part > .control select', '1 hour')
  await hands.use('button', 'Make a link')
  await console_.sees('the link', 'document.querySelector(".shared code")')
  const shared = String(await page.evaluate('document.querySelector(".shared code").title'))
  expect(Buffer.from(await (await fetch(shared)).arrayBuffer()).equals(PICTURE)).toBe(true)
  await film('shared', '.shared')

  const end = () => page.evaluate('document.querySelectorAll(".sheet-facts dd")[3].textContent')
  const before = String(await end())
  await hands.pick('.control-line select', '90 days')
  await hands.use('button', 'Extend')
  await expect.poll(end, { timeout: 60_000 }).not.toBe(before)
  await film('extended', '.sheet-facts')

  await console_.sees('a copy', 'document.querySelector("dialog .table td")', PROOF_MS)
  await hands.use('button', 'Check it here')
  await console_.sees('the proof', 'document.querySelector(".proved")?.innerText.includes("Verified here.")', PROOF_MS)
  await film('proved', '.proved')
  await hands.close()
  await console_.sees('the list', '!document.querySelector("dialog")')
  await hands.rest('closed', '.file-name a')
  await film('closed')
  return shared
}

/** Makes a token, runs the command of the developers' page with it, and revokes it. */
async function useToken({ page, console_, hands, folder, film }: Newcomer): Promise<void> {
  await hands.use('.nav a', 'Tokens')
  await hands.write('.token-form input', 'laptop')
  await film('token-form')
  await hands.use('button', 'Make the token')
  await console_.sees('the token', 'document.querySelector(".secret")')
  const token = String(await page.evaluate('document.querySelector(".secret").textContent'))
  await hands.rest('token-made', '.new-token .button-primary')
  await film('token-made')
  await hands.use('button', 'I have copied it')
  await hands.rest('token-kept', '.token-form input')
  expect(await page.evaluate('document.body.innerHTML.includes("pk_live_ey")')).toBe(false)

  await hands.use('.nav a', 'Developers')
  await console_.sees('the command', 'document.querySelector(".snippet pre")?.textContent.includes("curl")')
  await film('developers')
  const command = String(await page.evaluate('document.querySelector(".snippet pre").textContent'))
  writeFile(folder, 'photo.jpg', randomBytes(5000))
  const run = async () => {
    const asked = command.replace('curl ', "curl -sS -w '\\n%{http_code}' ")
    const env = { PATH: process.env.PATH, LADE_TOKEN: token }
    const { stdout } = await promisify(execFile)('sh', ['-c', asked], { cwd: folder, env })
    const [, body = '', status = ''] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? []
    return { body, status }
  }
  const answer = await run()
  expect(answer).toMatchObject({ status: '200' })
  expect(JSON.parse(answer.body)).toMatchObject({ size: 5000 })

  await hands.use('.nav a', 'Tokens')
  await console_.sees(
    'that it was used',
    '/last used/.test(document.querySelector("[aria-labelledby=live-tokens]")?.innerText)',
  )
  await hands.use('[aria-labelledby=live-tokens] button', 'Revoke')
  await console_.sees('the question', 'document.querySelector("dialog[open]")')
  await hands.goRound()
  await film('revoke')
  await hands.use('button', 'Revoke')
  await console_.sees('that it has ended', 'document.querySelector(".ended")')
  await hands.rest('revoked', '.ended summary')
  await film('revoked', '.ended')
  expect(await run()).toMatchObject({ status: '401' })
}

async function removeFile({ console_, hands, film }: Newcomer, shared: string): Promise<void> {
  await hands.use('.nav a', 'Files')
  // What was looked for before is still there.
  await hands.write('input[type=search]', 'note-1')
  await console_.sees('what is found', 'document.querySelectorAll(".file-name").length > 10')
  await hands.write('input[type=search]', 'harbour')
  await console_.sees('the file alone', 'document.querySelectorAll(".file-name").length === 1')
  await hands.use('.file-name a', 'harbour.png')
  await console_.sees('the file', 'document.querySelector("dialog[open] .timeline")')
  await hands.use('button', 'Remove')
  await console_.sees('the question', 'document.querySelectorAll("dialog[open]").length === 2')
  await hands.goRound()
  await film('remove')
  await hands.use('button', 'Remove')
  await console_.sees('the list without it', 'location.hash === "#/files" && !document.querySelector("dialog")')
  await console_.sees('that nothing is left', 'document.querySelector(".empty")')
  await console_.sees('that it counts no longer', reads(`${SMALL_FILES + 2} files,`))
  await hands.rest('removed', '.empty button, .filters button')
  await film('removed')
  expect((await fetch(shared)).status).toBe(410)
}

async function signOut({ page, console_, hands, film }: Newcomer): Promise<void> {
  await hands.use('.account button', 'Sign out')
  await console_.sees('nobody', 'document.querySelector(".account-sign-in")')
  await film('signed-out')
  const session = "fetch('/api/session').then((one) => one.json()).then(({ session }) => session)"
  expect(await page.evaluate(session)).toBe(null)
}

/** The ids of the parts that the service has. */
const PARTS = `fetch('/api/files?contentType=${encodeURIComponent(PART_TYPE)}')
  .then((one) => one.json()).then(({ files }) => files.map(({ cid }) => cid))`
