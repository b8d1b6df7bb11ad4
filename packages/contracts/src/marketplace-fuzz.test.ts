import { expect, it } from 'vitest'
import { FuzzActions } from './testing/model/fuzz-actions.ts'
import { type FuzzFigures, MarketFuzz } from './testing/model/market-fuzz.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const SEEDS = IS_FULL ? [1, 2, 3, 4, 5, 6] : [1]
const ACTIONS = IS_FULL ? 20_000 : 400
/** Of half of the seeds, challenges lapse after 256 blocks. */
const HARDFORKS = ['prague', 'cancun'] as const
const COMPARE_ALL_EVERY = 250
const HOUR_MS = 3_600_000

async function run(seed: number): Promise<FuzzFigures> {
  const hardfork = HARDFORKS[seed % 2] ?? 'prague'
  const fuzz = await MarketFuzz.open(hardfork)
  try {
    const actions = new FuzzActions(fuzz, seed, hardfork)
    for (let action = 0; action < ACTIONS; action += 1) {
      await actions.next()
      if (action % COMPARE_ALL_EVERY === 0) await fuzz.compareAll()
    }
    await actions.close()
    await fuzz.compareAll()
    return await fuzz.finish()
  } finally {
    await fuzz.chain.stop()
  }
}

// The chains of several seeds share two processors better than one alone uses them.
it.concurrent.each(SEEDS)(
  'the contract does what the model does, and its money is exact: seed %i',
  async (seed) => {
    const startedMs = performance.now()
    const { actions, deals, blocks, paidOut, reentries } = await run(seed)
    for (const name of [
      'proposeDeals',
      'acceptDeal',
      'extendDeal',
      'endDeal',
      'slash',
      'settle',
      'openMany',
      'proveMany',
    ]) {
      expect(actions.get(name)?.taken, name).toBeGreaterThan(0)
    }
    expect(deals.get('Slashed')).toBeGreaterThan(0)
    expect(deals.get('Active')).toBeUndefined()
    expect(paidOut).toBeGreaterThan(0n)
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    const calls = [...actions].map(([name, { taken, refused }]) => `${name} ${taken}/${taken + refused}`).join(', ')
    console.log(
      `seed ${seed}: ${blocks} blocks in ${seconds} s, ${reentries} re-entries refused; ${calls}; ${[...deals].join(' ')}`,
    )
  },
  HOUR_MS,
)
