/**
 * What the suite runs against: `LADE_ACCEPTANCE_URL`, or a server of its own with small limits.
 *
 * A test that needs what a foreign server may not offer says so with `needsOwnServer` or asks for a fresh user; there it
 * is skipped with a reason, and each file prints how many were. Against its own server nothing may be skipped.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, type TestContext } from 'vitest'
import { Caller, exchange } from './caller.ts'
import { rawCidOf } from './content-ids.ts'
import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import type { OwnServer } from './server-under-test.ts'
import type { ServiceInfo, SignupResult, UploadResult } from './shapes.ts'
import { sharedServer } from './shared-servers.ts'

export const MIB = 1_048_576

const REVOKED_EVERYWHERE_MS = 2_000

/**
 * Random bytes, so that no two runs share an object. The last byte is not zero: a piece CID v1 does not tell how many zeros end a file, so that of
 * one zero byte names the empty file, too.
 */
export function sampleBytes(sizeBytes = 100): Buffer {
  const bytes = randomBytes(sizeBytes)
  if (sizeBytes > 0) bytes[sizeBytes - 1] = randomInt(1, 256)
  return bytes
}

/** How many addresses 198.18.0.0/15 has, which is set aside for tests. */
const ADDRESSES = 2 ** 17
let lastAddress = randomInt(ADDRESSES)

/** An address that no other test uses. */
export function freshAddress(): string {
  lastAddress = (lastAddress + 1) % ADDRESSES
  return `198.${18 + (lastAddress >> 16)}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`
}

const freshEmail = () => `acceptance-${randomBytes(8).toString('hex')}@example.com`

/** A caller with a token. */
export class User extends Caller {
  readonly token: string
  readonly email: string
  readonly userId: string

  constructor(caller: Caller, account: { token: string; email: string; userId: string }) {
    super(caller.baseUrl, caller.contentUrl, { ...caller.headers, Authorization: `Bearer ${account.token}` })
    this.token = account.token
    this.email = account.email
    this.userId = account.userId
  }
}

export interface SignupOptions {
  email?: string
  label?: string
  scopes?: string[]
  quotaMb?: number
  ttlDays?: number
}

export class Target {
  #baseUrl: URL | undefined
  #contentUrl: URL | undefined
  #info: ServiceInfo | undefined
  #server: Pick<OwnServer, 'baseUrl' | 'directUrl' | 'instances' | 'discard'> | undefined
  #shared: User | undefined
  readonly #skipped: string[] = []
  readonly #foreignUrl = process.env.LADE_ACCEPTANCE_URL
  readonly #foreignToken = process.env.LADE_ACCEPTANCE_TOKEN

  /** True when the suite started the server itself. */
  get isOwn(): boolean {
    return this.#foreignUrl === undefined
  }

  get baseUrl(): URL {
    return ready(this.#baseUrl)
  }

  /** Where raw sockets go: past the proxy, if the suite's own server has one, which would answer malformed requests itself. */
  get directUrl(): URL {
    return this.#server?.directUrl ?? this.baseUrl
  }

  get contentUrl(): URL {
    return ready(this.#contentUrl)
  }

  /** As {@link Target.directUrl}, for retrieval. */
  get directContentUrl(): URL {
    return this.#server?.directUrl ?? this.contentUrl
  }

  get info(): ServiceInfo {
    return ready(this.#info)
  }

  async open(): Promise<void> {
    if (this.#foreignUrl === undefined) this.#server = sharedServer() ?? (await startOwnServer(OWN_ENV))
    this.#baseUrl = this.#server?.baseUrl ?? new URL(this.#foreignUrl ?? '')
    this.#info = (await exchange(this.#baseUrl, 'GET', '/api/info')).json<ServiceInfo>()
    this.#contentUrl = this.isOwn ? this.#baseUrl : await findContentUrl(this.#baseUrl)
  }

  async close(): Promise<void> {
    if (this.#skipped.length > 0) {
      console.info(`${this.#skipped.length} skipped: ${[...new Set(this.#skipped)].join('; ')}`)
    }
    await this.#server?.discard()
  }

  /** A caller without credentials, at an address of its own where the server lets the suite choose one. */
  anonymous(address: string = freshAddress()): Caller {
    return new Caller(
      this.baseUrl,
      this.contentUrl,
      this.isOwn ? { 'X-Forwarded-For': address } : { 'X-Term-Days': '1' },
    )
  }

  /** A user nobody else has used, with nothing charged. Skips where signup is not open or gives no more. */
  async freshUser(context: TestContext, options: SignupOptions = {}): Promise<User> {
    const caller = this.anonymous()
    const email = options.email ?? freshEmail()
    if (!this.isOwn && this.info.signup !== 'open') return this.#skip(context, 'signup is not open there')
    const answer = await caller.post('/api/auth/signup', { label: 'acceptance', ...options, email })
    if (!this.isOwn && answer.status === 429) return this.#skip(context, 'signup gives no more users for now')
    if (answer.status !== 200) throw new Error(`signup answered ${answer.status}: ${answer.body.toString()}`)
    return new User(caller, answer.json<SignupResult>())
  }

  /** Any user with all scopes: the one of `LADE_ACCEPTANCE_TOKEN`, or one signed up for this file. */
  async anyUser(context: TestContext): Promise<User> {
    const token = this.#foreignToken
    if (token === undefined || this.isOwn) {
      this.#shared ??= await this.freshUser(context)
      return this.#shared
    }
    const caller = this.anonymous()
    const usage = await caller.with({ Authorization: `Bearer ${token}` }).usage()
    return new User(caller, { token, email: usage.email, userId: usage.userId })
  }

  /** Waits until a revocation counts: at once where one process answers, after 2 s where there may be several. */
  async untilRevoked(): Promise<void> {
    if (this.#server?.instances !== 1) await sleep(REVOKED_EVERYWHERE_MS)
  }

  /** Skips on a foreign server, with the reason; on the suite's own server it does nothing. */
  needsOwnServer(context: TestContext, reason: string): void {
    if (!this.isOwn) this.#skip(context, reason)
  }

  /** Skips where a proxy answers for malformed requests in the service's place. */
  needsDirectConnection(context: TestContext): void {
    if (!this.isOwn && process.env.LADE_ACCEPTANCE_BEHIND_PROXY === '1') {
      this.#skip(context, 'a proxy there answers malformed requests itself')
    }
  }

  #skip(context: TestContext, reason: string): never {
    if (this.isOwn) throw new Error(`nothing may be skipped against the suite's own server: ${reason}`)
    this.#skipped.push(reason)
    return context.skip(reason)
  }
}

function ready<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('the target is not open yet')
  return value
}

/** Where a server gives content back: the origin of the first retrieval URL it answers. */
async function findContentUrl(baseUrl: URL): Promise<URL> {
  const bytes = sampleBytes()
  const answer = await new Caller(baseUrl, baseUrl, { 'X-Term-Days': '1' }).upload(bytes, {
    cid: rawCidOf(bytes).base32,
  })
  return answer.status === 200 ? new URL(new URL(answer.json<UploadResult>().retrievalUrl).origin) : baseUrl
}

/** The target of a test file, opened before its tests and closed after them. */
export function useTarget(): Target {
  const target = new Target()
  beforeAll(() => target.open(), 60_000)
  afterAll(() => target.close(), 60_000)
  return target
}
