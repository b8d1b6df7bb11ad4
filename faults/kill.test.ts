import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readDataDirectory } from './data-directory.ts'
import { eventually } from './eventually.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS, eightCallers, startLoad } from './load.ts'
import { PLAN } from './plan.ts'
import { runSeed, seededRandom } from './seeded-random.ts'
import { startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

/** Two rounds of upkeep, and what the machine may be late. */
const SURVIVOR_CLEANUP_MS = 12_000

describe('SIGKILL under load', () => {
  const directories = Math.ceil(PLAN.kills / PLAN.killsPerDirectory)

  test.each(Array.from({ length: directories }, (_, index) => index))(
    'loses no acknowledged upload and leaves nothing behind (directory %i)',
    async (index) => {
      const random = seededRandom(runSeed + index)
      const dataDir = tempDirectory()
      const ledger = new Ledger()
      let server = await startServer({ dataDir, env: BOUNDLESS_QUOTAS })
      const callers = await eightCallers(server.url)
      for (let kill = 0; kill < PLAN.killsPerDirectory; kill += 1) {
        const ackedBefore = ledger.acks.length
        const load = startLoad(server.url, { callers, ledger, random })
        const delayMs = random.between(20, 800)
        await sleep(delayMs)
        await server.kill()
        await load.stop()

        server = await startServer({ dataDir, env: BOUNDLESS_QUOTAS })
        const told = `${ledger.acks.length - ackedBefore} acknowledged, ${ledger.unknowns.length} unknown`
        const story = `seed ${random.seed}, kill ${kill} after ${delayMs} ms: ${told}`
        expect(await brokenInvariants(server, ledger), story).toEqual([])
        // A caller who heard nothing asks again, and is charged once whatever had happened.
        await ledger.retryUnknowns(server.url)
        expect(ledger.notAcked, story).toEqual([])
        expect(await brokenInvariants(server, ledger), `${story}, after the retries`).toEqual([])
      }
      expect(ledger.acks.length, 'the load got nothing done').toBeGreaterThan(PLAN.killsPerDirectory)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})

describe('SIGKILL of one of two processes on the same data', () => {
  test.each(Array.from({ length: PLAN.killsBesideSurvivor }, (_, index) => index))(
    'leaves the survivor working, which cleans up after the dead one (%i)',
    async (index) => {
      const random = seededRandom(runSeed + 1000 + index)
      const ledger = new Ledger()
      const survivor = await startServer({ env: BOUNDLESS_QUOTAS })
      const victim = await startServer({ dataDir: survivor.dataDir, env: BOUNDLESS_QUOTAS })
      const callers = await eightCallers(survivor.url)
      const loadOfVictim = startLoad(victim.url, { callers: callers.slice(0, 4), ledger, random })
      const survivorLedger = new Ledger()
      const loadOfSurvivor = startLoad(survivor.url, { callers: callers.slice(4), ledger: survivorLedger, random })
      await sleep(random.between(300, 800))
      await victim.kill()
      await loadOfVictim.stop()
      await sleep(500)
      await loadOfSurvivor.stop()
      const story = `seed ${random.seed}, ${ledger.acks.length} acknowledged by the victim, log:\n${survivor.log()}`
      expect(survivorLedger.notAcked, story).toEqual([])

      const leftBehind = () => atRest(readDataDirectory(survivor.dataDir))
      expect(await eventually(leftBehind, SURVIVOR_CLEANUP_MS), story).toEqual([])
      ledger.stagings.push(...survivorLedger.stagings)
      expect(await brokenInvariants(survivor, ledger), story).toEqual([])
      expect(await survivor.stop()).toEqual({ code: 0, signal: null })
    },
  )
})
