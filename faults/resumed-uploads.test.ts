import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { readDataDirectory } from './data-directory.ts'
import { describeScenario, loopDevices, mounting, program } from './harness.ts'
import { atRest, brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS, eightCallers } from './load.ts'
import { PLAN } from './plan.ts'
import { powerCutDisk } from './power-cut-disk.ts'
import { type ResumedUpload, resumeAll, startResumedLoad } from './resumed-load.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const ENV = { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'error' }

/** What is wrong once every upload has become a file. @param orphans - uploads that nobody can find, and that wait for their end. */
async function faultsAtRest(
  server: ServerProcess,
  uploads: readonly ResumedUpload[],
  orphans: number,
): Promise<string[]> {
  const ledger = new Ledger()
  ledger.stagings.push(...uploads.map(({ caller, content }) => ({ caller, content, outcome: 'ack' as const })))
  const { reservations } = readDataDirectory(server.dataDir)
  const broken = await brokenInvariants(server, ledger)
  const others = broken.filter((fault) => !fault.startsWith('reservation left'))
  return reservations.length > orphans ? [...others, `${reservations.length} reservations left`] : others
}

describe('SIGKILL in the middle of uploads in several requests', () => {
  const directories = Math.ceil(PLAN.resumedKills / PLAN.killsPerDirectory)

  test.each(Array.from({ length: directories }, (_, index) => index))(
    'leaves each offset that was told, and bytes that have their id (directory %i)',
    async (index) => {
      const random = seededRandom(runSeed + 4000 + index)
      const dataDir = tempDirectory()
      let server = await startServer({ dataDir, env: ENV })
      const callers = await eightCallers(server.url)
      const uploads: ResumedUpload[] = []
      let orphans = 0
      for (let kill = 0; kill < PLAN.killsPerDirectory; kill += 1) {
        const load = startResumedLoad(server.url, { callers, random })
        const delayMs = random.between(20, 800)
        await sleep(delayMs)
        await server.kill()
        await load.stop()
        uploads.push(...load.uploads)
        orphans += load.orphans
        server = await startServer({ dataDir, env: ENV })
        const story = `seed ${random.seed}, kill ${kill} after ${delayMs} ms, ${uploads.length} uploads`
        expect(await resumeAll(server.url, uploads), story).toEqual([])
        expect(await faultsAtRest(server, uploads, orphans), story).toEqual([])
      }
      expect(uploads.length, 'the load got nothing done').toBeGreaterThan(PLAN.killsPerDirectory)
      expect(await server.stop()).toEqual({ code: 0, signal: null })
    },
  )
})

describeScenario(
  {
    id: 'resumed-power-cut',
    name: 'a power cut in the middle of uploads in several requests',
    needs: [
      mounting,
      loopDevices,
      program('losetup', 'mount'),
      program('mkfs.ext4', 'e2fsprogs'),
      program('xfs_io', 'xfsprogs'),
    ],
  },
  () => {
    test.each(Array.from({ length: PLAN.resumedPowerCuts }, (_, index) => index))(
      'leaves each offset that was told, and bytes that have their id (%i)',
      async (index) => cutAndResume(seededRandom(runSeed + 5000 + index)),
    )
  },
)

async function cutAndResume(random: SeededRandom): Promise<void> {
  const disk = powerCutDisk()
  const dataDir = join(disk.path, 'data')
  const victim = await startServer({ dataDir, env: { ...ENV, LADE_LOG_LEVEL: 'silent' } })
  const callers = await eightCallers(victim.url)
  const load = startResumedLoad(victim.url, { callers, random })
  const delayMs = random.between(50, 800)
  await sleep(delayMs)
  // What is answered after the cut was told to nobody.
  const known = [...load.uploads]
  const withdraw = known.map((upload) => upload.toldUntilNow())
  disk.cut()
  await victim.kill()
  // A service that lost its disk may refuse in any way.
  await load.stop().catch(() => {})
  for (const one of withdraw) one()
  disk.mountAgain()
  const server = await startServer({ dataDir, env: ENV })
  const story = `seed ${random.seed}, cut after ${delayMs} ms, ${known.length} uploads`
  expect(await resumeAll(server.url, known), story).toEqual([])
  const data = readDataDirectory(server.dataDir)
  // Others were opened just before the cut, and wait for their end.
  const ids = known.map(({ path = '' }) => path.split('/').at(-1))
  const isOfOther = (name: string): boolean => !ids.some((id) => name.startsWith(`open-${id}/`))
  const pending = data.pending.filter((name) => !(name.startsWith('open-') && isOfOther(name)))
  const broken = atRest({ ...data, reservations: [], pending })
  expect(broken, story).toEqual([])
  await server.kill()
}
