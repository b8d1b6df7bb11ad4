import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DealMakingOptions, openDealMaking } from '@lade/server/testing/deal-making'
import { expect, onTestFinished, test } from 'vitest'
import { runSeed, seededRandom } from './seeded-random.ts'
import { tempDirectory } from './temp-directory.ts'
import { startDealChain, unfinished } from './testing-deal-chain.ts'

const PROGRAM = fileURLToPath(new URL('./testing-deal-proposer.ts', import.meta.url))
const DEALS = 12
const ACCEPTED = 5
const KILLS = 4
const FINALITY_BLOCKS = 4
const HEALING_ROUNDS = 200
/** Longer than the acceptance window, and than three proving periods of an hour. */
const WINDOW_SECONDS = 2 * 86_400

/** A process that keeps deals, killed after so long. */
async function killedAfter(options: DealMakingOptions, lifeMs: number): Promise<void> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { env: { PATH, HOME }, stdio: 'pipe' })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const ready = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()))
  await Promise.race([ready, exited])
  await sleep(lifeMs)
  child.kill('SIGKILL')
  await exited
}

test('escrow that nobody earned comes back to the last unit, each deal once, while processes are killed', async () => {
  const random = seededRandom(runSeed)
  const chain = await startDealChain()
  const file = join(tempDirectory(), 'lade.db')
  const { rpcUrl } = chain.anvil
  const options = { ...chain.options, rpcUrl, file, finalityBlocks: FINALITY_BLOCKS, maxBatch: 3, raiseAfterMs: 60_000 }
  const before = await chain.balances()

  const proposing = await openDealMaking(options)
  const staged: Awaited<ReturnType<typeof proposing.stage>>[] = []
  for (let index = 0; index < DEALS; index += 1) staged.push(await proposing.stage(`file ${index}`))
  for (let round = 0; round < HEALING_ROUNDS; round += 1) {
    await chain.mine()
    await proposing.proposer.round()
    if ((await unfinished(proposing, staged)).length === 0) break
  }
  const ids = [...(await chain.dealIds()).values()].flat()
  expect(ids).toHaveLength(DEALS)
  for (const dealId of ids.slice(0, ACCEPTED)) await chain.accept(dealId)
  await proposing.close()
  expect((await chain.balances()).marketplace).toBe(1_000n * BigInt(DEALS))

  await chain.pass(WINDOW_SECONDS)
  const later = { ...options, clockAheadMs: WINDOW_SECONDS * 1_000 }
  for (let kill = 0; kill < KILLS; kill += 1) {
    const killed = killedAfter(later, random.between(20, 400))
    for (let block = 0; block < 4; block += 1) {
      await chain.mine()
      await sleep(random.between(5, 80))
    }
    await killed
  }
  const keeping = await openDealMaking(later)
  onTestFinished(() => keeping.close())
  const isOver = async () => {
    const { marketplace } = await chain.balances()
    const { escrow } = keeping.proposer.state()
    const isCounted = escrow !== undefined && escrow.paidInMicroUsdc === escrow.returnedMicroUsdc
    return marketplace === 0n && isCounted && (await keeping.unsettled()).length === 0
  }
  for (let round = 0; round < HEALING_ROUNDS && !(await isOver()); round += 1) {
    await chain.mine()
    await keeping.proposer.round()
  }

  expect(await chain.balances(), `seed ${random.seed}`).toEqual({ operator: before.operator, marketplace: 0n })
  expect(keeping.proposer.state().escrow).toMatchObject({
    deals: [
      { state: 'slashed', count: ACCEPTED },
      { state: 'withdrawn', count: DEALS - ACCEPTED },
    ],
    paidInMicroUsdc: 1_000 * DEALS,
    paidOutMicroUsdc: 0,
    returnedMicroUsdc: 1_000 * DEALS,
  })
  const account = keeping.accountId
  const sent = await keeping.records.chain.transactions({ account, states: ['final'], limit: 1_000 })
  expect(sent.filter(({ succeeded }) => succeeded !== true)).toEqual([])
  const kinds = sent.map(({ call }): string => JSON.parse(call).kind)
  expect(kinds.filter((kind) => kind === 'withdraw')).toHaveLength(DEALS - ACCEPTED)
  expect(kinds.filter((kind) => kind === 'slash')).toHaveLength(ACCEPTED)
})
