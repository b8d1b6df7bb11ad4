import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLadeClient } from '@lade/client'
import { aggregateAnswerFor, heldPiece } from '@lade/client/testing/challenge-answer'
import { pieceCidV2, zeroCommitment } from '@lade/core/piece'
import { challengeResult } from '@lade/core/wire'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startOwnServer } from '../acceptance/own-server.ts'
import type { OwnServer } from '../acceptance/server-under-test.ts'
import { cidOf, served } from './testing/content.ts'
import { startLiar } from './testing/liar.ts'
import { type ActionOptions, type ActionRun, runAction } from './testing/run-action.ts'
import { type Outcome, runProgram } from './testing/run-program.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:2'
const { PATH = '' } = process.env

let server: OwnServer
let url = ''
let dir = ''
beforeAll(async () => {
  server = await startOwnServer({
    LADE_SPONSORED_FILE_MB: '1',
    LADE_SIGNUPS_PER_HOUR: '1000',
    LADE_MIN_FREE_MB: '0',
    LADE_LOG_LEVEL: 'silent',
  })
  url = server.baseUrl.origin
})
afterAll(() => server?.discard())
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'lade-examples-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

async function newToken(email: string): Promise<string> {
  return (await createLadeClient({ url }).signup({ email, label: 'examples' })).token
}

describe('node-upload', () => {
  const stage = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
    runProgram(process.execPath, [join(HERE, 'node-upload/stage.ts'), ...args], {
      cwd: dir,
      env: { LADE_URL: url, ...env },
    })

  test('stages a file with its progress, prints cid and URL, and fetches it back', async () => {
    const bytes = randomBytes(300_000)
    await writeFile(join(dir, 'photo.jpg'), bytes)
    const { exitCode, stdout, stderr } = await stage(['photo.jpg', 'back.jpg'])
    const cid = await cidOf(bytes)
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: `cid: ${cid}\nurl: ${url}/p/${cid}\ncopy: back.jpg, whose bytes have that cid\n`,
      stderr: 'hashing\nsending\ndone\n',
    })
    expect((await readFile(join(dir, 'back.jpg'))).equals(bytes)).toBe(true)
    expect((await served(`${url}/p/${cid}`)).equals(bytes)).toBe(true)
    expect((await readdir(dir)).sort()).toEqual(['back.jpg', 'photo.jpg'])
  })

  test('stages for the owner of a token', async () => {
    const token = await newToken('node@example.org')
    await writeFile(join(dir, 'mine.bin'), randomBytes(2_000_000))
    expect(await stage(['mine.bin'], { LADE_TOKEN: token })).toMatchObject({ exitCode: 0 })
    const [mine] = (await createLadeClient({ url, token }).files.page()).files
    expect(mine).toMatchObject({ filename: 'mine.bin', size: 2_000_000 })
  })

  test('keeps nothing of bytes that are not those of the cid', async () => {
    await writeFile(join(dir, 'file.txt'), 'hello')
    await using liar = await startLiar(server.baseUrl)
    const { exitCode, stderr } = await stage(['file.txt'], { LADE_URL: liar.url })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/\(cid_mismatch\)$/m)
    expect(await readdir(dir)).toEqual(['file.txt'])
  })

  test.each([
    ['a service that does not answer', 'file.txt', { LADE_URL: NOBODY }, /^Cannot reach http:.*\(unreachable\)$/m],
    ['a file that is not there', 'none.txt', {}, /^ENOENT: .*\(ENOENT\)$/m],
    [
      'a file that is too large',
      'large.bin',
      {},
      /^The file is 1,048,577 bytes; without a token, the limit is .*\(too_large\)$/m,
    ],
  ])('says of %s what is wrong, and leaves no copy', async (_, name, env, said) => {
    await writeFile(join(dir, 'file.txt'), 'hello')
    await writeFile(join(dir, 'large.bin'), randomBytes(1_048_577))
    const { exitCode, stdout, stderr } = await stage([name], env)
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
    expect(stderr).toMatch(said)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect((await readdir(dir)).sort()).toEqual(['file.txt', 'large.bin'])
  })
})

describe('curl', () => {
  /** With nothing to run but what the script says that it needs, and what every system has. */
  async function walkThrough(env: Record<string, string> = {}, tools: readonly string[] = []): Promise<Outcome> {
    const bin = join(dir, 'bin')
    await mkdir(bin)
    for (const tool of ['curl', 'sha256sum', 'sed', 'cat', 'date', 'mktemp', 'rm', ...tools]) {
      await symlink(await pathOf(tool), join(bin, tool))
    }
    await mkdir(join(dir, 'tmp'))
    const script = join(HERE, 'curl/walk-through.sh')
    const outcome = await runProgram('/bin/sh', [script], {
      cwd: dir,
      env: { PATH: bin, TMPDIR: join(dir, 'tmp'), LADE_URL: url, ...env },
    })
    expect(await readdir(join(dir, 'tmp'))).toEqual([])
    return outcome
  }

  test('signs up, stages, lists, fetches in part and whole, verifies, and removes what it made', async () => {
    const email = 'curl@example.org'
    const { exitCode, stdout, stderr } = await walkThrough({ LADE_EMAIL: email, LADE_URL: `${url}/` })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const cid = /^([0-9a-f]{64}) {2}hello\.txt$/m.exec(stdout)?.[1]
    const answers = stdout.split('\n').filter((line) => line.startsWith('{'))
    const [account, upload, list, removed] = answers.map((line) => JSON.parse(line))
    expect(account).toMatchObject({ email, token: 'pk_live_...' })
    expect(upload).toMatchObject({ cid, owner: email, verified: true, retrievalUrl: `${url}/p/${cid}` })
    expect(list.files).toMatchObject([
      { cid, filename: 'hello.txt', status: expect.stringMatching(/^(staged|active)$/) },
    ])
    expect(removed).toMatchObject({ cid, status: 'removed' })
    expect(stdout).toContain('\nHello\nHTTP 206, 5 bytes\n')
    expect(stdout).toContain('\ncopy.txt: OK\n')
    expect(stdout).toContain('\nHTTP 410\n')
    expect(stdout).not.toMatch(/pk_live_\w/)
    const { tokens } = await createLadeClient({ url, token: await newToken(email) }).tokens.list()
    expect(tokens.find(({ label }) => label === 'walk-through')?.revokedAt).toEqual(expect.any(String))
  })

  test('uses a token that it is given, and leaves it as it is; with jq, answers have a line for each field', async () => {
    const token = await newToken('curl-token@example.org')
    const { exitCode, stdout } = await walkThrough({ LADE_TOKEN: token }, ['jq'])
    expect({ exitCode, hasSignedUp: stdout.includes('/api/auth/signup') }).toEqual({ exitCode: 0, hasSignedUp: false })
    expect(stdout).toMatch(/^ {2}"verified": true,$/m)
    expect(await createLadeClient({ url, token }).usage()).toMatchObject({ stored: { files: 0 }, today: { files: 1 } })
  })

  test('ends with what the service answered when a request fails', async () => {
    const { exitCode, stderr } = await walkThrough({ LADE_TOKEN: 'pk_live_a.b.c' })
    expect(exitCode).toBe(22)
    expect(stderr).toContain('The last answer of the service: {"error":"invalid_token"')
  })
})

describe('github-action', () => {
  const ACTION = join(HERE, 'github-action')
  const act = (inputs: Record<string, string>, options: Partial<ActionOptions> = {}): Promise<ActionRun> =>
    runAction({ action: ACTION, inputs: { url, ...inputs }, workspace: dir, temp: dir, path: PATH, ...options })
  /** The lines in which a runner looks for commands. */
  const commandsIn = ({ stdout }: Outcome) =>
    stdout.replace(/^::stop-commands::(.+)\n[\s\S]*?^::\1::$/gm, '').match(/^::.*$/gm) ?? []

  async function fill(files: Record<string, string | Uint8Array>): Promise<void> {
    await mkdir(join(dir, 'dist/docs'), { recursive: true })
    for (const [name, content] of Object.entries(files)) await writeFile(join(dir, 'dist', name), content)
  }

  test('stages the files of a folder, and gives the workflow cid and url of each', async () => {
    // The first takes longest.
    const first = randomBytes(1_000_000)
    await fill({ 'b.txt': 'second', 'a.bin': first, 'docs/page.html': '<p>third', '.hidden': 'not this' })
    const run = await act({ path: 'dist' })
    expect(run).toMatchObject({ exitCode: 0, stderr: '' })
    const expected = await Promise.all([first, Buffer.from('second'), Buffer.from('<p>third')].map(cidOf))
    const files: { file: string; cid: string; url: string; size: number }[] = JSON.parse(run.outputs.files ?? '')
    expect(files.map(({ file, cid, size }) => ({ file, cid, size }))).toEqual([
      { file: 'dist/a.bin', cid: expected[0], size: 1_000_000 },
      { file: 'dist/b.txt', cid: expected[1], size: 6 },
      { file: 'dist/docs/page.html', cid: expected[2], size: 8 },
    ])
    expect(run.outputs.cids).toBe(expected.join('\n'))
    expect(run.outputs.urls).toBe(files.map((file) => file.url).join('\n'))
    expect((await served(files[2]?.url ?? '')).toString()).toBe('<p>third')
    expect(run.summary).toContain('### 3 files uploaded to Lade')
    expect(run.summary).toContain(`| dist/docs/page.html | 8 | [${expected[2]}](${url}/p/${expected[2]}) |`)
    expect(commandsIn(run)).toEqual([])
  })

  test('stages privately and for days with a token, which it masks', async () => {
    const token = await newToken('action@example.org')
    await fill({ 'secret.txt': 'for me' })
    const run = await act({ path: 'dist/secret.txt', token, private: 'true', days: '3' })
    expect(run.exitCode).toBe(0)
    expect(commandsIn(run)).toEqual([`::add-mask::${token}`])
    expect((await createLadeClient({ url, token }).files.page()).files).toMatchObject([
      { filename: 'secret.txt', visibility: 'private', term: '3 days', cid: run.outputs.cids },
    ])
    expect((await fetch(run.outputs.urls ?? '')).status).toBe(404)
  })

  test('fails when one of the files fails, and still gives the others', async () => {
    await fill({ 'good.txt': 'good', 'large.bin': randomBytes(1_048_577) })
    const run = await act({ path: 'dist' })
    expect(run.exitCode).toBe(1)
    expect(commandsIn(run)).toEqual([
      expect.stringMatching(
        /^::error title=Lade::dist\/large\.bin: The file is 1,048,577 bytes; without a token, the limit is/,
      ),
    ])
    expect(run.outputs.cids).toBe(await cidOf(Buffer.from('good')))
    expect(run.summary).toMatch(/^- \*\*Failed:\*\* dist\/large\.bin/m)
  })

  test('takes names of files for commands neither of the runner nor of Markdown', async () => {
    const name = '::warning::<b>|`x`'
    const largeName = '::warning::large'
    await fill({ [name]: 'named badly', [largeName]: randomBytes(1_048_577) })
    const run = await act({ path: '.' }, { workspace: join(dir, 'dist') })
    expect(run.exitCode).toBe(1)
    expect(run.stdout).toMatch(
      new RegExp(`^${largeName}: The file is 1,048,577 bytes; without a token, the limit is`, 'm'),
    )
    expect(commandsIn(run)).toEqual([
      expect.stringMatching(
        `^::error title=Lade::${largeName}: The file is 1,048,577 bytes; without a token, the limit is`,
      ),
    ])
    expect(JSON.parse(run.outputs.files ?? '')).toMatchObject([{ file: name }])
    expect(run.summary).toContain('| &#58;&#58;warning&#58;&#58;&#60;b&#62;&#124;&#96;x&#96; | 11 |')
  })

  test.each<[string, Record<string, string>, RegExp]>([
    ['a folder that is not there', { path: 'none' }, /There is no file none\./],
    ['an empty folder', { path: 'dist' }, /There are no files to upload in the given folders\./],
    ['a service that does not answer', { path: 'file.txt', url: NOBODY }, /file\.txt: Cannot reach http:/],
    ['a url that was not set', { path: 'dist', url: '' }, /The input url is empty\./],
    ['private files without a token', { path: 'dist', private: 'true' }, /Private files need a token\./],
    ['days that are none', { path: 'dist', days: 'soon' }, /'soon' is invalid/],
  ])('fails with one clear error for %s', async (_, inputs, said) => {
    await fill({})
    await writeFile(join(dir, 'file.txt'), 'hello')
    const run = await act(inputs)
    expect(run.exitCode).not.toBe(0)
    expect(commandsIn(run)).toEqual([expect.stringMatching(said)])
  })

  test('installs the command line first where it is missing', async () => {
    await mkdir(join(dir, 'clone/examples'), { recursive: true })
    await symlink(ACTION, join(dir, 'clone/examples/github-action'))
    await mkdir(join(dir, 'bin'))
    const npm = `#!/bin/sh\nln -s '${ROOT}node_modules' "$2/node_modules" && echo "npm was called: $3"\n`
    await writeFile(join(dir, 'bin/npm'), npm)
    await chmod(join(dir, 'bin/npm'), 0o755)
    await fill({ 'a.txt': 'first' })
    const action = join(dir, 'clone/examples/github-action')
    const run = await act({ path: 'dist' }, { action, path: [join(dir, 'bin'), PATH].join(delimiter) })
    expect(run.stdout).toContain('npm was called: ci')
    expect(run).toMatchObject({ exitCode: 0, outputs: { cids: await cidOf(Buffer.from('first')) } })
  })

  test('the example workflow gives inputs that there are, and reads outputs that there are', async () => {
    const workflow = await readFile(join(ACTION, 'example-workflow.yml'), 'utf8')
    const action = await readFile(join(ACTION, 'action.yml'), 'utf8')
    const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name)
    const [given = ''] = /(?<=examples\/github-action.*\n {8}with:\n)(?: {10}.*\n)+/.exec(workflow) ?? []
    const [inputs = '', outputs = ''] = action.split(/^outputs:$|^runs:$/m)
    const names = namesIn(given, /^ {10}(\w+):/gm)
    expect(names).toContain('path')
    expect(namesIn(inputs, /^ {2}(\w+):$/gm)).toEqual(expect.arrayContaining(names))
    expect(namesIn(outputs, /^ {2}(\w+):$/gm)).toEqual(
      expect.arrayContaining(namesIn(workflow, /steps\.lade\.outputs\.(\w+)/g)),
    )
  })
})

async function pathOf(tool: string): Promise<string> {
  const { exitCode, stdout } = await runProgram('/bin/sh', ['-c', `command -v ${tool}`], { cwd: '/', env: { PATH } })
  if (exitCode !== 0) throw new Error(`${tool} is needed here and is not installed`)
  return stdout.trim()
}

describe('check-possession', () => {
  const ask = (args: readonly string[]): Promise<Outcome> =>
    runProgram(process.execPath, [join(HERE, 'check-possession/ask.mjs'), ...args], { cwd: dir, env: {} })

  test('has it proved that a file is held, and finds a lie', async () => {
    const bytes = randomBytes(200_000)
    const client = createLadeClient({ url })
    const { cid, pieceCid } = await client.put(bytes)
    if (pieceCid === null) throw new Error('no piece')
    await expect
      .poll(async () => (await ask([url, cid, pieceCid])).stdout, { timeout: 20_000, interval: 500 })
      .toBe(`local holds ${pieceCid}\n`)
    // An honest proof of another file.
    const other = await client.put(randomBytes(200_000))
    await expect
      .poll(async () => await ask([url, other.cid, pieceCid]), { timeout: 20_000, interval: 500 })
      .toMatchObject({ exitCode: 1, stdout: `local has not shown that it holds ${pieceCid}\n` })
  })

  test('is what the protocol page shows, and takes no answer that was changed', async () => {
    const page = await readFile(join(ROOT, 'docs/protocol/deals.md'), 'utf8')
    expect(page).toContain(await readFile(join(HERE, 'check-possession/check.mjs'), 'utf8'))
    const program: string = './check-possession/check.mjs'
    const { showsPossession } = await import(program)
    const bytes = randomBytes(200_000)
    const { cid, pieceCid } = await createLadeClient({ url }).put(bytes)
    const challenge = async () => {
      const body = JSON.stringify({ nonce: 'mine' })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${url}/p/${cid}/challenge`, { method: 'POST', body, headers })
      return challengeResult.parse(await response.json())
    }
    const answer = await vi.waitFor(challenge, { timeout: 20_000, interval: 500 })
    expect(showsPossession(pieceCid, 'mine', answer)).toBe(true)
    expect(showsPossession(pieceCid, 'yours', answer)).toBe(false)
    const [first, ...others] = answer.proofs
    if (first === undefined) throw new Error('no proof')
    for (const proofs of [
      [{ ...first, leafIndex: first.leafIndex + 1 }, ...others],
      [{ ...first, leaf: `0x${'11'.repeat(32)}` }, ...others],
      [{ ...first, proof: first.proof.slice(1) }, ...others],
      others,
      [],
    ]) {
      expect(showsPossession(pieceCid, 'mine', { ...answer, proofs })).toBe(false)
    }
    const another = pieceCidV2({ root: zeroCommitment(13), rawSizeBytes: 200_000 })
    expect(showsPossession(another, 'mine', answer)).toBe(false)
  })

  test('takes the proof of an aggregate only if the piece is in it, and the aggregate fills its tree', async () => {
    const program: string = './check-possession/check.mjs'
    const { showsPossession } = await import(program)
    const pieces = [heldPiece(randomBytes(3000)), heldPiece(randomBytes(900)), heldPiece(randomBytes(100))]
    for (const [number, piece] of pieces.entries()) {
      const answer = await aggregateAnswerFor(pieces, number, 'mine')
      const { inclusion } = answer
      if (inclusion === null) throw new Error('no inclusion')
      const { segment, entry } = inclusion
      const own = pieceCidV2(piece)
      expect(showsPossession(own, 'mine', answer)).toBe(true)
      for (const changed of [
        null,
        { ...inclusion, pieceCid: pieceCidV2(heldPiece(randomBytes(100))) },
        { ...inclusion, segment: { ...segment, position: segment.position + 1 } },
        { ...inclusion, segment: { ...segment, position: segment.position + 2 ** segment.siblings.length } },
        { ...inclusion, segment: { ...segment, siblings: segment.siblings.slice(1) } },
        { ...inclusion, entry: { ...entry, position: entry.position + 1 } },
        { ...inclusion, entry: { ...entry, siblings: entry.siblings.toReversed() } },
      ]) {
        expect(showsPossession(own, 'mine', { ...answer, inclusion: changed })).toBe(false)
      }
      expect(showsPossession(pieceCidV2(heldPiece(randomBytes(900))), 'mine', answer)).toBe(false)
      const smaller = await aggregateAnswerFor(pieces, number, 'mine', 4065)
      expect(smaller.height).toBe(answer.height)
      expect(showsPossession(own, 'mine', smaller)).toBe(false)
    }
  })
})
