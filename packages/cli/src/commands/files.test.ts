import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request as forward } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startFakeService, startTestService, type TestService } from '../testing-service.ts'
import { type TestTerminalOptions, testTerminal } from '../testing-terminal.ts'

const HELLO = 'hello world'
const HELLO_CID = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'

let service: TestService
let homeDir = ''
let cwd = ''

beforeAll(async () => {
  service = await startTestService({ LADE_SIGNUPS_PER_HOUR: '1000' })
})
afterAll(() => service.close())
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-home-'))
  cwd = join(homeDir, 'work')
  await mkdir(cwd)
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

/** Runs one command line against the service, as whoever is logged in. */
async function lade(args: readonly string[], options: TestTerminalOptions = {}) {
  const { terminal, stdout, stderr } = testTerminal({
    homeDir,
    cwd,
    ...options,
    env: { LADE_URL: service.url, ...options.env },
  })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
}

const write = (name: string, content: string) => writeFile(join(cwd, name), content)
const logIn = async () => expect((await lade(['login', '--email', `${Math.random()}@example.org`])).exitCode).toBe(0)
/** A file that no other test has. */
const unique = () => `${Math.random()}`

describe('lade put', () => {
  it('stages a file without a token, and says where it is and for how long', async () => {
    await write('hello.txt', HELLO)
    const { exitCode, stdout, stderr } = await lade(['put', 'hello.txt'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout.split('\n')).toEqual([
      'hello.txt',
      `  cid     ${HELLO_CID}`,
      `  url     ${service.url}/p/${HELLO_CID}`,
      '  access  public: anyone with the URL',
      '  size    11 B',
      expect.stringMatching(/^ {2}term {4}7 days, until \d{4}-\d\d-\d\d \d\d:\d\d UTC; sponsored$/),
      expect.stringMatching(/^ {2}deal {4}d-0x[0-9a-f]+$/),
      '',
    ])
    const response = await fetch(`${service.url}/p/${HELLO_CID}`)
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/plain; charset=utf-8', HELLO])
  })

  it('says why it waits when the service is away for seconds, unless it is quiet', async () => {
    const refused = new Set<string | undefined>()
    const proxy = await startFakeService((request, response) => {
      if (request.method === 'POST' && !refused.has(request.url)) {
        refused.add(request.url)
        request.resume()
        response.writeHead(502, { 'retry-after': '2' }).end('<h1>Bad Gateway</h1>')
        return
      }
      const { method, headers } = request
      const forwarded = forward(`${service.url}${request.url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      request.pipe(forwarded)
    })
    await write('a.txt', unique())
    await write('b.txt', unique())
    try {
      const [shown, quiet] = await Promise.all([
        lade(['put', 'a.txt', '--url', proxy.url]),
        lade(['put', 'b.txt', '--url', proxy.url, '--quiet']),
      ])
      expect([shown.exitCode, quiet.exitCode]).toEqual([0, 0])
      expect([shown.stderr, quiet.stderr]).toEqual(['Retrying. The status was 502: Bad Gateway\n', ''])
    } finally {
      await proxy.close()
    }
  })

  it.each([
    ['raw', HELLO_CID],
    ['sha256', 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'],
    ['piece', 'bafkzcibcoqbo4xahwtvbmhunywt2yhzjebhylq4yei73dmrzu7bky4lnev6ukgq'],
  ])('stages under the %s id', async (kind, cid) => {
    await write('hello.txt', HELLO)
    expect((await lade(['put', 'hello.txt', '--cid', kind, '--quiet'])).stdout).toBe(`${cid}\n`)
  })

  it('stages standard input, privately, under a name and for days', async () => {
    await logIn()
    const content = unique()
    const put = await lade(['put', '-', '--name', 'notes.md', '--private', '--days', '3', '--json'], { input: content })
    expect(put.json()).toMatchObject({ file: 'notes.md', size: content.length, term: '3 days', sponsored: false })
    const { cid } = put.json()
    const [entry] = (await lade(['ls', cid, '--json'])).json()
    expect(entry).toMatchObject({
      cid,
      filename: 'notes.md',
      contentType: 'text/markdown; charset=utf-8',
      visibility: 'private',
    })
    expect((await fetch(`${service.url}/p/${cid}`)).status).toBe(404)
  })

  it('applies what is asked for to bytes that were staged before, and says what it cannot', async () => {
    await logIn()
    await write('a', unique())
    const { cid } = (await lade(['put', 'a', '--json'])).json()
    expect(await lade(['put', 'a', '--days', '3'])).toMatchObject({
      exitCode: 0,
      stderr: 'a: It was already uploaded and keeps its term of 30 days.\n',
    })
    const hidden = await lade(['put', 'a', '--private', '--days', '40', '--name', 'b.txt'])
    expect(hidden).toMatchObject({ exitCode: 0, stderr: '' })
    expect(hidden.stdout).toMatch(/\n {2}access {2}private: your tokens and share links\n/)
    expect(hidden.stdout).toMatch(/\n {2}term {4}40 days, /)
    const [entry] = (await lade(['ls', cid, '--json'])).json()
    expect(entry).toMatchObject({
      visibility: 'private',
      term: '40 days',
      filename: 'b.txt',
      contentType: 'text/plain; charset=utf-8',
    })
  })

  it('changes a file without sending it again', async () => {
    await logIn()
    await write('a', unique())
    const cid = (await lade(['put', '-q', 'a'])).stdout.trim()
    const edited = await lade(['edit', cid, '--private', '--name', 'plans.txt', '--type', 'text/plain', '--days', '60'])
    expect(edited).toMatchObject({ exitCode: 0, stderr: '' })
    expect(edited.stdout).toMatch(
      /^plans\.txt\n {2}cid {5}bafk\w+\n {2}access {2}private\n {2}type {4}text\/plain\n {2}term {4}60 days, /,
    )
    expect((await lade(['edit', cid, '--public', '--json'])).json()).toMatchObject({ cid, visibility: 'public' })
    expect((await lade(['ls', '--status', 'active', cid])).exitCode).toBe(0)
    for (const [flags, exitCode, sentence] of [
      [[], 2, 'Nothing to change. Pass --private'],
      [['--private', '--public'], 2, 'Use --private or --public'],
      [['--days', '3'], 2, 'cannot be shortened'],
    ] as const) {
      const refused = await lade(['edit', cid, ...flags])
      expect([refused.exitCode, refused.stderr]).toEqual([exitCode, expect.stringContaining(sentence)])
    }
    expect(
      (await lade(['edit', 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e', '--private'])).exitCode,
    ).toBe(4)
  })

  it('stages every file below a folder, a line each, and sums up', async () => {
    await mkdir(join(cwd, 'album/deep'), { recursive: true })
    await write('album/a.txt', unique())
    await write('album/deep/b.txt', unique())
    await write('album/.hidden', unique())
    await write('album/empty', '')
    const { exitCode, stdout, stderr } = await lade(['put', '-r', '--loose', 'album'])
    expect(exitCode).toBe(0)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .sort((a, b) => a.slice(60).localeCompare(b.slice(60)))
    expect(lines).toHaveLength(3)
    for (const line of lines)
      expect(line).toMatch(/^bafk\w{55} +\d+ B {2}public {3}album\/(?:(?:a|deep\/b)\.txt|empty)$/)
    expect(stderr).toMatch(/^Skipped: 1 hidden \(--hidden includes them\)\.\n3 files uploaded, \d+ B\.\n$/)
  })

  it('goes on after a file that fails, and ends with 1', async () => {
    await write('good', unique())
    await write('empty', '')
    const { exitCode, stdout, stderr } = await lade(['put', 'empty', 'good', '--cid', 'piece', '--json'])
    expect(exitCode).toBe(1)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.find(({ file }) => file === 'empty')).toMatchObject({ error: 'empty_body' })
    expect(lines.find(({ file }) => file === 'good')).toMatchObject({ verified: true })
    expect(stderr).toContain('1 file uploaded')
    expect(stderr).toContain('1 failed.')
  })

  it.each([
    [['folder'], 2, 'folder is a folder. Add -r'],
    [['nowhere'], 1, 'There is no file nowhere.'],
    [['-', '-'], 2, 'Standard input can be uploaded only once'],
    [['a', 'b', '--name', 'c'], 2, '--name works with one file or folder; you gave 2.'],
    [['-r', '--loose', 'folder'], 2, 'There are no files to upload in the given folders.'],
    [['a', '--private', '--sponsored'], 2, 'Sponsored uploads are always public'],
    [['a', '--private'], 2, 'Uploads without a token are always public.'],
    [['a', '--days', '9999'], 2, 'The term is 9999 days; the maximum is 7 without a token.'],
    [['a', '--days', '0'], 2, 'a whole number from 1'],
    [['a', '--cid', 'md5'], 2, 'Allowed choices are unixfs, raw, piece, sha256'],
    [['a', '--type', 'picture'], 2, 'Content-Type is "picture". It must have the form type/subtype'],
    [['a', '--name', '../b'], 2, 'The file name contains / or \\. Send only the last part of the path.'],
  ])('refuses %j with %i', async (args, exitCode, sentence) => {
    await mkdir(join(cwd, 'folder'))
    await write('a', unique())
    await write('b', unique())
    const ended = await lade(['put', ...args])
    expect(ended.stderr).toContain(sentence)
    expect([ended.exitCode, ended.stdout]).toEqual([exitCode, ''])
  })

  it('says what is too large, with 5', async () => {
    const small = await startTestService({ LADE_SPONSORED_FILE_MB: '1' })
    try {
      await write('large', 'x'.repeat(1_048_577))
      const { exitCode, stderr } = await lade(['put', 'large'], { env: { LADE_URL: small.url } })
      expect(exitCode).toBe(5)
      expect(stderr).toContain(
        'The file is 1,048,577 bytes; without a token, the limit is 1,048,576 bytes. With a token, the limit is 5 GiB.',
      )
      // As much is said for programs, of a file by itself and of one among others.
      await write('small', unique())
      for (const names of [['large'], ['large', 'small']]) {
        const { stdout } = await lade(['put', ...names, '--json'], { env: { LADE_URL: small.url } })
        const objects = stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line))
        expect(objects.find(({ error }) => error !== undefined)).toMatchObject({
          error: 'too_large',
          detail: stderr.trimEnd(),
          limit: 1_048_576,
          size: 1_048_577,
        })
      }
    } finally {
      await small.close()
    }
  })

  it('asks what is left of the quota before it sends a large file', { timeout: 60_000 }, async () => {
    const tight = await startTestService({ LADE_TOKEN_DAILY_MB: '64' })
    const env = { LADE_URL: tight.url }
    try {
      await lade(['login', '--email', 'tight@example.org'], { env })
      await writeFile(join(cwd, 'large'), Buffer.alloc(110_000_000, 7))
      const { exitCode, stderr } = await lade(['put', 'large'], { env })
      expect(exitCode).toBe(5)
      expect(stderr).toContain(
        "This file (104.9 MB) is larger than a day's quota (64 MB). Upload it over several days with --over-days, or ask the operator for a larger quota.",
      )
      const usage = await lade(['usage', '--json'], { env })
      expect(usage.json()).toMatchObject({ today: { bytes: 0, files: 0 }, stored: { files: 0 } })
    } finally {
      await tight.close()
    }
  })

  it('leaves the token out when the upload is to be sponsored', async () => {
    await logIn()
    await write('a', unique())
    expect((await lade(['put', 'a', '--sponsored', '--json'])).json()).toMatchObject({ sponsored: true, owner: null })
  })

  it('sends a large file in parts, and keeps nothing about it afterwards', { timeout: 60_000 }, async () => {
    await logIn()
    // More than a part of 127 MiB.
    await writeFile(join(cwd, 'large'), Buffer.alloc(134_000_000, 7))
    const env = { XDG_CACHE_HOME: join(homeDir, 'cache') }
    const put = await lade(['put', 'large', '--json'], { env })
    expect(put.json()).toMatchObject({ size: 134_000_000, wasThere: false })
    expect(await readdir(join(homeDir, 'cache/lade/puts'))).toEqual([])
    const again = await lade(['put', 'large'], { env })
    expect(again.stdout).toContain('large (already stored; nothing was sent)\n')
  })
})

describe('lade get', () => {
  let cid = ''
  let content = ''
  beforeEach(async () => {
    content = unique().repeat(1000)
    await write('photo.jpg', content)
    cid = (await lade(['put', 'photo.jpg', '--quiet'])).stdout.trim()
    await rm(join(cwd, 'photo.jpg'))
  })

  it('saves the file under its name, checked', async () => {
    const { exitCode, stdout, stderr } = await lade(['get', cid])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^Saved photo\.jpg, \d+\.\d KiB, verified against its id\.\n$/)
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe(content)
    expect(await readdir(cwd)).toEqual(['photo.jpg'])
  })

  it('replaces a file only with --force', async () => {
    await write('photo.jpg', 'mine')
    const refused = await lade(['get', cid])
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('photo.jpg already exists. Replace it with --force'),
    })
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe('mine')
    expect((await lade(['get', cid, '--force'])).exitCode).toBe(0)
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe(content)
    expect(await readdir(cwd)).toEqual(['photo.jpg'])
  })

  it('takes the URL that put has shown, and ipfs://', async () => {
    const { cid: staged } = JSON.parse((await lade(['get', cid, '-o', 'a', '--json'])).stdout)
    for (const named of [`${service.url}/p/${cid}`, `ipfs://${cid}`]) {
      const env = named.startsWith('http') ? { LADE_URL: 'http://127.0.0.1:9' } : {}
      expect(await lade(['get', named, '-o', '-'], { env })).toMatchObject({ exitCode: 0, stdout: content })
    }
    expect(staged).toBe(cid)
    const other = await lade(['get', `${service.url}/p/${cid}`, '--url', 'http://127.0.0.1:9'])
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Leave out --url.') })
  })

  it('sends no token to the service of a link but the one saved for it', async () => {
    const asked: (string | undefined)[] = []
    const stranger = await startFakeService((request, response) => {
      asked.push(request.headers.authorization)
      response.writeHead(404).end()
    })
    try {
      const env = { LADE_TOKEN: 'pk_live_a.b.c' }
      await lade(['get', `${stranger.url}/p/${cid}`], { env })
      expect(asked).toEqual([undefined])
    } finally {
      await stranger.close()
    }
  })

  it('fetches a private file by its share link, without a token', async () => {
    await logIn()
    const secret = unique()
    await write('secret', secret)
    const { cid: hidden } = (await lade(['put', 'secret', '--private', '--json'])).json()
    const { url } = (await lade(['share', hidden, '--json'])).json()
    await lade(['logout'])
    expect(await lade(['get', url, '-o', '-'])).toMatchObject({ exitCode: 0, stdout: secret })
  })

  it('says where there is no folder to write into', async () => {
    for (const [output, folder] of [
      ['newdir/', 'newdir/'],
      ['newdir/name', 'newdir'],
    ] as const) {
      expect(await lade(['get', cid, '-o', output])).toMatchObject({
        exitCode: 1,
        stderr: `There is no folder ${folder}. Create it first.\n`,
      })
    }
  })

  it('writes where -o says: a file, a folder, or standard output', async () => {
    await mkdir(join(cwd, 'into'))
    expect((await lade(['get', cid, '-o', 'other'])).stdout).toMatch(/^Saved other,/)
    expect((await lade(['get', cid, '-o', 'into'])).stdout).toMatch(/^Saved into\/photo\.jpg,/)
    expect(await lade(['get', cid, '-o', '-'])).toMatchObject({ exitCode: 0, stdout: content, stderr: '' })
    expect((await readdir(cwd)).sort()).toEqual(['into', 'other'])
  })

  async function leavePart(part: string): Promise<void> {
    // A get that breaks off leaves the part under the name that the next one looks for.
    const { PartFile } = await import('../get/part-file.ts')
    await writeFile(new PartFile(join(cwd, 'photo.jpg'), cid).path, part)
  }

  it('goes on with what an earlier get left', async () => {
    await leavePart(content.slice(0, 1000))
    expect((await lade(['get', cid, '--json'])).json()).toEqual({
      cid,
      file: 'photo.jpg',
      sizeBytes: content.length,
      contentType: 'image/jpeg',
      verified: true,
      resumedBytes: 1000,
    })
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe(content)
    expect(await readdir(cwd)).toEqual(['photo.jpg'])
  })

  it.each([
    ['damaged', () => `X${content.slice(1, 1000)}`],
    ['longer than the file', () => `${content}more`],
    ['damaged, and as long as the file', () => `X${content.slice(1)}`],
  ])('begins anew where what was left is %s', async (_, part) => {
    await leavePart(part())
    const { exitCode, stdout } = await lade(['get', cid, '--json'])
    expect([exitCode, JSON.parse(stdout).resumedBytes]).toEqual([0, 0])
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe(content)
  })

  it('needs nothing more than the check where all of it was left', async () => {
    await leavePart(content)
    expect((await lade(['get', cid])).stdout).toContain('were already downloaded), verified against its id.')
    expect(await readFile(join(cwd, 'photo.jpg'), 'utf8')).toBe(content)
  })

  it('says that an opaque id could not be checked', async () => {
    const id = `opaque${Math.floor(Math.random() * 1e9)}`
    const headers = { 'content-type': 'text/plain' }
    await fetch(`${service.url}/api/upload?cid=${id}`, { method: 'POST', body: unique(), headers })
    const saved = await lade(['get', id])
    expect(saved.stdout).toMatch(
      new RegExp(`^Saved ${id}, .* not verified: this id cannot be checked against the bytes\\.`),
    )
    expect(await lade(['get', id, '-o', '-'])).toMatchObject({
      stderr: expect.stringContaining('Not verified'),
    })
  })

  it('ends with 4 for what is not there, also as JSON', async () => {
    const { exitCode, stdout, stderr } = await lade(['get', 'nothere12', '--json'])
    expect([exitCode, JSON.parse(stdout).error]).toEqual([4, 'not_found'])
    expect(stderr).toContain('Check the id: ')
  })

  it('gives private files to the token of their owner', async () => {
    await logIn()
    const secret = unique()
    await write('secret', secret)
    const { cid: hidden } = (await lade(['put', 'secret', '--private', '--json'])).json()
    await rm(join(cwd, 'secret'))
    expect((await lade(['get', hidden, '-o', '-'])).stdout).toBe(secret)
    await lade(['logout'])
    expect(await lade(['get', hidden])).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('lade login') })
    expect(await readdir(cwd)).toEqual([])
  })

  describe('from a service that is not to be trusted', () => {
    const answering = (body: string, headers: Record<string, string> = {}) =>
      startFakeService((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body), ...headers })
        response.end(body)
      })

    it('keeps nothing of bytes that do not have the id, and ends with 3', async () => {
      const liar = await answering('goodbye world')
      const env = { LADE_URL: liar.url }
      try {
        expect(await lade(['get', HELLO_CID], { env })).toMatchObject({ exitCode: 3, stdout: '' })
        expect(await readdir(cwd)).toEqual([])
        const piped = await lade(['get', HELLO_CID, '-o', '-'], { env })
        expect(piped).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('Discard them.') })
      } finally {
        await liar.close()
      }
    })

    it('writes no file outside the folder, and none that hides', async () => {
      const liar = await answering(HELLO, { 'content-disposition': 'attachment; filename="../../.bashrc"' })
      try {
        expect((await lade(['get', HELLO_CID], { env: { LADE_URL: liar.url } })).exitCode).toBe(0)
        expect(await readdir(cwd)).toEqual([expect.stringMatching(/^[^./\\][^/\\]*bashrc$/)])
        expect((await readdir(homeDir)).sort()).toEqual(['work'])
      } finally {
        await liar.close()
      }
    })
  })
})

describe('lade ls', () => {
  it('says so where there is nothing, and what it needs', async () => {
    expect(await lade(['ls'])).toMatchObject({ exitCode: 7, stdout: '', stderr: expect.stringContaining('lade login') })
    await logIn()
    expect(await lade(['ls'])).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: expect.stringContaining('No files yet'),
    })
    expect((await lade(['ls', '--json'])).json()).toEqual([])
  })

  it('says that nothing matches, and not that there is nothing', async () => {
    await logIn()
    await write('one.txt', unique())
    await lade(['put', 'one.txt'])
    for (const [args, sentence] of [
      [['--type', 'image'], 'None of your files has the media type image. A media type has two halves'],
      [['--type', 'image/png'], 'None of your files has the media type image/png.\n'],
      [['--status', 'removed'], 'None of your files has the status removed.\n'],
      [['--kind', 'video'], 'None of your files has the kind video.\n'],
      [['--ends-within', '7'], 'None of your files has an end within 7 days.\n'],
      [['nope'], 'None of your files has "nope" in its name or cid.\n'],
    ] as const) {
      const { stderr } = await lade(['ls', ...args])
      expect(stderr).toContain(sentence)
    }
  })

  it('lists the newest first, as many as asked for, or those that match', async () => {
    await logIn()
    for (const name of ['one.txt', 'two.txt', 'three.txt']) {
      await write(name, unique())
      await lade(['put', name])
    }
    const names = async (...args: string[]) =>
      (await lade(['ls', '--json', ...args])).json().map(({ filename }: { filename: string }) => filename)
    expect(await names()).toEqual(['three.txt', 'two.txt', 'one.txt'])
    expect(await names('two')).toEqual(['two.txt'])
    expect(await names('--kind', 'text', '--ends-within', '365')).toEqual(['three.txt', 'two.txt', 'one.txt'])
    expect(await names('--kind', 'image')).toEqual([])
    expect(await names('--limit', '2')).toEqual(['three.txt', 'two.txt'])
    expect((await lade(['ls', '--limit', '2'])).stderr).toBe(
      'There are more than 2 files. Raise --limit to see them.\n',
    )
  })

  it('fits the terminal, and is whole where it is piped or asked to be', async () => {
    await logIn()
    await write('a-name-that-is-somewhat-longer-than-others.txt', unique())
    const cid = (await lade(['put', '-q', 'a-name-that-is-somewhat-longer-than-others.txt'])).stdout.trim()
    for (const columns of [40, 80, 120]) {
      const lines = (await lade(['ls'], { columns })).stdout.trimEnd().split('\n')
      expect(lines).toHaveLength(2)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns)
    }
    for (const whole of [await lade(['ls']), await lade(['ls', '--long'], { columns: 40 })]) {
      expect(whole.stdout).toContain(cid)
      expect(whole.stdout).toContain('a-name-that-is-somewhat-longer-than-others.txt')
    }
  })
})

describe('lade rm', () => {
  async function stage(): Promise<string> {
    await write('old.txt', unique())
    return (await lade(['put', '-q', 'old.txt'])).stdout.trim()
  }

  it('asks on a terminal, and takes no for an answer', async () => {
    await logIn()
    const cid = await stage()
    const kept = await lade(['rm', cid], { columns: 80, input: 'n\r' })
    expect(kept).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('Nothing was removed.') })
    expect(kept.stderr).toMatch(/Remove old\.txt \(\d+ B\)\? \[y\/N\]/)
    expect((await lade(['rm', cid], { columns: 80, input: 'y\r' })).stdout).toBe(`Removed ${cid}.\n`)
    expect((await lade(['get', cid])).exitCode).toBe(4)
  })

  it('needs --yes where nobody can be asked', async () => {
    await logIn()
    const cid = await stage()
    expect(await lade(['rm', cid])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Add --yes') })
    expect((await lade(['rm', cid, '--yes'])).exitCode).toBe(0)
    expect(await lade(['rm', cid, '--yes'])).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('The owner removed the file.'),
    })
  })

  it('goes on after one that is not there', async () => {
    await logIn()
    const cid = await stage()
    const { exitCode, stdout } = await lade(['rm', 'nothere12', cid, '--yes', '--json'])
    expect(exitCode).toBe(1)
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ cid: 'nothere12', removed: false, error: 'not_found' }),
      { cid, removed: true },
    ])
  })
})

describe('lade share', () => {
  it('makes a link that works without a token', async () => {
    await logIn()
    const secret = unique()
    await write('secret', secret)
    const cid = (await lade(['put', '-q', '--private', 'secret'])).stdout.trim()
    const { stdout, stderr } = await lade(['share', cid, '--hours', '72'])
    expect(await (await fetch(stdout.trim())).text()).toBe(secret)
    expect(stderr).toMatch(/^Valid until .* UTC, in 3 days\.\n$/)
  })

  it('is for 30 days at most', async () => {
    await logIn()
    const refused = await lade(['share', 'nothere12', '--hours', '721'])
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('from 1 to 720') })
  })

  it('makes a link that ends with its token, unless the token is revoked with --keep-links', async () => {
    for (const [flags, status] of [[['--keep-links'], 200] as const, [[], 403] as const]) {
      await logIn()
      await write('secret', unique())
      const cid = (await lade(['put', '-q', '--private', 'secret'])).stdout.trim()
      const link = (await lade(['share', cid])).stdout.trim()
      const { jti } = (await lade(['token', 'ls', '--json']))
        .json()
        .find((token: { current: boolean }) => token.current)
      expect((await lade(['token', 'revoke', jti, ...flags])).exitCode).toBe(0)
      expect((await fetch(link)).status).toBe(status)
    }
  })
})

describe('lade deals', () => {
  it('lists the deals of my files, and shows one', async () => {
    await logIn()
    expect((await lade(['deals'])).stderr).toBe('No deals yet.\n')
    await write('a', unique())
    const { dealId, cid } = (await lade(['put', 'a', '--json'])).json()
    expect((await lade(['deals', '--json'])).json()).toEqual([expect.objectContaining({ dealId, cid })])
    expect((await lade(['deals'])).stdout).toContain(dealId)
    expect((await lade(['deals', dealId])).stdout).toContain(`  cid        ${cid}\n`)
    const status = expect.stringMatching(/^(staged|proposed|active)$/)
    expect((await lade(['deals', dealId, '--json'])).json()).toMatchObject({ dealId, status })
    expect((await lade(['deals', 'd-0x00'])).exitCode).toBe(4)
  })
})
