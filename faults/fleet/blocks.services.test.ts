import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Answer, type Caller, errorCode, send, sponsoredCaller, tokenCaller, upload } from '../caller.ts'
import { type Content, newContent } from '../content.ts'
import { Ledger } from '../ledger.ts'
import { PLAN } from '../plan.ts'
import { runSeed, seededRandom } from '../seeded-random.ts'
import { startFleetLoad } from './fleet-load.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'
import { operatorOf, TOKEN_KEY } from './operator.ts'

/** The time in which a block holds everywhere. */
const HOLDS_MS = 2000
const AT_ONCE = 20
/** In the database, and in the object store. */
const SIZES = [20_000, 400_000]

const servers = useServers()

test('three instances under load serve none of what is blocked, and take nothing from whom is blocked, two seconds later', async () => {
  const harness = await startHarness(servers(), TOKEN_KEY)
  const { fleet } = harness
  const [one] = fleet.instances
  if (one === undefined) throw new TypeError('nothing to ask')
  const operator = await operatorOf()
  const spammer = await tokenCaller(fleet.url)
  const contents = SIZES.map((sizeBytes) => newContent(sizeBytes))
  for (const content of contents) expect((await upload(fleet.url, spammer, content)).status).toBe(200)
  const callers = [await tokenCaller(fleet.url), await tokenCaller(fleet.url), sponsoredCaller('198.51.100.7')]
  const ledger = new Ledger()
  const load = startFleetLoad(fleet.url, { callers, ledger, random: seededRandom(runSeed) })
  try {
    // All of it is in what each instance has in memory.
    for (const content of contents) {
      const warm = await requests(harness, content, 60)
      expect(new Set(warm.map(({ status }) => status))).toEqual(new Set([200]))
    }
    for (const { cid } of contents) await operator(one.url, 'POST', '/api/admin/blocks', { cid, reason: 'A complaint' })
    const { principal } = spammer
    await operator(one.url, 'POST', '/api/admin/blocked-callers', { principal, reason: 'Spam', files: 'keep' })
    await sleep(HOLDS_MS)

    for (const content of contents) {
      const answers = await requests(harness, content, PLAN.blockedRequests / contents.length)
      expect(statuses(answers), harness.log()).toEqual(new Set(['451 blocked']))
    }
    const uploads = await Promise.all(
      fleet.instances.flatMap(({ url }) => [
        ...contents.map((content) => upload(url, callers[0] as Caller, content)),
        upload(url, spammer, newContent(1000)),
      ]),
    )
    expect(statuses(uploads), harness.log()).toEqual(new Set(['451 blocked', '403 caller_blocked']))
  } finally {
    await load.stop()
  }
  expect(load.problems).toEqual([])
  expect(load.reads).toBeGreaterThan(0)
})

/** Asks every instance, and nginx, in turn. */
async function requests({ fleet }: FleetHarness, { cid }: Content, count: number): Promise<Answer[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })
  const origins = [...fleet.instances.map(({ url }) => url), fleet.url]
  const answers: Answer[] = []
  try {
    for (let at = 0; at < count; at += AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, count - at) }, (_, index) => {
        const origin = origins[(at + index) % origins.length] as URL
        return send(origin, 'GET', `/p/${cid}`, { agent })
      })
      answers.push(...(await Promise.all(batch)))
    }
    return answers
  } finally {
    agent.destroy()
  }
}

function statuses(answers: readonly Answer[]): Set<string> {
  return new Set(
    answers.map((answer) => (answer.status < 400 ? String(answer.status) : `${answer.status} ${errorCode(answer)}`)),
  )
}
