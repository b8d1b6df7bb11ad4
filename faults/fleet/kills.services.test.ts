import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Ledger } from '../ledger.ts'
import { eightCallers } from '../load.ts'
import { PLAN } from '../plan.ts'
import { runSeed, seededRandom } from '../seeded-random.ts'
import { expectWhole, RECOVERY_MS, recovered } from './fleet-invariants.ts'
import { startFleetLoad } from './fleet-load.ts'
import { startHarness, useServers } from './harness.ts'

const servers = useServers()
const rounds = Math.ceil(PLAN.fleetKills / PLAN.fleetKillsPerCheck)

test.each(Array.from({ length: rounds }, (_, index) => index))(
  'SIGKILL of one of three instances under load, again and again, loses and charges nothing (%i)',
  async (index) => {
    const random = seededRandom(runSeed + index)
    const harness = await startHarness(servers())
    const ledger = new Ledger()
    const load = startFleetLoad(harness.fleet.url, { callers: await eightCallers(harness.fleet.url), ledger, random })
    let afterKill = 0
    for (let kill = 0; kill < PLAN.fleetKillsPerCheck; kill += 1) {
      await sleep(random.between(100, 1500))
      const victim = random.pick(harness.fleet.instances)
      const before = ledger.acks.length
      await victim.kill()
      await sleep(random.between(0, 1000))
      afterKill += ledger.acks.length - before
      await victim.start()
    }
    const recoveryMs = await recovered(harness)
    await load.stop()
    const story = `seed ${random.seed}, ${ledger.acks.length} acknowledged, ${ledger.unknowns.length} unknown, ${load.repeats} repeated, ${load.reads} read`
    const restMs = await expectWhole(harness, ledger, story)
    expect(load.problems, story).toEqual([])
    expect(afterKill, 'nobody was served while one of three was dead').toBeGreaterThan(0)
    expect(recoveryMs + restMs, story).toBeLessThan(RECOVERY_MS)
    console.info(
      `${PLAN.fleetKillsPerCheck} kills: ${story}; ready after ${Math.round(recoveryMs)} ms, at rest ${Math.round(restMs)} ms later`,
    )
  },
)
