import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { Ledger } from '../ledger.ts'
import { eightCallers } from '../load.ts'
import { PLAN } from '../plan.ts'
import { runSeed, type SeededRandom, seededRandom } from '../seeded-random.ts'
import { expectWhole, RECOVERY_MS, recovered } from './fleet-invariants.ts'
import { startFleetLoad } from './fleet-load.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'

const servers = useServers()
const SHORT_MS = 6000
/** Longer than the service tries by itself, so that callers are told of it. */
const LONG_MS = { least: 13_000, most: 18_000 }

/** Breaks something of the harness, and answers how to mend it. */
type Break = (harness: FleetHarness, random: SeededRandom) => Promise<() => Promise<void>>

const stopPostgres: Break = async ({ postgres }) => {
  await postgres.stopImmediately()
  return () => postgres.start()
}

/** The store refuses every connection, or falls silent. */
const loseStore: Break = async ({ s3 }, random) => {
  if (random.next() < 0.5) s3.close()
  else s3.swallow()
  return async () => s3.reopen()
}

/** Breaks one thing under load, mends it after a while, and holds the fleet to everything. Every fifth time it is a long while. */
async function outage(index: number, breakIt: Break): Promise<void> {
  const random = seededRandom(runSeed + index)
  const harness = await startHarness(servers())
  const ledger = new Ledger()
  const pids = harness.fleet.instances.map(({ process }) => process.pid)
  const load = startFleetLoad(harness.fleet.url, { callers: await eightCallers(harness.fleet.url), ledger, random })
  await sleep(random.between(300, 2000))
  const mend = await breakIt(harness, random)
  const lastsMs = index % 5 === 4 ? random.between(LONG_MS.least, LONG_MS.most) : random.between(0, SHORT_MS)
  await sleep(lastsMs)
  const ackedBefore = ledger.acks.length
  await mend()
  const recoveryMs = await recovered(harness)
  await sleep(500)
  await load.stop()
  const story = `seed ${random.seed}, ${ledger.acks.length} acknowledged, ${ledger.unknowns.length} unknown, ${load.repeats} repeated, ${load.reads} read`
  const restMs = await expectWhole(harness, ledger, story)
  expect(load.problems, story).toEqual([])
  expect(ledger.acks.length, story).toBeGreaterThan(ackedBefore)
  expect(recoveryMs + restMs, story).toBeLessThan(RECOVERY_MS)
  expect(
    harness.fleet.instances.filter(({ process }) => process.isRunning).map(({ process }) => process.pid),
    `an instance ended: ${harness.log()}`,
  ).toEqual(pids)
  console.info(
    `away for ${lastsMs} ms: ${story}; ready after ${Math.round(recoveryMs)} ms, at rest ${Math.round(restMs)} ms later`,
  )
}

describe('an immediate stop of PostgreSQL under load', () => {
  test.each(Array.from({ length: PLAN.postgresStops }, (_, index) => index))(
    'loses and charges nothing, ends no instance, and is over when PostgreSQL is back (%i)',
    (index) => outage(index, stopPostgres),
  )
})

describe('an outage of the object store under load', () => {
  test.each(Array.from({ length: PLAN.s3Outages }, (_, index) => index))(
    'loses and charges nothing, ends no instance, and is over when the store is back (%i)',
    (index) => outage(1000 + index, loseStore),
  )
})
