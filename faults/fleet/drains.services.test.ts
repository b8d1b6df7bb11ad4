import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type Caller, tokenCaller } from '../caller.ts'
import { newContent } from '../content.ts'
import { Ledger, type Staging } from '../ledger.ts'
import { PLAN } from '../plan.ts'
import { openSocket, uploadHead } from '../raw-upload.ts'
import { runSeed, seededRandom } from '../seeded-random.ts'
import { expectWhole } from './fleet-invariants.ts'
import { type FleetHarness, startHarness, useServers } from './harness.ts'

const KB = 1024
const DRAIN_SECONDS = 2
/** The connections of uploads that were ended get a second to read why, and then the process has to close what it holds. */
const CLOSING_MS = 4000
/** What it takes to give up a database: a write is tried for twelve seconds. */
const UNREACHABLE_MS = 20_000
const WELL_AWAY_MS = 5000
const UPLOADS = 8
const DRAINS_PER_CHECK = 10

const servers = useServers()
const rounds = Math.ceil(PLAN.fleetDrains / DRAINS_PER_CHECK)

/** An upload of which half is sent. */
async function startHalf(url: URL, caller: Caller, ledger: Ledger, sizeBytes: number) {
  const content = newContent(sizeBytes)
  const staging: Staging = { caller, content, outcome: 'unknown' }
  ledger.stagings.push(staging)
  const socket = await openSocket(url)
  let received = ''
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1')
  })
  // One that goes on sending after its answer is reset in the end: what it was answered with is what counts.
  socket.on('error', () => {})
  socket.on('end', () => socket.end())
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const half = Math.floor(sizeBytes / 2)
  socket.write(uploadHead(url, caller, content))
  socket.write(content.bytes().subarray(0, half))
  return {
    socket,
    finish: () => void socket.write(content.bytes().subarray(half)),
    /** The status that it was answered with, once the connection is closed. */
    status: closed.then(() => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? Number.NaN)
      if (status === 200) staging.outcome = 'ack'
      return status
    }),
  }
}

/** Stops one instance with uploads under way, and answers how long its process took, in ms. */
async function drainOnce(
  harness: FleetHarness,
  options: { user: Caller; ledger: Ledger; victim: number; withEndless: boolean },
) {
  const { user, ledger, victim, withEndless } = options
  const instance = harness.fleet.instances[victim]
  if (instance === undefined) throw new TypeError('no such instance')
  const uploads = await Promise.all(
    Array.from({ length: UPLOADS }, (_, index) =>
      startHalf(instance.url, user, ledger, index % 2 === 0 ? 40 * KB : 200 * KB),
    ),
  )
  const endless = withEndless ? await startHalf(instance.url, user, ledger, 300 * KB) : undefined
  await sleep(200)
  const startedAt = performance.now()
  const ended = instance.drain(DRAIN_SECONDS * 1000 + CLOSING_MS)
  await sleep(200)
  for (const one of uploads) one.finish()
  const dripping = setInterval(() => endless?.socket.writable && endless.socket.write('.'), 100)
  const statuses = await Promise.all(uploads.map(({ status }) => status))
  const endlessStatus = await endless?.status
  clearInterval(dripping)
  expect(statuses, harness.log()).toEqual(uploads.map(() => 200))
  expect(endlessStatus, harness.log()).toBe(withEndless ? 503 : undefined)
  expect(await ended, harness.log()).toEqual({ code: 0, signal: null })
  const tookMs = performance.now() - startedAt
  await instance.start()
  return Math.round(tookMs)
}

test.each(Array.from({ length: rounds }, (_, index) => index))(
  'SIGTERM lets uploads finish and ends an instance within its limit, whatever is still under way (%i)',
  async (index) => {
    const random = seededRandom(runSeed + index)
    const harness = await startHarness(servers(), { LADE_DRAIN_SECONDS: String(DRAIN_SECONDS) })
    const user = await tokenCaller(harness.fleet.url)
    const ledger = new Ledger()
    const tookMs: number[] = []
    for (let drain = 0; drain < Math.min(DRAINS_PER_CHECK, PLAN.fleetDrains); drain += 1) {
      const victim = random.between(0, harness.fleet.instances.length - 1)
      tookMs.push(await drainOnce(harness, { user, ledger, victim, withEndless: drain % 3 === 2 }))
    }
    await harness.fleet.ready()
    const story = `seed ${random.seed}, drained in ${tookMs.join(', ')} ms`
    await expectWhole(harness, ledger, story)
    console.info(story)
  },
)

test('SIGTERM ends an instance also while its database is away', async () => {
  const harness = await startHarness(servers(), { LADE_DRAIN_SECONDS: String(DRAIN_SECONDS) })
  const [first, second] = harness.fleet.instances
  if (first === undefined || second === undefined) throw new TypeError('no instances')
  await harness.postgres.stopImmediately()
  onTestFinished(() => harness.postgres.start())
  expect(await first.drain(DRAIN_SECONDS * 1000 + UNREACHABLE_MS), harness.log()).toMatchObject({ signal: null })
  await sleep(WELL_AWAY_MS)
  expect(await second.drain(DRAIN_SECONDS * 1000 + UNREACHABLE_MS), harness.log()).toMatchObject({ signal: null })
})
