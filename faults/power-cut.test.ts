import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { newContent, sha256Hex } from './content.ts'
import { describeScenario, loopDevices, mounting, program } from './harness.ts'
import { brokenInvariants } from './invariants.ts'
import { Ledger } from './ledger.ts'
import { BOUNDLESS_QUOTAS, eightCallers, startLoad } from './load.ts'
import { PLAN } from './plan.ts'
import { powerCutDisk } from './power-cut-disk.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'

const KB = 1024
const ENV = { ...BOUNDLESS_QUOTAS, LADE_LOG_LEVEL: 'silent' }
/** Makes every fsync a lie: what a service without them would be. */
const LYING_FSYNC = { LD_PRELOAD: 'libeatmydata.so' }

const NEEDS = [
  mounting,
  loopDevices,
  program('losetup', 'mount'),
  program('mkfs.ext4', 'e2fsprogs'),
  program('xfs_io', 'xfsprogs'),
]

interface CutRound {
  readonly ledger: Ledger
  /** What was told before the cut, for the message of a failure. */
  readonly story: string
  /** Starts the service again on what the disk kept. */
  restart(): Promise<ServerProcess>
}

/** Load, and a power cut at a moment of chance. */
async function cutUnderLoad(random: SeededRandom, env: Readonly<Record<string, string>>): Promise<CutRound> {
  const disk = powerCutDisk()
  const dataDir = join(disk.path, 'data')
  const ledger = new Ledger()
  const victim = await startServer({ dataDir, env: { ...ENV, ...env } })
  const callers = await eightCallers(victim.url)
  const load = startLoad(victim.url, { callers, ledger, random })
  const delayMs = random.between(50, 800)
  await sleep(delayMs)
  // Without power nobody is told anything. Here the process outlives its disk, and an fsync that the cut overtakes may
  // report success: what it led to is not held against the service.
  const told = ledger.toldUntilNow()
  disk.cut()
  await victim.kill()
  await load.stop()
  told.withdrawLater()
  disk.mountAgain()
  const counts = `${ledger.acks.length} acknowledged, ${ledger.unknowns.length} unknown`
  return {
    ledger,
    story: `seed ${random.seed}, cut after ${delayMs} ms: ${counts}`,
    restart: () => startServer({ dataDir, env: ENV }),
  }
}

describeScenario({ id: 'power-cut', name: 'a power cut under load', needs: NEEDS }, () => {
  test.each(Array.from({ length: PLAN.powerCuts }, (_, index) => index))(
    'loses no acknowledged upload and leaves nothing behind (%i)',
    async (index) => {
      const { ledger, story, restart } = await cutUnderLoad(seededRandom(runSeed + 2000 + index), {})
      const server = await restart()
      expect(await brokenInvariants(server, ledger), story).toEqual([])
      await ledger.retryUnknowns(server.url)
      expect(ledger.notAcked, story).toEqual([])
      expect(await brokenInvariants(server, ledger), `${story}, after the retries`).toEqual([])
      await server.kill()
    },
  )

  test('keeps what was flushed and loses what was not, which shows that the cut is one', () => {
    const disk = powerCutDisk()
    const [flushed, unflushed] = [newContent(300 * KB), newContent(300 * KB)]
    writeFileSync(join(disk.path, flushed.cid), flushed.bytes(), { flush: true })
    writeFileSync(join(disk.path, unflushed.cid), unflushed.bytes())
    disk.cut()
    disk.mountAgain()
    expect(sha256Hex(readFileSync(join(disk.path, flushed.cid)))).toBe(flushed.cid)
    const lost = join(disk.path, unflushed.cid)
    expect(existsSync(lost) && sha256Hex(readFileSync(lost)) === unflushed.cid).toBe(false)
  })
})

describeScenario(
  {
    id: 'power-cut-control',
    name: 'a power cut while fsync does nothing',
    needs: [...NEEDS, program('eatmydata', 'eatmydata')],
  },
  () => {
    test('loses acknowledged uploads, which shows that these tests would see it', async () => {
      let lossy = 0
      // The kernel can write by itself just before a cut, and then nothing is lost.
      for (let cut = 0; cut < 3 * PLAN.powerCutControls && lossy < PLAN.powerCutControls; cut += 1) {
        const { ledger, story, restart } = await cutUnderLoad(seededRandom(runSeed + 3000 + cut), LYING_FSYNC)
        expect(ledger.acks.length, story).toBeGreaterThan(0)
        if ((await lossOf(ledger, restart)).length > 0) lossy += 1
      }
      expect(lossy).toBe(PLAN.powerCutControls)
    })
  },
)

/** What was lost; a disk on which the service cannot start any more has lost everything. */
async function lossOf(ledger: Ledger, restart: () => Promise<ServerProcess>): Promise<readonly string[]> {
  let server: ServerProcess
  try {
    server = await restart()
  } catch (error) {
    return [String(error)]
  }
  const broken = await brokenInvariants(server, ledger)
  await server.kill()
  return broken
}
