import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Ledger } from '../ledger.ts'
import { eightCallers } from '../load.ts'
import { PLAN } from '../plan.ts'
import { runSeed, seededRandom } from '../seeded-random.ts'
import { expectWhole, recovered } from './fleet-invariants.ts'
import { startFleetLoad } from './fleet-load.ts'
import { startHarness, useServers } from './harness.ts'

const servers = useServers()
const rounds = Math.ceil(PLAN.cutCommits / PLAN.cutCommitsPerCheck)
/** Under load somebody commits all the time. */
const COMMIT_WITHIN_MS = 10_000

test.each(Array.from({ length: rounds }, (_, index) => index))(
  'connections cut during COMMIT: nothing lost, nothing charged twice, nothing acknowledged that did not happen (%i)',
  async (index) => {
    const random = seededRandom(runSeed + index)
    const harness = await startHarness(servers())
    const ledger = new Ledger()
    const load = startFleetLoad(harness.fleet.url, { callers: await eightCallers(harness.fleet.url), ledger, random })
    for (let cut = 0; cut < PLAN.cutCommitsPerCheck; cut += 1) {
      await sleep(random.between(10, 300))
      const isCut = harness.commits.cutNext(cut % 2 === 0 ? 'before' : 'after').then(() => true)
      expect(await Promise.race([isCut, sleep(COMMIT_WITHIN_MS, false)]), 'nobody committed').toBe(true)
    }
    const recoveryMs = await recovered(harness)
    await load.stop()
    const story = `seed ${random.seed}, ${ledger.acks.length} acknowledged, ${ledger.unknowns.length} unknown, ${load.repeats} repeated, ${load.reads} read, ${harness.commits.passed} commits passed`
    await expectWhole(harness, ledger, story)
    expect(load.problems, story).toEqual([])
    console.info(`${PLAN.cutCommitsPerCheck} cuts: ${story}; ready after ${Math.round(recoveryMs)} ms`)
  },
)
