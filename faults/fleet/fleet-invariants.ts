import { performance } from 'node:perf_hooks'
import { expect } from 'vitest'
import { send, sponsoredCaller, upload } from '../caller.ts'
import { newContent } from '../content.ts'
import { eventually } from '../eventually.ts'
import { atRest, charged, servingProblem } from '../invariants.ts'
import type { Ledger } from '../ledger.ts'
import type { FleetHarness } from './harness.ts'

/** Within which a fleet is whole again after what broke it is gone. */
export const RECOVERY_MS = 30_000
/** Reads at once while everything is looked at. */
const READERS = 6

/**
 * What is wrong with an idle fleet, in sentences; an empty list is the only good answer. Acknowledged uploads of `ledger` are served
 * with their bytes, its callers are charged what they were told, objects match rows one to one, and nothing is left half done.
 */
async function brokenFleet(harness: FleetHarness, ledger: Ledger): Promise<string[]> {
  const data = await harness.read()
  const principals = new Set(ledger.stagings.map(({ caller }) => caller.principal))
  const own = {
    ...data,
    files: data.files.filter(({ principal }) => principals.has(principal)),
    usage: new Map([...data.usage].filter(([principal]) => principals.has(principal))),
  }
  return [...atRest(data), ...(await served(harness.fleet.url, ledger)), ...charged(own, ledger)]
}

async function served(origin: URL, ledger: Ledger): Promise<string[]> {
  const waiting = [...Map.groupBy(ledger.stagings, ({ content }) => content.cid)]
  const broken: string[] = []
  async function readOn(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [cid, stagings] = next
      const problem = servingProblem(cid, await send(origin, 'GET', `/p/${cid}`), stagings)
      if (problem !== undefined) broken.push(problem)
    }
  }
  await Promise.all(Array.from({ length: READERS }, readOn))
  return broken
}

/**
 * Waits until every instance is ready and has taken an upload of either kind.
 *
 * @returns how long that took, in ms.
 */
export async function recovered(harness: FleetHarness): Promise<number> {
  const startedAt = performance.now()
  const caller = sponsoredCaller('203.0.113.1')
  const refusing = async (): Promise<string[]> => {
    const answers = await Promise.all(
      harness.fleet.instances.flatMap(({ url }) =>
        [2000, 200_000].map(async (sizeBytes) => {
          try {
            const { status } = await upload(url, caller, newContent(sizeBytes))
            return status === 200 ? [] : [`${url} answers ${status} to ${sizeBytes} bytes`]
          } catch (error) {
            return [`${url}: ${String(error)}`]
          }
        }),
      ),
    )
    const unready = await Promise.all(
      harness.fleet.instances.map(async (instance) =>
        (await instance.isReady()) ? [] : [`${instance.url} is not ready`],
      ),
    )
    return [...answers, ...unready].flat()
  }
  expect(await eventually(refusing, RECOVERY_MS), harness.log()).toEqual([])
  return performance.now() - startedAt
}

/**
 * Holds a fleet without load to everything that it promises: at once, after what died was cleaned up after, and again after callers
 * who heard nothing have asked again.
 *
 * @returns how long it took until nothing was left half done, in ms.
 */
export async function expectWhole(harness: FleetHarness, ledger: Ledger, story: string): Promise<number> {
  const startedAt = performance.now()
  expect(await eventually(async () => atRest(await harness.read()), RECOVERY_MS), `${story}\n${harness.log()}`).toEqual(
    [],
  )
  const restMs = performance.now() - startedAt
  expect(await brokenFleet(harness, ledger), story).toEqual([])
  await ledger.retryUnknowns(harness.fleet.url)
  expect(ledger.notAcked, story).toEqual([])
  expect(await brokenFleet(harness, ledger), `${story}, after the retries`).toEqual([])
  return restMs
}
