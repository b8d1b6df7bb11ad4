import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { importBytes } from 'ipfs-unixfs-importer'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import * as Digest from 'multiformats/hashes/digest'
import { expect, test } from 'vitest'
import { type Answer, errorCode, send, sponsoredCaller, tokenCaller, upload } from '../caller.ts'
import { type Content, newContent, sha256Hex } from '../content.ts'
import { PLAN } from '../plan.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'
import { operatorOf, TOKEN_KEY } from './operator.ts'

/** The time in which a block holds everywhere, and after which nothing of it is left. */
const HOLDS_MS = 2000
const CONNECTIONS = 32
/** In the database, and in the object store. */
const SIZES = [20_000, 400_000]

const servers = useServers()

test('two seconds after a block no instance gives a byte of a hot file, under any of its names, and after an unblock all do', async () => {
  const harness = await startHarness(servers(), TOKEN_KEY)
  const { fleet } = harness
  const operator = await operatorOf()
  const [one, other] = fleet.instances
  if (one === undefined || other === undefined) throw new TypeError('nothing to ask')
  const caller = sponsoredCaller('198.51.100.7')
  const contents = SIZES.map((sizeBytes) => newContent(sizeBytes))
  const requests: Asked[] = []
  for (const content of contents) {
    expect((await upload(fleet.url, caller, content)).status).toBe(200)
    requests.push(...(await requestsFor(content, fleet.url)))
  }
  // A neighbour of the same size, which stays.
  const neighbour = newContent(20_000)
  expect((await upload(fleet.url, caller, neighbour)).status).toBe(200)
  const stays: Asked = { path: `/p/${neighbour.cid}`, sha256: neighbour.cid }

  const readers = startReaders(harness, [...requests, stays])
  try {
    await readers.untilEachWasAnswered(2)
    expect(strangers(readers.answers, ({ status }) => status === 200 || status === 206)).toEqual([])
    for (const { cid } of contents) await operator(one.url, 'POST', '/api/admin/blocks', { cid, reason: 'A complaint' })
    const blockedAt = performance.now()
    const late = await readers.begunAfter(blockedAt + HOLDS_MS, PLAN.blockedRequests * 1.1)
    const [ofNeighbour, ofBlocked] = [
      late.filter(({ asked }) => asked === stays),
      late.filter((a) => a.asked !== stays),
    ]
    expect(ofBlocked.length).toBeGreaterThanOrEqual(PLAN.blockedRequests)
    expect(
      strangers(ofBlocked, ({ said }) => said === '451 blocked'),
      harness.log(),
    ).toEqual([])
    expect(strangers(ofNeighbour, ({ isWhole }) => isWhole)).toEqual([])
    const lastServed = Math.max(
      ...readers.answers.filter((a) => a.asked !== stays && a.status < 400).map(({ begunAt }) => begunAt - blockedAt),
    )
    console.log(
      `${ofBlocked.length} late requests; the last that was served began ${Math.round(lastServed)} ms after the block`,
    )

    for (const { cid } of contents) await operator(other.url, 'DELETE', `/api/admin/blocks/${cid}`)
    const unblockedAt = performance.now()
    const again = await readers.begunAfter(unblockedAt + HOLDS_MS, 0)
    expect(
      strangers(again, ({ isWhole }) => isWhole),
      harness.log(),
    ).toEqual([])
  } finally {
    await readers.stop()
  }
})

test('two seconds after a block a caller is answered with nothing else by any instance, however it asks', async () => {
  const harness = await startHarness(servers(), TOKEN_KEY)
  const { fleet } = harness
  const operator = await operatorOf()
  const [one, other] = fleet.instances
  if (one === undefined || other === undefined) throw new TypeError('nothing to ask')
  const user = await tokenCaller(fleet.url)
  const staged = newContent(1000)
  expect((await upload(fleet.url, user, staged)).status).toBe(200)
  const visitor = '203.0.113.9'
  const session = await signIn(fleet.url, user.headers)
  const page = { ...session, Origin: fleet.url.origin }
  const anonymous = sponsoredCaller(visitor).headers
  const requests: Asked[] = [
    { path: '/api/files', headers: user.headers },
    { path: '/api/usage', headers: user.headers },
    { path: `/p/${staged.cid}`, headers: user.headers },
    { path: `/ipfs/${rawCidOf(staged)}?format=raw`, headers: user.headers },
    { method: 'PATCH', path: `/api/files/${staged.cid}`, headers: user.headers, json: { filename: 'a.txt' } },
    { path: '/api/files', headers: session },
    { path: '/api/usage', headers: session },
    { method: 'PATCH', path: `/api/files/${staged.cid}`, headers: page, json: { filename: 'b.txt' } },
    { method: 'POST', path: '/api/upload', headers: user.headers },
    { method: 'POST', path: '/api/upload', headers: page },
    { path: `/p/${staged.cid}`, headers: anonymous },
    { path: '/api/info', headers: anonymous },
    { path: '/', headers: anonymous },
    { method: 'POST', path: '/api/upload', headers: anonymous },
  ]
  // Somebody else, who is let in all the time.
  const stays: Asked = { path: '/api/files', headers: (await tokenCaller(fleet.url)).headers }

  const readers = startReaders(harness, [...requests, stays])
  try {
    await readers.untilEachWasAnswered(1)
    expect(strangers(readers.answers, ({ status }) => status === 200)).toEqual([])
    const block = (json: object) =>
      operator<{ id: number }>(one.url, 'POST', '/api/admin/blocked-callers', {
        ...json,
        reason: 'Spam',
        files: 'keep',
      })
    const blocks = [await block({ principal: user.principal }), await block({ network: `${visitor}/32` })]
    const blockedAt = performance.now()
    const late = await readers.begunAfter(blockedAt + HOLDS_MS, PLAN.blockedRequests * 1.1)
    const ofBlocked = late.filter(({ asked }) => asked !== stays)
    expect(
      strangers(ofBlocked, ({ said }) => said === '403 caller_blocked'),
      harness.log(),
    ).toEqual([])
    expect(
      strangers(
        late.filter(({ asked }) => asked === stays),
        ({ status }) => status === 200,
      ),
    ).toEqual([])

    for (const { id } of blocks) await operator(other.url, 'DELETE', `/api/admin/blocked-callers/${id}`)
    const unblockedAt = performance.now()
    const again = await readers.begunAfter(unblockedAt + HOLDS_MS, 0)
    expect(
      strangers(again, ({ status }) => status === 200),
      harness.log(),
    ).toEqual([])
  } finally {
    await readers.stop()
  }
})

/** One thing that is asked again and again. */
interface Asked {
  /** `POST` sends new bytes, each time others. @default 'GET' */
  readonly method?: 'GET' | 'PATCH' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: object
  /** Of the bytes that a 200 gives; absent where they are not the same each time. */
  readonly sha256?: string
  readonly status?: number
}

interface Seen {
  readonly asked: Asked
  readonly name: string
  /** By `performance.now()`. */
  readonly begunAt: number
  readonly status: number
  /** The status, with the code of an error. */
  readonly said: string
  /** Answered as before the block. */
  readonly isWhole: boolean
}

interface Readers {
  readonly answers: readonly Seen[]
  untilEachWasAnswered(times: number): Promise<void>
  /** What was answered to requests that began after a time, once these are so many, and everything was asked. */
  begunAfter(time: number, count: number): Promise<Seen[]>
  /** @throws {Error} when a request had no answer. */
  stop(): Promise<void>
}

/** Asks every instance, and nginx, for everything in turn on {@link CONNECTIONS} connections, until it is stopped. */
function startReaders({ fleet }: FleetHarness, requests: readonly Asked[]): Readers {
  const origins = [...fleet.instances.map(({ url }) => url), fleet.url]
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS / origins.length })
  const answers: Seen[] = []
  let next = 0
  let isStopped = false
  let failure: unknown

  async function read(): Promise<void> {
    while (!isStopped) {
      const at = next++
      const origin = origins[at % origins.length] as URL
      const asked = requests[Math.floor(at / origins.length) % requests.length] as Asked
      const begunAt = performance.now()
      answers.push({ asked, name: nameOf(asked, origin), begunAt, ...(await ask(origin, asked, agent)) })
    }
  }
  const reading = Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      read().catch((error: unknown) => {
        failure = error
        isStopped = true
      }),
    ),
  )
  const until = async (holds: () => boolean): Promise<void> => {
    while (!isStopped && !holds()) await sleep(20)
    if (failure !== undefined) throw failure
  }
  return {
    answers,
    untilEachWasAnswered: (times) => until(() => answers.length >= requests.length * origins.length * times),
    async begunAfter(time, count) {
      const late = () => answers.filter(({ begunAt }) => begunAt > time)
      const all = requests.length * origins.length
      await until(() => {
        const seen = late()
        return seen.length >= count && new Set(seen.map(({ name }) => name)).size === all
      })
      return late()
    },
    async stop() {
      isStopped = true
      await reading
      agent.destroy()
      if (failure !== undefined) throw failure
    },
  }
}

/** What is running when its file is blocked is cut. */
const CUT = { status: 0, said: 'cut', isWhole: false }

async function ask(origin: URL, asked: Asked, agent: Agent): Promise<Pick<Seen, 'status' | 'said' | 'isWhole'>> {
  try {
    const answer = await answerTo(origin, asked, agent)
    const said = answer.status < 400 ? String(answer.status) : `${answer.status} ${errorCode(answer)}`
    const { status = 200, sha256 } = asked
    const isWhole = answer.status === status && (sha256 === undefined || sha256Hex(answer.body) === sha256)
    return { status: answer.status, said, isWhole }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return CUT
    throw error
  }
}

function answerTo(origin: URL, asked: Asked, agent: Agent): Promise<Answer> {
  const { method = 'GET', path, headers = {}, json } = asked
  if (method === 'POST') return upload(origin, { principal: '', headers }, newContent(1000), { agent })
  if (json === undefined) return send(origin, method, path, { headers, agent })
  const body = Buffer.from(JSON.stringify(json))
  return send(origin, method, path, { headers: { ...headers, 'Content-Type': 'application/json' }, body, agent })
}

/** What was answered otherwise than it should, each once. */
function strangers(answers: readonly Seen[], isRight: (seen: Seen) => boolean): string[] {
  return [...new Set(answers.filter((seen) => !isRight(seen)).map(({ name, said }) => `${name}: ${said}`))]
}

function nameOf({ method = 'GET', path, headers = {} }: Asked, origin: URL): string {
  return `${method} ${origin.host}${path} ${JSON.stringify(headers)}`
}

/** Uploads the bytes as a UnixFS file as well, and answers everything by which they, or those of a block, can be asked for. */
async function requestsFor(content: Content, origin: URL): Promise<Asked[]> {
  const bytes = content.bytes()
  const sha256 = content.cid
  const whole = (path: string): Asked => ({ path, sha256 })
  const rawCid = rawCidOf(content)
  const blocks = new BlockIds()
  const { cid: v0 } = await importBytes(bytes, blocks, { profile: 'unixfs-v0-2015' })
  const answer = await upload(origin, sponsoredCaller('198.51.100.8'), { ...content, cid: String(v0) })
  expect(answer.status, answer.body.toString()).toBe(200)
  const { pieceCid } = JSON.parse(answer.body.toString()) as { pieceCid: string }
  return [
    whole(`/p/${sha256}`),
    whole(`/p/${rawCid}`),
    whole(`/p/${v0}`),
    whole(`/p/${v0.toV1()}`),
    whole(`/p/${pieceCid}`),
    whole(`/piece/${pieceCid}`),
    whole(`/ipfs/${rawCid}?format=raw`),
    { path: `/ipfs/${rawCid}?format=car` },
    { path: `/ipfs/${v0}?format=car` },
    { path: `/ipfs/${v0.toV1()}?format=car&dag-scope=block` },
    ...blocks.ids.map((cid) => ({ path: `/ipfs/${cid}?format=raw` })),
    {
      path: `/p/${sha256}`,
      headers: { Range: 'bytes=100-199' },
      status: 206,
      sha256: sha256Hex(bytes.subarray(100, 200)),
    },
  ]
}

/** A store of blocks that keeps only what they are called. */
class BlockIds {
  readonly ids: CID[] = []

  async put(cid: CID): Promise<CID> {
    this.ids.push(cid)
    return cid
  }
}

function rawCidOf({ cid }: Content): CID {
  return CID.createV1(raw.code, Digest.create(0x12, Buffer.from(cid, 'hex')))
}

/** The cookie of a browser that signs in with a token. */
async function signIn(origin: URL, { Authorization = '' }: Readonly<Record<string, string>>) {
  const answer = await send(origin, 'POST', '/api/session', {
    headers: { Origin: origin.origin, 'Content-Type': 'application/json' },
    body: Buffer.from(JSON.stringify({ token: Authorization.replace('Bearer ', '') })),
  })
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  if (answer.status !== 200 || cookie === '') throw new Error(`${answer.status}: ${answer.body}`)
  return { Cookie: cookie.replace(/;.*/s, '') }
}
