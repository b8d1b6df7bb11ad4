import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Caller, send, tokenCaller, upload } from '../caller.ts'
import { newContent, sha256Hex } from '../content.ts'
import { Ledger, type Staging } from '../ledger.ts'
import { PLAN } from '../plan.ts'
import { runSeed, type SeededRandom, seededRandom } from '../seeded-random.ts'
import { expectWhole } from './fleet-invariants.ts'
import { startHarness, useServers } from './harness.ts'

const REQUESTS_PER_SECOND = 100
const TICK_MS = 1000 / REQUESTS_PER_SECOND
const KEPT_FILES = 40
/** What an orchestrator leaves between a new instance that is ready and the end of the next old one. */
const SETTLE_MS = 1000

const servers = useServers()

/** Requests at a steady rate, whatever becomes of those before. */
class SteadyLoad {
  readonly failures: string[] = []
  readonly counts = { reads: 0, uploads: 0 }
  readonly #origin: URL
  readonly #ledger: Ledger
  readonly #users: readonly Caller[]
  readonly #kept: readonly Staging[]
  readonly #random: SeededRandom
  readonly #agent = new Agent({ keepAlive: true })
  readonly #under = new Set<Promise<void>>()
  #isStopped = false
  #sending: Promise<void> = Promise.resolve()

  constructor(origin: URL, options: { users: readonly Caller[]; ledger: Ledger; random: SeededRandom }) {
    this.#origin = origin
    this.#users = options.users
    this.#ledger = options.ledger
    this.#kept = [...options.ledger.acks]
    this.#random = options.random
  }

  start(): void {
    this.#sending = this.#keepSending()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#sending
    await Promise.all(this.#under)
    this.#agent.destroy()
  }

  async #keepSending(): Promise<void> {
    for (let next = Date.now(); !this.#isStopped; next += TICK_MS) {
      const request = this.#request().finally(() => this.#under.delete(request))
      this.#under.add(request)
      await sleep(Math.max(0, next + TICK_MS - Date.now()))
    }
  }

  async #request(): Promise<void> {
    const user = this.#random.pick(this.#users)
    const choice = this.#random.next()
    if (choice < 0.02) return this.#upload(user)
    this.counts.reads += 1
    const { content } = this.#random.pick(this.#kept)
    const path = `/p/${content.cid}`
    if (choice < 0.12) return this.#ask(user, 'HEAD', path)
    if (choice < 0.2) return this.#ask(user, 'GET', '/api/usage')
    if (choice < 0.3) return this.#ask(user, 'GET', '/api/files?limit=10')
    return this.#ask(user, 'GET', path, content.cid)
  }

  async #ask(user: Caller, method: string, path: string, sha256?: string): Promise<void> {
    try {
      const { status, body } = await send(this.#origin, method, path, { headers: user.headers, agent: this.#agent })
      if (status !== 200) this.failures.push(`${method} ${path} answered ${status}: ${body}`)
      else if (sha256 !== undefined && sha256Hex(body) !== sha256) this.failures.push(`${path} served wrong bytes`)
    } catch (error) {
      this.failures.push(`${method} ${path}: ${String(error)}`)
    }
  }

  async #upload(user: Caller): Promise<void> {
    this.counts.uploads += 1
    await this.#ledger.upload(
      this.#origin,
      user,
      newContent(this.#random.betweenMagnitudes(1024, 512 * 1024)),
      this.#agent,
    )
  }
}

test.each(Array.from({ length: PLAN.rollingRestarts }, (_, index) => index))(
  'a rolling restart at 100 requests a second fails no idempotent request and loses no acknowledgement (%i)',
  async (index) => {
    const random = seededRandom(runSeed + index)
    const harness = await startHarness(servers(), { LADE_DRAIN_SECONDS: '10' })
    const ledger = new Ledger()
    const users = await Promise.all(Array.from({ length: 4 }, () => tokenCaller(harness.fleet.url)))
    for (let file = 0; file < KEPT_FILES; file += 1) {
      // Mostly small ones, as what is asked for most is; two cores have to serve them, and to be everybody else as well.
      const content = newContent(file % 10 === 0 ? 300_000 : random.betweenMagnitudes(1024, 60_000))
      const user = random.pick(users)
      expect((await upload(harness.fleet.url, user, content)).status).toBe(200)
      ledger.stagings.push({ caller: user, content, outcome: 'ack' })
    }
    const load = new SteadyLoad(harness.fleet.url, { users, ledger, random })
    load.start()
    const loadedAt = performance.now()
    await sleep(SETTLE_MS)
    const drainsMs: number[] = []
    for (const instance of harness.fleet.instances) {
      const startedAt = performance.now()
      expect(await instance.drain()).toEqual({ code: 0, signal: null })
      drainsMs.push(Math.round(performance.now() - startedAt))
      await instance.start()
      await harness.fleet.ready()
      await sleep(SETTLE_MS)
    }
    await load.stop()
    const { reads, uploads } = load.counts
    const perSecond = (reads + uploads) / ((performance.now() - loadedAt) / 1000)
    const story = `seed ${random.seed}: ${Math.round(perSecond)} requests a second, ${reads} reads, ${uploads} uploads; drained in ${drainsMs.join(', ')} ms`
    expect(load.failures, `${story}\n${harness.log()}`).toEqual([])
    // Whatever its method, an upload under a content id is safe to repeat, and none had to be.
    expect(ledger.notAcked, `${story}\n${harness.log()}`).toEqual([])
    expect(perSecond, story).toBeGreaterThan(REQUESTS_PER_SECOND * 0.8)
    await expectWhole(harness, ledger, story)
    console.info(story)
  },
)
