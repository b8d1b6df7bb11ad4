import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort } from '../services/free-port.ts'
import { type Caller, send, sponsoredCaller, tokenCaller, upload } from './caller.ts'
import { childrenOf } from './child-processes.ts'
import { type Content, newContent } from './content.ts'
import { eventually } from './eventually.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import { PLAN } from './plan.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { startServer } from './server-process.ts'

const KB = 1024
const MEMBERS = 3
const KEPT_CONNECTIONS = 48
/** Clients that open a connection for each request: some of these are always just being accepted. */
const NEW_CONNECTIONS = 16
/** The connections of a process that was killed have to end within this time. */
const SILENCE_MS = 3000
/** A member that dies is started again after a second, and then starts as slowly as the machine is. */
const REPLACED_MS = 60_000
/** A member that answered this recently is running. */
const RECENT_MS = 2000

interface Asked {
  answered: number
  closed: number
  /** When the last upload was sent that each process answered, by what begins its request ids; those of reads may begin differently. */
  readonly livedAt: Map<string, number>
  /** However long a living process took. */
  slowestAnswerMs: number
  /** When the last process was killed. */
  killedAt: number
  /** One sentence for each request that got a wrong answer, or none, and whose connection did not end in time either. */
  readonly silent: string[]
}

/** Clients that upload and read, each one request after the other, until they are told to stop. */
function startAsking(origin: URL, callers: readonly Caller[], random: SeededRandom) {
  const asked: Asked = { answered: 0, closed: 0, livedAt: new Map(), slowestAnswerMs: 0, killedAt: 0, silent: [] }
  const stored: Content[] = []
  let isStopped = false

  async function askOnce(caller: Caller, agent: Agent | undefined): Promise<void> {
    const known = random.next() < 0.6 ? stored.at(random.between(0, stored.length - 1)) : undefined
    const content = known ?? newContent(random.betweenMagnitudes(1 * KB, 256 * KB))
    const options = agent === undefined ? {} : { agent }
    const what = known === undefined ? `upload of ${content.sizeBytes} bytes` : 'GET'
    const startedAt = performance.now()
    try {
      const { status, headers } =
        known === undefined
          ? await upload(origin, caller, content, options)
          : await send(origin, 'GET', `/p/${content.cid}`, options)
      asked.answered += 1
      asked.slowestAnswerMs = Math.max(asked.slowestAnswerMs, Math.round(performance.now() - startedAt))
      if (status !== 200) asked.silent.push(`${what}: answered ${status}`)
      if (status !== 200 || known !== undefined) return
      stored.push(content)
      asked.livedAt.set(String(headers['x-request-id']).split('-', 1).join(), startedAt)
    } catch (error) {
      // Reset or closed, as the connections of a dead process are.
      asked.closed += 1
      const lateMs = Math.round(performance.now() - Math.max(startedAt, asked.killedAt))
      if (lateMs > SILENCE_MS) asked.silent.push(`${what}: closed ${lateMs} ms after the last kill`)
      if (!isConnectionError(error)) asked.silent.push(`${what}: ${String(error)}`)
    }
  }

  const clients = Array.from({ length: KEPT_CONNECTIONS + NEW_CONNECTIONS }, async (_, index) => {
    const agent = index < KEPT_CONNECTIONS ? new Agent({ keepAlive: true, maxSockets: 1 }) : undefined
    const caller = callers[index % callers.length]
    if (caller === undefined) throw new TypeError('nobody to ask')
    while (!isStopped) {
      await askOnce(caller, agent)
      await sleep(random.between(5, 40))
    }
    agent?.destroy()
  })
  return {
    asked,
    async stop() {
      isStopped = true
      await Promise.all(clients)
    },
  }
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['ECONNRESET', 'EPIPE', 'ECONNREFUSED'].includes(`${error.code}`)
}

test(`SIGKILL of members leaves no request without an answer or the end of its connection (${PLAN.membersKilled})`, async () => {
  const random = seededRandom(runSeed + 3000)
  // With LADE_PORT=0 the port would be another one when all have died, which a slow machine may let happen.
  const port = String(await freePort())
  const server = await startServer({ env: { LADE_PROCESSES: String(MEMBERS), LADE_PORT: port, ...BOUNDLESS_QUOTAS } })
  const callers = [await tokenCaller(server.url), await tokenCaller(server.url), sponsoredCaller('192.0.2.9')]
  const clients = startAsking(server.url, callers, random)
  await sleep(300)
  for (let kills = 0; kills < PLAN.membersKilled; kills += 1) {
    const since = performance.now()
    // One at least goes on while the others start.
    const areTwoRunning = () => {
      const recent = [...clients.asked.livedAt.values()].filter(
        (at) => at > Math.max(since, performance.now() - RECENT_MS),
      )
      return recent.length >= 2 ? [] : ['members are not replaced']
    }
    expect(
      await eventually(areTwoRunning, REPLACED_MS),
      `after ${kills} kills, ${childrenOf(server.pid).length} processes, log:\n${server.log()}`,
    ).toEqual([])
    clients.asked.killedAt = performance.now()
    process.kill(random.pick(childrenOf(server.pid)), 'SIGKILL')
    await sleep(random.between(50, 300))
  }
  // Waits for every request that is under way.
  await clients.stop()
  const { answered, closed, slowestAnswerMs, silent } = clients.asked
  const story = `seed ${random.seed}: ${answered} requests answered, ${closed} closed, the slowest answer after ${slowestAnswerMs} ms, log:\n${server.log()}`
  if (PLAN.isFull) process.stderr.write(`${PLAN.membersKilled} members killed, ${story}\n`)
  expect(silent, story).toEqual([])
  expect(answered, story).toBeGreaterThan(closed)
  expect(await server.stop()).toEqual({ code: 0, signal: null })
})
