import type { createLadeClient, walletOf } from '../client.ts'
import { concatBytes } from '../concat-bytes.ts'
import type { createClient } from '../create-client.ts'
import type { FolderItem, LadeClient, LadeClientOptions, PutProgress } from '../options.ts'
import { noise } from './noise.ts'

/** What the cases run with, in Node and in a page. */
export interface SuiteFixture {
  readonly createLadeClient: typeof createLadeClient
  /** With limits of one's own; undefined for an installed package, which does not export it. */
  readonly createClient?: typeof createClient | undefined
  readonly walletOf: typeof walletOf
  /** A real service, and a token there. */
  readonly url: string
  readonly token: string
  /** A `FakeService`, for parts of any size. */
  readonly fakeUrl: string
  readonly fakeToken: string
  /** The unixfs-v1-2025 CIDs of `noise(size)`, by size, as `ipfs-unixfs-importer` gives them. */
  readonly cids: Readonly<Record<number, string>>
  readonly isBrowser: boolean
  /** How many workers were started so far; undefined where nobody counts. */
  readonly workersStarted?: () => number
}

export interface SuiteCase {
  readonly title: string
  /** True where a file is cut into parts that are smaller than a published client's. */
  readonly needsSmallParts?: true
  readonly run: (fixture: SuiteFixture) => Promise<void>
}

const MIB = 1_048_576
const ADDRESS = `0x${'1'.repeat(40)}`
const SIGNATURE = `0x${'2'.repeat(130)}`
const SMALL_LIMITS = { singleMaxBytes: 3 * MIB, partBytes: 2 * MIB }

const SMALL = 2 * MIB + 7
const PARTS = 7 * MIB + 1
/** Of no other case. */
const FOLDER_FILE = 2 * MIB + 9
const BIG = 12 * MIB + 3
/** One part and a bit, with the limits that there are outside of tests. */
const COMPOSED = 127 * MIB + 5 * MIB + 1
/** The sizes of which `cids` has the id. */
export const SUITE_SIZES: readonly number[] = [SMALL, FOLDER_FILE, PARTS, BIG, COMPOSED]

/** Cases that hold wherever the client runs. Each uses bytes of its own size. */
export const SUITE: readonly SuiteCase[] = [
  {
    title: 'puts an array, a Blob, a File and a stream under the CID that IPFS tools print',
    async run(fixture) {
      const bytes = noise(SMALL)
      const sources = [bytes, new Blob([bytes]), new File([bytes], 'a.bin'), new Blob([bytes]).stream()]
      for (const source of sources) same((await real(fixture).put(source)).cid, fixture.cids[SMALL])
    },
  },
  {
    title: 'gives a file back in three ways, checked',
    async run(fixture) {
      const bytes = noise(SMALL)
      const client = real(fixture)
      const { cid } = await client.put(bytes)
      const download = await client.get(cid)
      same(download.verified, true)
      sameBytes(await download.bytes(), bytes)
      sameBytes(new Uint8Array(await (await (await client.get(cid)).blob()).arrayBuffer()), bytes)
      sameBytes(await read((await client.get(cid)).body), bytes)
    },
  },
  {
    title: 'has it proved that a file is held, and changes its deal',
    async run(fixture) {
      const client = real(fixture)
      const { cid, dealId } = await client.put(noise(90_001), { cid: 'piece' })
      const { pieceCid, isPieceOfCid } = await oncePlaced(() => client.challenge(cid))
      same([pieceCid, isPieceOfCid].join(), `${cid},true`)
      same((await client.deals.setRedundancy(dealId, 1)).redundancy, 1)
      same((await client.deals.extend(dealId, { days: 2 })).term, '32 days')
      same((await client.deals.proofs(dealId)).audits[0]?.passed, true)
    },
  },
  {
    title: 'keeps name and type of a File',
    async run(fixture) {
      const file = new File([noise(40_001)], 'naïve plan.txt', { type: 'text/plain' })
      const { cid } = await real(fixture).put(file)
      const { filename, contentType } = await real(fixture).get(cid)
      same([filename, contentType].join(), 'naïve plan.txt,text/plain')
    },
  },
  {
    title: 'puts under raw, sha2-256 and piece ids, and checks them when they come back',
    async run(fixture) {
      const bytes = noise(70_000)
      const client = real(fixture)
      const { sha256, pieceCid } = await client.put(bytes)
      same((await client.put(bytes, { cid: 'sha256' })).cid, sha256)
      same((await client.put(bytes, { cid: 'piece' })).cid, pieceCid)
      const raw = await client.put(bytes, { cid: 'raw' })
      for (const cid of [sha256 ?? '', pieceCid ?? '', raw.cid]) {
        const download = await client.get(cid)
        same(download.verified, true)
        sameBytes(await download.bytes(), bytes)
      }
    },
  },
  {
    title: 'refuses bytes that do not have the id expected of them',
    async run(fixture) {
      const failure = real(fixture).put(noise(1000), { expectedCid: fixture.cids[SMALL] })
      same(await codeOf(failure), 'cid_mismatch')
    },
  },
  {
    title: 'gives ranges, and the rest of what is there',
    async run(fixture) {
      const bytes = noise(SMALL)
      const client = real(fixture)
      const { cid } = await client.put(bytes)
      sameBytes(await (await client.get(cid, { from: 5, to: 700_000 })).bytes(), bytes.subarray(5, 700_001))
      const rest = await client.get(cid, { have: new Blob([bytes.subarray(0, 900_000)]) })
      same(rest.verified, true)
      sameBytes(await rest.bytes(), bytes.subarray(900_000))
    },
  },
  {
    title: 'hashes a big Blob in a worker to the same id as here',
    async run(fixture) {
      const blob = new Blob([noise(BIG)])
      const before = fixture.workersStarted?.() ?? 0
      same((await fake(fixture).put(blob)).cid, fixture.cids[BIG])
      if (fixture.workersStarted !== undefined) same(fixture.workersStarted(), before + 1)
      same((await fake(fixture, { threads: false, token: undefined }).put(blob)).cid, fixture.cids[BIG])
    },
  },
  {
    title: 'composes an array, a Blob and a stream of parts, with progress that only grows',
    needsSmallParts: true,
    async run(fixture) {
      const bytes = noise(PARTS)
      for (const source of [bytes, new Blob([bytes]), new Blob([bytes]).stream()]) {
        const reports: PutProgress[] = []
        const onProgress = (progress: PutProgress) => void reports.push(progress)
        const result = await fake(fixture, { token: undefined }).put(source, { onProgress })
        same(result.cid, fixture.cids[PARTS])
        for (const [place, now] of reports.entries()) {
          const before = reports[place - 1] ?? now
          if (now.hashedBytes < before.hashedBytes || now.sentBytes < before.sentBytes) throw new Error('it went back')
        }
        same(JSON.stringify(reports.at(-1)?.parts), '{"total":4,"sent":4,"found":0}')
      }
    },
  },
  {
    title: 'tells how much of a body has gone out while it goes',
    async run(fixture) {
      // Browsers tell of progress every 50 ms: a body must take longer than that, on a fast machine too.
      const sizeBytes = 95 * MIB
      const sent: number[] = []
      const onProgress = ({ sentBytes }: PutProgress) => void sent.push(sentBytes)
      await real(fixture).put(new Blob([noise(sizeBytes)]), { cid: 'sha256', onProgress })
      same(sent.at(-1), sizeBytes)
      same(
        sent.some((bytes) => bytes > 0 && bytes < sizeBytes),
        true,
      )
    },
  },
  {
    title: 'sends nothing of what is there',
    async run(fixture) {
      const bytes = noise(PARTS)
      const client = fake(fixture)
      const first = await client.put(bytes)
      let last: PutProgress | undefined
      const again = await client.put(new Blob([bytes]), {
        onProgress: (progress) => {
          last = progress
        },
      })
      same(again.dealId, first.dealId)
      same(last?.parts.sent, 0)
    },
  },
  {
    title: 'puts and gets a file over 100 MB',
    async run(fixture) {
      const client = real(fixture)
      const bytes = noise(COMPOSED)
      const { cid, size } = await client.put(new Blob([bytes]))
      same([cid, size].join(), [fixture.cids[COMPOSED], COMPOSED].join())
      const download = await client.get(cid)
      same(download.verified, true)
      sameBytes(await download.bytes(), bytes)
    },
  },
  {
    title: 'holds the last bytes back of what is not what it was asked for',
    async run(fixture) {
      const altering: typeof fetch = async (input, init) => {
        const response = await fetch(input, init)
        if (!String(input).includes('/p/')) return response
        const bytes = new Uint8Array(await response.arrayBuffer())
        bytes.fill(7, -3)
        return new Response(bytes, { headers: response.headers })
      }
      const { cid } = await real(fixture).put(noise(SMALL))
      const { body } = await real(fixture, { fetch: altering }).get(cid)
      const chunks: Uint8Array[] = []
      same(await codeOf(read(body, chunks)), 'cid_mismatch')
      if (chunks.reduce((sum, { length }) => sum + length, 0) >= SMALL)
        throw new Error('the last bytes were handed over')
    },
  },
  {
    title: 'rebuilds the errors of the service, and knows when there is none',
    async run(fixture) {
      same(await codeOf(real(fixture).get('myfile01')), 'not_found')
      same(await codeOf(real(fixture, { token: undefined }).usage()), 'no_token')
      const nobody = fixture.createLadeClient({ url: 'http://127.0.0.1:9', retry: { attempts: 1 } })
      same(await codeOf(nobody.info()), 'unreachable')
    },
  },
  {
    title: 'signs requests by an account, and may send signatures to another origin',
    async run(fixture) {
      const account = { address: ADDRESS, signMessage: async () => SIGNATURE }
      const client = real(fixture, { token: undefined, wallet: { account, chainId: 1 } })
      // This service takes no wallets, and says so of a signature that it was sent.
      same(await codeOf(client.put(noise(30_001))), 'invalid_signature')
      same(await codeOf(client.usage()), 'invalid_signature')
      const fakeWallet = { account, chainId: 1 }
      same((await fake(fixture, { token: undefined, wallet: fakeWallet }).put(noise(PARTS))).cid, fixture.cids[PARTS])
    },
  },
  {
    title: 'signs in by a wallet that somebody sits at',
    async run(fixture) {
      const shown: unknown[] = []
      const request = async ({ method, params }: { method: string; params?: unknown }) => {
        if (method === 'eth_requestAccounts') return [ADDRESS]
        shown.push(params)
        return SIGNATURE
      }
      const client = fake(fixture, { token: undefined, wallet: fixture.walletOf({ request }) })
      for (let times = 0; times < 2; times += 1) same((await client.put(noise(SMALL))).cid, fixture.cids[SMALL])
      same(shown.length, 1)
    },
  },
  {
    title: 'ends by the reason of a signal',
    async run(fixture) {
      const controller = new AbortController()
      const reason = new RangeError('enough')
      const onProgress = ({ phase }: PutProgress) => {
        if (phase === 'sending') controller.abort(reason)
      }
      const put = fake(fixture, { token: undefined }).put(new Blob([noise(PARTS)]), {
        signal: controller.signal,
        onProgress,
      })
      same(await put.catch((error: unknown) => error), reason)
    },
  },
  {
    title: 'puts a folder as one root, sends what changed, lists it and reads it back checked',
    async run(fixture) {
      const client = real(fixture)
      const small = Array.from({ length: 300 }, (_, at) => ({
        path: `files/${at}.txt`,
        file: new Blob([`file ${at}`]),
      }))
      const items: FolderItem[] = [
        ...small,
        { path: 'index.html', file: new File(['<h1>Hello</h1>'], 'index.html') },
        { path: 'large.bin', file: new Blob([noise(FOLDER_FILE)]) },
        { path: 'empty.txt', file: new Blob([]) },
        { path: 'empty', kind: 'folder' },
        { path: 'link', kind: 'symlink', target: 'index.html' },
      ]
      const first = await client.putFolder(items, { filename: 'site' })
      same([first.kind, first.files, first.sentFiles, first.foundFiles].join(), 'folder,303,302,1')
      same((await client.putFolder(items)).sentFiles, 0)
      const changed = await client.putFolder([...items.slice(1), { path: 'files/0.txt', file: new Blob(['new']) }])
      same([changed.sentFiles, changed.sentBytes].join(), '1,3')
      if (changed.cid === first.cid) throw new Error('another folder has another root')

      const listed: string[] = []
      for await (const { name, kind } of client.files.entries(first.cid, { limit: 2 })) listed.push(`${kind} ${name}`)
      same(listed.sort().join(), 'file empty.txt,file index.html,file large.bin,folder empty,folder files,symlink link')
      let read = 0
      for await (const node of client.readFolder(first.cid)) {
        read += 1
        if (node.kind === 'symlink') same(node.target, 'index.html')
        if (node.names.join('/') === 'large.bin') same(node.cid, fixture.cids[FOLDER_FILE])
      }
      same(read, 303 + 3 + 1)
      for await (const { cid, names } of client.readFolder(first.cid, { path: 'files/7.txt' })) {
        same(names.length, 0)
        sameBytes(await (await client.get(cid)).bytes(), new TextEncoder().encode('file 7'))
      }
      const files: string[] = []
      for await (const { filename, kind } of client.files.list({ limit: 1000 })) {
        if (kind === 'folder' && filename === 'site') files.push(filename)
      }
      same(files.length, 1)
    },
  },
  {
    title: 'takes paths in Node only',
    async run(fixture) {
      const failure = await real(fixture)
        .put('/no/such/file')
        .catch((error: unknown) => error)
      same(failure instanceof TypeError, fixture.isBrowser)
    },
  },
]

function real({ createLadeClient: create, url, token }: SuiteFixture, options: LadeClientOptions = {}): LadeClient {
  return create({ url, token, ...options })
}

function fake(fixture: SuiteFixture, options: LadeClientOptions = {}): LadeClient {
  const { createLadeClient: createPublished, createClient: create = createPublished, fakeUrl, fakeToken } = fixture
  return create({ url: fakeUrl, token: fakeToken, ...options }, SMALL_LIMITS)
}

function same<Value>(actual: Value, expected: Value): void {
  if (actual !== expected) throw new Error(`${String(actual)} is not ${String(expected)}`)
}

function sameBytes(actual: Uint8Array, expected: Uint8Array): void {
  same(actual.length, expected.length)
  if (!actual.every((byte, at) => byte === expected[at])) throw new Error('the bytes differ')
}

async function codeOf(failing: Promise<unknown>): Promise<unknown> {
  return failing.then(
    () => 'nothing',
    (error: { readonly code?: unknown }) => error.code ?? String(error),
  )
}

async function read(body: ReadableStream<Uint8Array>, chunks: Uint8Array[] = []): Promise<Uint8Array> {
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value)
  return concatBytes(chunks)
}

/** What comes of a call once a prover has proved that it holds the file. */
async function oncePlaced<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let waitsLeft = 100; ; waitsLeft -= 1) {
    try {
      return await call()
    } catch (error) {
      if (waitsLeft === 0 || (error as { code?: string }).code !== 'not_placed') throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}
