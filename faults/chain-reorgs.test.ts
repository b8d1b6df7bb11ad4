import { join } from 'node:path'
import { type DealMaking, openDealMaking } from '@lade/server/testing/deal-making'
import { expect, onTestFinished, test } from 'vitest'
import { PLAN } from './plan.ts'
import { runSeed, seededRandom } from './seeded-random.ts'
import { tempDirectory } from './temp-directory.ts'
import { brokenDeals, startDealChain, unfinished } from './testing-deal-chain.ts'

const MAX_DEPTH = 20
/** A reorganisation takes back what has up to as many blocks over it, less one. */
const FINALITY_BLOCKS = MAX_DEPTH
const HEALING_ROUNDS = 1_000

test(`deals outlive ${PLAN.chainReorgs} reorganisations, each once`, async () => {
  const random = seededRandom(runSeed)
  const chain = await startDealChain()
  const file = join(tempDirectory(), 'lade.db')
  const shared = { ...chain.options, rpcUrl: chain.anvil.rpcUrl, file, finalityBlocks: FINALITY_BLOCKS }
  const making = await openDealMaking({ ...shared, maxBatch: 3, raiseAfterMs: 200 })
  onTestFinished(() => making.close())
  const staged: Awaited<ReturnType<DealMaking['stage']>>[] = []
  const { proposer } = making
  const counts = { reorganised: 0, blocksTakenBack: 0, dropped: 0, elsewhere: 0 }
  // The contracts and the funds have to stay.
  await chain.mine(MAX_DEPTH + 1)

  for (let turn = 0; counts.reorganised < PLAN.chainReorgs; turn += 1) {
    const count = random.between(0, 3)
    for (let one = 0; one < count; one += 1) staged.push(await making.stage(`file ${turn} ${one}`))
    const rounds = random.between(1, 8)
    for (let round = 0; round < rounds; round += 1) {
      await proposer.round()
      if (random.next() < 0.15) {
        const waiting = await chain.waiting()
        if (waiting.length > 0) {
          await chain.drop(random.pick(waiting))
          counts.dropped += 1
        }
      }
      if (random.next() < 0.08) {
        await chain.useNonceElsewhere()
        counts.elsewhere += 1
      }
      if (random.next() < 0.7) await chain.mine(random.between(1, 3))
    }
    const depth = random.between(1, MAX_DEPTH)
    await chain.reorganise(depth)
    counts.reorganised += 1
    counts.blocksTakenBack += depth
    const story = `seed ${random.seed}, turn ${turn}, depth ${depth}`
    expect(await brokenDeals(chain, making, staged), story).toEqual([])
    await proposer.round()
    expect(await brokenDeals(chain, making, staged), story).toEqual([])
  }

  for (let round = 0; round < HEALING_ROUNDS && (await unfinished(making, staged)).length > 0; round += 1) {
    await chain.mine()
    await proposer.round()
  }
  const story = `seed ${random.seed}, ${staged.length} copies, ${JSON.stringify(counts)}`
  expect(await unfinished(making, staged), story).toEqual([])
  expect(await brokenDeals(chain, making, staged), story).toEqual([])
  expect((await chain.dealIds()).size, story).toBe(staged.length)
  process.stderr.write(`${story}\n`)
})
