import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../run.ts'
import { startTestService, type TestService } from '../testing-service.ts'
import { testTerminal } from '../testing-terminal.ts'

let service: TestService
let homeDir = ''
let cwd = ''

beforeAll(async () => {
  service = await startTestService({
    LADE_SIGNUPS_PER_HOUR: '1000',
    LADE_SITES_URL: 'http://*.ipfs.example.com',
  })
})
afterAll(() => service.close())
beforeEach(async () => {
  homeDir = await mkdtemp(join(tmpdir(), 'lade-cli-folders-'))
  cwd = join(homeDir, 'work')
  await mkdir(cwd)
})
afterEach(() => rm(homeDir, { recursive: true, force: true }))

async function lade(...args: string[]) {
  const { terminal, stdout, stderr } = testTerminal({ homeDir, cwd, env: { LADE_URL: service.url } })
  const exitCode = await run(args, terminal)
  return { exitCode, stdout: stdout(), stderr: stderr(), json: () => JSON.parse(stdout()) }
}
const logIn = async () => expect((await lade('login', '--email', `${Math.random()}@example.org`)).exitCode).toBe(0)

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true })
    await writeFile(join(cwd, path), content)
  }
}
const unique = () => `${Math.random()}`
const read = (path: string) => readFile(join(cwd, path), 'utf8')

/** A folder with everything that one can have. */
async function site(): Promise<void> {
  await write({ 'site/index.html': `<h1>${unique()}</h1>`, 'site/docs/a b.txt': unique(), 'site/docs/empty': '' })
  await write({ 'site/.env': 'secret' })
  await mkdir(join(cwd, 'site/nothing'))
  await symlink('docs/a b.txt', join(cwd, 'site/link'))
}

describe('lade put -r', () => {
  it('makes one root of a folder, and sends only what is not there', async () => {
    await site()
    const first = await lade('put', '-r', 'site')
    expect(first).toMatchObject({ exitCode: 0, stderr: 'Skipped: 1 hidden (--hidden includes them).\n' })
    expect(first.stdout.split('\n')).toEqual([
      'site',
      expect.stringMatching(/^ {2}cid {5}bafybei\w{52}$/),
      expect.stringMatching(/^ {2}url {5}http:.*\/p\/bafybei\w{52}\/$/),
      '  access  public: anyone with the URL',
      expect.stringMatching(/^ {2}files {3}3 files, \d+ B$/),
      expect.stringMatching(/^ {2}sent {4}2 files, \d+ B; 1 file already stored$/),
      expect.stringMatching(/^ {2}term {4}7 days, until .*; sponsored$/),
      expect.stringMatching(/^ {2}deal {4}d-0x[0-9a-f]+$/),
      '',
    ])
    const url = /url +(\S+)/.exec(first.stdout)?.[1] ?? ''
    expect(await (await fetch(url)).text()).toBe(await read('site/index.html'))
    await write({ 'site/new': unique() })
    const again = (await lade('put', '-r', 'site', '--json')).json()
    expect(again).toMatchObject({ file: 'site', kind: 'folder', files: 4, sentFiles: 1, foundFiles: 3 })
    expect(again).not.toHaveProperty('entries')
  })

  it('takes folders and files side by side, a line each', async () => {
    await write({ 'one/a': unique(), 'two/b': unique(), alone: unique() })
    const { exitCode, stdout, stderr } = await lade('put', '-r', 'one', 'two/', 'alone')
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^2 folders and 1 file uploaded, /),
    })
    const names = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  ').at(-1)?.trim())
    expect(names.sort()).toEqual(['alone', 'one/', 'two/'])
  })

  it('keeps name, term and access', async () => {
    await logIn()
    await write({ 'site/a': unique() })
    const { cid } = (await lade('put', '-r', 'site', '--private', '--days', '3', '--name', 'other', '--json')).json()
    expect((await fetch(`${service.url}/p/${cid}/`)).status).toBe(404)
    const files = (await lade('ls', '--json')).json()
    expect(files).toMatchObject([{ cid, kind: 'folder', filename: 'other', term: '3 days', visibility: 'private' }])
  })

  it('refuses what a folder cannot have', async () => {
    await write({ 'site/a': unique() })
    for (const flags of [
      ['--type', 'text/plain'],
      ['--cid', 'piece'],
    ]) {
      const { exitCode, stderr } = await lade('put', '-r', 'site', ...flags)
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--loose')])
    }
  })
})

describe('lade deploy', () => {
  it('says what changed since the last time, and where the site is', async () => {
    await logIn()
    await site()
    const first = await lade('deploy', 'site')
    expect(first.exitCode).toBe(0)
    expect(first.stdout).toMatch(/changes {2}first deploy from this machine\n$/)
    expect(first.stdout).toMatch(/site {5}http:\/\/bafybei\w{52}\.ipfs\.example\.com\/\n/)
    const cid = /cid +(\S+)/.exec(first.stdout)?.[1]
    await rm(join(cwd, 'site/docs/empty'))
    await write({ 'site/index.html': unique(), 'site/new.txt': unique() })
    const second = await lade('deploy', 'site')
    expect(second.stdout).toMatch(/sent {5}2 files, /)
    expect(second.stdout).toMatch(/changes {2}1 new, 1 changed, 1 removed, 3 same since /)
    expect(second.stdout.split('\n').slice(-4)).toEqual(['    + new.txt', '    ~ index.html', '    - docs/empty', ''])
    const third = (await lade('deploy', 'site', '--json')).json()
    expect(third).toMatchObject({ sentFiles: 0, changes: { added: [], changed: [], removed: [], same: 5 } })
    expect(third.since.cid).toBe(third.cid)
    expect(third.cid).not.toBe(cid)
    expect(third.siteUrl).toBe(`http://${third.cid}.ipfs.example.com/`)
    expect((await lade('deploy', 'site', '-q')).stdout).toBe(`${third.siteUrl}\n`)
  })

  it('refuses what is no folder', async () => {
    await write({ file: 'x' })
    expect(await lade('deploy', 'file')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is a file') })
    expect(await lade('deploy', 'nowhere')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no folder') })
  })
})

describe('lade ls CID', () => {
  it('lists what is in a folder, or at a path of it', async () => {
    await site()
    const { cid } = (await lade('put', '-r', 'site', '--json')).json()
    const { exitCode, stdout } = await lade('ls', cid)
    expect(exitCode).toBe(0)
    const names = stdout
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/).at(-1))
    expect(names.sort()).toEqual(['docs/', 'index.html', 'link -> docs/a b.txt', 'nothing/'])
    expect((await lade('ls', `${cid}/docs`, '--json')).json()).toMatchObject([
      { name: 'a b.txt', kind: 'file', size: expect.any(Number) },
      { name: 'empty', kind: 'file', size: 0 },
    ])
    expect(await lade('ls', `${cid}/nothing`)).toMatchObject({ exitCode: 0, stderr: 'The folder is empty.\n' })
    expect((await lade('ls', `${cid}/nowhere`)).exitCode).toBe(4)
  })

  it('still finds a file by its cid', async () => {
    await logIn()
    await write({ 'large.txt': unique().repeat(100_000) })
    const { cid } = (await lade('put', 'large.txt', '--json')).json()
    expect(cid).toMatch(/^bafybei/)
    expect((await lade('ls', cid, '--json')).json()).toMatchObject([{ cid, filename: 'large.txt' }])
    expect((await lade('get', cid, '-o', 'copy.txt')).stdout).toMatch(/^Saved copy\.txt, /)
    expect(await read('copy.txt')).toBe(await read('large.txt'))
  })
})

describe('lade get of a folder', () => {
  it('saves all of it, verified, and fetches no file twice', async () => {
    await site()
    await write({ 'site/large': '0123456789'.repeat(150_000) })
    const { cid } = (await lade('put', '-r', 'site', '--json')).json()
    const saved = await lade('get', cid, '-o', 'copy')
    expect(saved).toMatchObject({ exitCode: 0, stderr: '' })
    expect(saved.stdout).toMatch(/^Saved copy, 4 files, 1\.4 MiB, verified against its id\.\n$/)
    for (const path of ['index.html', 'docs/a b.txt', 'docs/empty', 'large']) {
      expect(await read(`copy/${path}`)).toBe(await read(`site/${path}`))
    }
    expect(await readlink(join(cwd, 'copy/link'))).toBe('docs/a b.txt')
    expect((await stat(join(cwd, 'copy/nothing'))).isDirectory()).toBe(true)
    await rm(join(cwd, 'copy/index.html'))
    expect((await lade('get', cid, '-o', 'copy', '--json')).json()).toMatchObject({ files: 4, fetchedFiles: 1 })
    expect((await lade('put', '-r', 'copy', '--json')).json().cid).toBe(cid)
  })

  it('takes a path in a folder, a file or a folder', async () => {
    await site()
    const { cid } = (await lade('put', '-r', 'site', '--json')).json()
    expect((await lade('get', `${cid}/docs/a b.txt`)).stdout).toMatch(/^Saved a b\.txt, /)
    expect(await read('a b.txt')).toBe(await read('site/docs/a b.txt'))
    expect((await lade('get', `${service.url}/p/${cid}/docs/a%20b.txt`, '-o', '-')).stdout).toBe(await read('a b.txt'))
    expect((await lade('get', `${cid}/docs`)).stdout).toMatch(/^Saved docs, 2 files/)
    expect((await readdir(join(cwd, 'docs'))).sort()).toEqual(['a b.txt', 'empty'])
    expect((await lade('get', `${cid}/nowhere`)).exitCode).toBe(4)
    expect((await lade('get', cid, '-o', '-')).exitCode).toBe(2)
  })

  it('replaces no file without --force, and writes nothing outside', async () => {
    await write({ 'site/a': 'new' })
    await symlink('../../outside', join(cwd, 'site/up'))
    await symlink('/etc/passwd', join(cwd, 'site/root'))
    await mkdir(join(cwd, 'site/sub'))
    await write({ 'site/sub/b': 'b' })
    const { cid } = (await lade('put', '-r', 'site', '--json')).json()
    await write({ 'copy/a': 'old' })
    expect(await lade('get', cid, '-o', 'copy')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('--force'),
    })
    expect(await read('copy/a')).toBe('old')
    const forced = await lade('get', cid, '-o', 'copy', '--force')
    expect(forced.stderr.split('\n').sort()).toEqual([
      '',
      'root is left out: it is a symbolic link to /etc/passwd.',
      'up is left out: it is a symbolic link to ../../outside.',
    ])
    expect(await read('copy/a')).toBe('new')
    expect((await readdir(join(cwd, 'copy'))).sort()).toEqual(['a', 'sub'])

    // A link on this disk that takes the place of a folder is not followed.
    await mkdir(join(cwd, 'elsewhere'))
    await mkdir(join(cwd, 'trap'))
    await symlink('../elsewhere', join(cwd, 'trap/sub'))
    expect((await lade('get', cid, '-o', 'trap')).exitCode).toBe(1)
    expect(await readdir(join(cwd, 'elsewhere'))).toEqual([])
  })
})
