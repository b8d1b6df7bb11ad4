/**
 * Random trees of files, put by `lade put -r`, have the roots that `ipfs-unixfs-importer` prints, and come back equal to the byte by
 * `@helia/verified-fetch` and by `lade get`.
 *
 * Run it as `npm run e2e` in the root; `LADE_TEST_PLAN=full` tries 500 trees. It needs no network beyond loopback.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { createVerifiedFetch, type VerifiedFetch } from '@helia/verified-fetch'
import { importer } from 'ipfs-unixfs-importer'
import { startOwnServer } from '../acceptance/own-server.ts'
import type { OwnServer } from '../acceptance/server-under-test.ts'

const TREES = process.env.LADE_TEST_PLAN === 'full' ? 500 : 12
const READ_TIMEOUT_MS = 60_000
const LADE = new URL('../packages/cli/src/main.ts', import.meta.url).pathname
const run = promisify(execFile)

/** Pieces of names in several scripts, with marks, emoji, and what looks special and is not. */
const PIECES = [
  ...['a', 'B', 'Z', '0', '.', '-', ' ', '~', '%2F', '"', ':', '*', '\n', '#', '?'],
  ...['ä', 'e\u0301', 'ß', 'ж', 'Ω', 'א', 'ب', 'हि', 'ไทย', '日本', '한', '😀', '🏳️‍🌈', '\u{10fffd}'],
]
const MAX_NAME_BYTES = 240

/** Bytes of a file, the target of a symlink, or an empty folder. */
type Content = Uint8Array | string | undefined
type Tree = Map<string, Content>

/** Numbers that are the same for the same seed. */
function numbersOf(seed: number): (end: number) => number {
  let state = seed * 2_654_435_761 || 1
  return (end) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % end
  }
}

function randomTree(seed: number): Tree {
  const below = numbersOf(seed)
  const tree: Tree = new Map()
  const folders = ['']
  const nameOf = (): string => {
    let name = Array.from({ length: 1 + below(below(20) === 0 ? 60 : 6) }, () => PIECES[below(PIECES.length)]).join('')
    while (Buffer.byteLength(name) > MAX_NAME_BYTES) name = [...name].slice(0, -1).join('')
    return /^\.*$/.test(name) ? `${name}_` : name
  }
  const add = (folder: string, name: string, content: Content): string => {
    const path = folder === '' ? name : `${folder}/${name}`
    if (!tree.has(path) && !folders.includes(path)) tree.set(path, content)
    return path
  }
  const addFolder = (parent: string): void => {
    const path = parent === '' ? nameOf() : `${parent}/${nameOf()}`
    if (!tree.has(path) && !folders.includes(path)) folders.push(path)
  }
  if (below(3) === 0) for (let depth = 0; depth < 20; depth += 1) addFolder(folders.at(-1) ?? '')
  for (let count = 1 + below(60); count > 0; count -= 1) {
    const parent = folders[below(folders.length)] ?? ''
    const kind = below(10)
    if (kind < 2) addFolder(parent)
    else if (kind === 2) add(parent, nameOf(), `../${nameOf()}`)
    else add(parent, nameOf(), bytesOf(below))
  }
  // A folder that is sharded, in one tree of 25, and in one of 125 with 20,000 entries.
  const many = seed % 125 === 0 ? 20_000 : seed % 25 === 0 ? 5000 : 0
  for (let count = 0; count < many; count += 1) add('big', `${'long name '.repeat(5)}${count}`, Buffer.from(`${count}`))
  for (const folder of folders.slice(1)) {
    if (![...tree.keys(), ...folders].some((path) => path.startsWith(`${folder}/`))) tree.set(folder, undefined)
  }
  return tree
}

function bytesOf(below: (end: number) => number): Uint8Array {
  if (below(4) === 0) return new Uint8Array()
  // Some of more than one block.
  const sizeBytes = below(40) === 0 ? 1_048_576 + below(2_000_000) : below(200)
  return Buffer.alloc(sizeBytes, `${below(1_000_000_000)} `)
}

async function writeTree(folder: string, tree: Tree): Promise<void> {
  for (const [path, content] of tree) {
    const at = join(folder, path)
    await mkdir(content === undefined ? at : dirname(at), { recursive: true })
    if (typeof content === 'string') await symlink(content, at)
    else if (content !== undefined) await writeFile(at, content)
  }
}

/** What is in a folder, by its path; an empty folder is undefined. */
async function readTree(folder: string, path = ''): Promise<Tree> {
  const tree: Tree = new Map()
  const entries = await readdir(join(folder, path), { withFileTypes: true })
  if (entries.length === 0 && path !== '') tree.set(path, undefined)
  for (const entry of entries) {
    const below = path === '' ? entry.name : `${path}/${entry.name}`
    if (entry.isDirectory()) for (const [name, content] of await readTree(folder, below)) tree.set(name, content)
    else if (entry.isSymbolicLink()) tree.set(below, await readlink(join(folder, below)))
    else tree.set(below, await readFile(join(folder, below)))
  }
  return tree
}

/** The CIDs that the reference importer prints: of the root under an empty path, and of each file under its own. */
async function cidsOf(tree: Tree): Promise<ReadonlyMap<string, string>> {
  const byNames = (one: string, other: string): number => {
    const [names, others] = [one.split('/'), other.split('/')]
    const at = names.findIndex((name, index) => name !== others[index])
    return (names[at] ?? '') < (others[at] ?? '') ? -1 : 1
  }
  const candidates = [...tree.keys()].sort(byNames).map((path) => {
    const content = tree.get(path)
    if (content === undefined) return { path }
    return typeof content === 'string' ? { path, link: content } : { path, content }
  })
  const cids = new Map<string, string>()
  const store = { put: async <Key>(cid: Key) => cid }
  const options = { profile: 'unixfs-v1-2025', wrapWithDirectory: true } as const
  for await (const { cid, path = '' } of importer(
    candidates as Parameters<typeof importer>[0],
    store as never,
    options,
  )) {
    cids.set(path, cid.toString())
  }
  return cids
}

/** True for a symlink that `lade get` leaves out, since it leads out of the folder, by itself or through another one. */
function leavesFolder(tree: Tree, path: string): boolean {
  const content = tree.get(path)
  if (typeof content !== 'string') return false
  const target = posix.normalize(posix.join(posix.dirname(path), content))
  return target === '..' || target.startsWith('../') || leavesFolder(tree, target)
}

/** Names that the paths of `ipfs:` URLs do not carry through this client, which decodes them twice. */
const UNFETCHABLE = /[%#?\n]/

let server: OwnServer
let home: string
let verifiedFetch: VerifiedFetch | undefined
before(async () => {
  server = await startOwnServer({
    LADE_MIN_FREE_MB: '0',
    LADE_LOG_LEVEL: 'silent',
    LADE_SPONSORED_DAILY_MB: '100000',
    LADE_SPONSORED_DAILY_FILES: '10000000',
  })
  home = await mkdtemp(join(tmpdir(), 'lade-e2e-folders-'))
  verifiedFetch = await createVerifiedFetch({
    gateways: [server.baseUrl.origin],
    routers: [],
    allowInsecure: true,
    allowLocal: true,
    libp2pConfig: { addresses: { listen: [] }, transports: [], peerDiscovery: [], services: {} },
  })
})
after(async () => {
  await verifiedFetch?.stop()
  await server.discard()
  await rm(home, { recursive: true, force: true })
})

const lade = async (...args: readonly string[]): Promise<string> => {
  const env = {
    ...process.env,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_STATE_HOME: home,
    LADE_URL: server.baseUrl.origin,
  }
  const { stdout } = await run(process.execPath, [LADE, ...args], { env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

for (let seed = 1; seed <= TREES; seed += 1) {
  test(`tree ${seed}`, { timeout: 600_000 }, async () => {
    const tree = randomTree(TREES < 100 && seed === TREES ? 25 : seed)
    const folder = join(home, `tree ${seed}`)
    const copy = join(home, `copy ${seed}`)
    await mkdir(folder)
    await writeTree(folder, tree)
    try {
      const put = JSON.parse(await lade('put', '-r', '--hidden', '--sponsored', '--json', folder)) as { cid: string }
      const cids = await cidsOf(tree)
      assert.equal(put.cid, cids.get(''))
      await lade('get', put.cid, '-o', copy)
      const expected = [...(await readTree(folder))].filter(([path]) => !leavesFolder(tree, path))
      assert.deepEqual([...(await readTree(copy))].sort(), expected.sort())
      let fetched = 0
      for (const [path, content] of tree) {
        // Of a big folder some are enough.
        if (!(content instanceof Uint8Array) || (path.startsWith('big/') && fetched > 100)) continue
        fetched += 1
        const byPath = `ipfs://${put.cid}/${path.split('/').map(encodeURIComponent).join('/')}`
        const url = UNFETCHABLE.test(path) ? `ipfs://${cids.get(path)}` : byPath
        const response = await verifiedFetch?.(url, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
        assert.equal(response?.status, 200, url)
        assert.deepEqual(Buffer.from((await response?.arrayBuffer()) ?? []), Buffer.from(content), url)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
      await rm(copy, { recursive: true, force: true })
    }
  })
}
