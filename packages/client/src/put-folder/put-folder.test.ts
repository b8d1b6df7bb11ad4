import { mkdir, mkdtemp, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LadeError } from '@lade/core/errors'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../create-client.ts'
import type { FolderItem, FolderProgress, FolderSource, LadeClientOptions, PutState } from '../options.ts'
import { type FolderContent, importFolder } from '../testing/fake-folders.ts'
import { FAKE_TOKEN, type FakeService, MOST_NAMED, refuse, startFakeService } from '../testing/fake-service.ts'
import { unixfsV1Cid } from '../testing/importer.ts'
import { noise } from '../testing/noise.ts'

const MIB = 1_048_576
const LIMITS = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }

let service: FakeService
let folder: string
beforeEach(async () => {
  service = await startFakeService()
  folder = await mkdtemp(join(tmpdir(), 'lade-folder-'))
})
afterEach(async () => {
  await service.close()
  await rm(folder, { recursive: true, force: true })
})

const clientOf = (options: LadeClientOptions = {}) =>
  createClient({ url: service.url, token: FAKE_TOKEN, retry: { baseDelayMs: 1 }, ...options }, LIMITS)

type Tree = Map<string, FolderContent>
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

async function write(tree: Tree): Promise<void> {
  for (const [path, content] of tree) {
    const place = join(folder, path)
    await mkdir(dirname(place), { recursive: true })
    if (content === undefined) await mkdir(place, { recursive: true })
    else if (typeof content === 'string') await symlink(content, place)
    else await writeFile(place, content)
  }
}

const itemsOf = (tree: Tree): FolderItem[] =>
  Array.from(tree, ([path, content]) => {
    if (content === undefined) return { path, kind: 'folder' }
    if (typeof content === 'string') return { path, kind: 'symlink', target: content }
    return { path, file: new Blob([new Uint8Array(content)]) }
  })

const site = (): Tree =>
  new Map<string, FolderContent>([
    ['index.html', text('<h1>Hello</h1>')],
    ['assets/app.js', text('alert(1)')],
    ['assets/größe/日本 語.txt', text('names')],
    ['empty.txt', new Uint8Array()],
    ['copy.html', text('<h1>Hello</h1>')],
    ['big.bin', noise(2 * MIB + 77)],
    ['huge.bin', noise(5 * MIB + 1)],
    ['edge.bin', noise(MIB)],
    ['nothing/here', undefined],
    ['link', 'assets/app.js'],
    ['up', '../../etc/passwd'],
  ])

function memoryState(): PutState & { text: string | undefined } {
  return {
    text: undefined,
    async load() {
      return this.text
    },
    async save(value) {
      this.text = value
    },
    async clear() {
      this.text = undefined
    },
  }
}

const sent = (path: string) => service.seen.filter((seen) => seen.method === 'POST' && seen.path === path)

describe('putFolder', () => {
  it('makes the root of the reference importer of a path, a URL and a list, and sends every file once', async () => {
    const tree = site()
    await write(tree)
    const root = await importFolder(tree)
    const sources: [string, () => FolderSource][] = [
      ['a path', () => folder],
      ['a URL', () => pathToFileURL(folder)],
      ['items', () => itemsOf(tree)],
      [
        'items that come one by one',
        async function* () {
          yield* itemsOf(tree)
        },
      ],
    ]
    for (const [name, source] of sources) {
      service.files.clear()
      service.seen.length = 0
      const result = await clientOf().putFolder(source())
      expect(result, name).toMatchObject({ cid: root, files: 8, sentFiles: 6, foundFiles: 2 })
      expect(result.sentBytes).toBe(8 * MIB + 77 + 1 + 14 + 8 + 5)
      expect(sent('/api/batches')).toHaveLength(1)
      // One large file whole, the other in three parts.
      expect(sent('/api/upload')).toHaveLength(4)
      expect(sent('/api/directories')).toHaveLength(2)
      expect(result.entries.map(({ path }) => path).sort()).toEqual([...tree.keys()].sort())
    }
    expect(service.folders.map(({ root: made }) => made)).toEqual(sources.map(() => root))
  })

  it('says which files were sent for the folder, and which were there before', async () => {
    const there = text('there before')
    const cid = await unixfsV1Cid(there)
    service.stage(there, cid)
    const state = memoryState()
    await clientOf().putFolder(
      itemsOf(
        new Map([
          ['old', there],
          ['new', text('new')],
        ]),
      ),
      { state },
    )
    const [made] = service.folders
    expect(made?.entries).toEqual([
      { path: 'old', cid },
      { path: 'new', cid: await unixfsV1Cid(text('new')), keep: false },
    ])
  })

  it('takes name, term and visibility, and the name of a path where none is given', async () => {
    await write(new Map([['a', text('a')]]))
    const options = { visibility: 'private', termDays: 3 } as const
    await clientOf().putFolder(folder, { ...options, filename: 'site' })
    await clientOf().putFolder(folder)
    await clientOf().putFolder(folder, { filename: null })
    expect(service.folders.map(({ filename }) => filename)).toEqual(['site', folder.split('/').at(-1), null])
    for (const path of ['/api/batches', '/api/directories']) {
      expect(sent(path)[0]?.headers).toMatchObject({ 'x-visibility': 'private', 'x-term-days': '3' })
    }
  })

  it('leaves hidden files out, and names them, unless they are asked for', async () => {
    const shown: Tree = new Map([['a/b', text('b')]])
    const hidden: Tree = new Map([
      ['.env', text('secret')],
      ['a/.git/head', text('head')],
    ])
    await write(shown)
    await write(hidden)
    const leftOut: string[] = []
    const { cid } = await clientOf().putFolder(folder, {
      onLeftOut: (path, because) => leftOut.push(`${path} ${because}`),
    })
    expect(cid).toBe(await importFolder(shown))
    expect(leftOut).toEqual(['.env hidden', 'a/.git hidden'])
    const all = await clientOf().putFolder(folder, { hidden: true })
    expect(all.cid).toBe(await importFolder(new Map([...shown, ...hidden])))
  })

  it('reads the paths of the files of an input, below the folder that was chosen', async () => {
    const file = (path: string) => {
      const made = new File([path], path.split('/').at(-1) ?? '')
      Object.defineProperty(made, 'webkitRelativePath', { value: path })
      return made
    }
    const { cid } = await clientOf().putFolder([file('site/index.html'), file('site/a/b.txt')])
    const tree: Tree = new Map([
      ['index.html', text('site/index.html')],
      ['a/b.txt', text('site/a/b.txt')],
    ])
    expect(cid).toBe(await importFolder(tree))
    expect(service.folders[0]?.filename).toBe('site')
  })

  it('asks again where more is missing than an error names', async () => {
    const tree: Tree = new Map(
      Array.from({ length: 2 * MOST_NAMED + 10 }, (_, index) => [`${index}`, text(`${index}`)]),
    )
    const result = await clientOf().putFolder(itemsOf(tree))
    expect(result).toMatchObject({ cid: await importFolder(tree), sentFiles: tree.size, foundFiles: 0 })
    expect(sent('/api/directories')).toHaveLength(4)
  })

  it('goes on where it was interrupted, and knows what it has sent', async () => {
    const tree: Tree = new Map(Array.from({ length: 20 }, (_, index) => [`${index}`, text(`file ${index}`)]))
    tree.set('big', noise(MIB + 1))
    await write(tree)
    const state = memoryState()
    service.failOnce('POST /api/upload', refuse(429, 'quota_exceeded', { unit: 'bytes', used: 1, limit: 1, size: 1 }))
    const failing = clientOf().putFolder(folder, { state, concurrency: 1 })
    await expect(failing).rejects.toMatchObject({ code: 'quota_exceeded' })
    service.seen.length = 0
    const result = await clientOf().putFolder(folder, { state, concurrency: 1 })
    expect(result.cid).toBe(await importFolder(tree))
    const [made] = service.folders
    expect(made?.entries.every((entry) => 'keep' in entry && entry.keep === false)).toBe(true)
    service.seen.length = 0
    await clientOf().putFolder(folder, { state })
    expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /api/directories'])
    expect(service.folders.at(-1)?.entries.some((entry) => 'keep' in entry)).toBe(false)
  })

  it('sends one file of many that changed, and reads no other again', async () => {
    const tree: Tree = new Map(Array.from({ length: 30 }, (_, index) => [`${index}`, text(`file ${index}`)]))
    await write(tree)
    const state = memoryState()
    await clientOf().putFolder(folder, { state })
    // Told apart by the times, not by the bytes.
    const kept = JSON.parse(state.text ?? '') as { files: Record<string, [string, string]> }
    expect(Object.keys(kept.files)).toHaveLength(30)
    const other = await unixfsV1Cid(text('other!'))
    const fingerprint = kept.files['5']?.[0] ?? ''
    state.text = JSON.stringify({ ...kept, files: { ...kept.files, 5: [fingerprint, other] } })
    service.stage(text('other!'), other)
    tree.set('7', text('changed'))
    await writeFile(join(folder, '7'), 'changed')
    service.seen.length = 0
    const result = await clientOf().putFolder(folder, { state })
    expect(result).toMatchObject({ sentFiles: 1, sentBytes: 7, foundFiles: 29 })
    expect(sent('/api/batches')).toHaveLength(1)
    expect(sent('/api/directories')).toHaveLength(2)
    expect(result.cid).toBe(await importFolder(new Map([...tree, ['5', text('other!')]])))
  })

  it('reads a file again whose size is the same and whose times are not', async () => {
    await write(new Map([['a', text('one')]]))
    const state = memoryState()
    await clientOf().putFolder(folder, { state })
    const { mtime } = await stat(join(folder, 'a'))
    await writeFile(join(folder, 'a'), 'two')
    await utimes(join(folder, 'a'), mtime, mtime)
    expect((await clientOf().putFolder(folder, { state })).cid).toBe(await importFolder(new Map([['a', text('two')]])))
  })

  it('fails by source_changed, names the file, and forgets what it knew', async () => {
    // Only small files are kept in memory until they are sent.
    await write(new Map([['a', new Uint8Array(2 * 1024 * 1024)]]))
    const state = memoryState()
    service.failOnce('POST /api/directories', () => writeFile(join(folder, 'a'), 'longer'))
    const failing = clientOf().putFolder(folder, { state })
    await expect(failing).rejects.toMatchObject({
      code: 'source_changed',
      message: expect.stringContaining('a changed'),
    })
    expect(JSON.parse(state.text ?? '')).toMatchObject({ files: {} })
    await clientOf().putFolder(folder, { state })
  })

  it('sends a small file as it was hashed, also when it changes afterwards', async () => {
    const files = new Map([['a', text('one')]])
    await write(files)
    service.failOnce('POST /api/directories', () => writeFile(join(folder, 'a'), 'longer'))
    expect((await clientOf().putFolder(folder)).cid).toBe(await importFolder(files))
  })

  it('tells how far it is, by numbers that only grow', async () => {
    const reports: FolderProgress[] = []
    await clientOf().putFolder(itemsOf(site()), { onProgress: (progress) => void reports.push(progress) })
    for (const [place, now] of reports.entries()) {
      const before = reports[place - 1] ?? now
      expect(now.hashedBytes).toBeGreaterThanOrEqual(before.hashedBytes)
      expect(now.sent.bytes).toBeGreaterThanOrEqual(before.sent.bytes)
      expect(now.files).toBeGreaterThanOrEqual(before.files)
    }
    expect(reports.at(-1)).toMatchObject({ phase: 'done', files: 8, toSend: { files: 6 }, sent: { files: 6 } })
    const { toSend, sent: all } = reports.at(-1) as FolderProgress
    expect(all.bytes).toBe(toSend.bytes)
  })

  it('sends a batch again that the service had no time for, and files of one that it could not take', async () => {
    service.failOnce(
      'POST /api/batches',
      refuse(503, 'storage_failed', { retryAfterSeconds: 0 }, { 'retry-after': '0' }),
    )
    const tree: Tree = new Map([
      ['a', text('a')],
      ['b', text('b')],
    ])
    const busy = { cid: await unixfsV1Cid(text('a')), size: 1, error: 'too_many_uploads', detail: 'busy' }
    const done = { cid: await unixfsV1Cid(text('b')), size: 1, expiresAt: '2030-01-01T00:00:00.000Z' }
    service.failOnce('POST /api/batches', (request, response) => {
      request.resume()
      service.stage(text('b'), done.cid)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ files: [busy, done] }))
    })
    const result = await clientOf().putFolder(itemsOf(tree))
    expect(result).toMatchObject({ cid: await importFolder(tree), sentFiles: 2 })
    expect(sent('/api/batches')).toHaveLength(3)
  })

  it('asks by itself for a file that is refused in a batch, and fails by its error', async () => {
    const a = { cid: await unixfsV1Cid(text('a')), size: 1, error: 'blocked', detail: 'no' }
    service.failOnce('POST /api/batches', (request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ files: [a] }))
    })
    service.failOnce('POST /api/upload', refuse(451, 'blocked', { reason: 'A complaint.' }))
    const failing = clientOf().putFolder([{ path: 'a', file: new Blob(['a']) }])
    await expect(failing).rejects.toMatchObject({ code: 'blocked', evidence: { reason: 'A complaint.' } })
  })

  it('gives up on a file that is missing however often it is sent', async () => {
    const a = await unixfsV1Cid(text('a'))
    service.failAlways('POST /api/directories', refuse(422, 'missing_entries', { missing: [a], count: 1 }))
    const failing = clientOf().putFolder([{ path: 'a', file: new Blob(['a']) }])
    await expect(failing).rejects.toMatchObject({ code: 'missing_entries' })
    expect(sent('/api/batches')).toHaveLength(3)
  })

  it.each<[string, FolderSource, object]>([
    ['a file', '/etc/hostname', { name: 'TypeError' }],
    ['a folder that is not there', '/no/such/folder', { code: 'ENOENT' }],
    ['a Blob', new Blob(['a']) as never, { name: 'TypeError' }],
    ['nothing', undefined as never, { name: 'TypeError' }],
    ['an item that is none', [{ path: 'a' } as never], { name: 'TypeError' }],
    ['two items of one path', ['a', 'a'].map((path) => ({ path, file: new Blob([path]) })), { code: 'bad_request' }],
    ['a path with ..', [{ path: '../a', file: new Blob(['a']) }], { code: 'bad_request' }],
  ])('refuses %s before anything is asked for', async (_, source, error) => {
    await expect(clientOf().putFolder(source)).rejects.toMatchObject(error)
    expect(service.seen).toEqual([])
  })

  it('refuses options that are none, and ends by the reason of a signal', async () => {
    await expect(clientOf().putFolder([], { concurrency: 0 })).rejects.toThrow(TypeError)
    await expect(clientOf().putFolder([], { recursive: true } as never)).rejects.toThrow('no option "recursive"')
    const controller = new AbortController()
    const onProgress = ({ phase }: FolderProgress) => {
      if (phase === 'sending') controller.abort(new RangeError('enough'))
    }
    const putting = clientOf().putFolder(itemsOf(site()), { onProgress, signal: controller.signal })
    await expect(putting).rejects.toThrow(RangeError)
    expect(LadeError.is(await putting.catch((error: unknown) => error))).toBe(false)
  })

  it('makes an empty folder', async () => {
    const { cid, files } = await clientOf().putFolder([])
    expect([cid, files]).toEqual(['bafybeiczsscdsbs7ffqz55asqdf3smv6klcw3gofszvwlyarci47bgf354', 0])
  })
})
