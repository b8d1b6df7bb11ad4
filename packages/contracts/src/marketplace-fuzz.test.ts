import { expect, it } from 'vitest'
import { FuzzActions } from './testing/model/fuzz-actions.ts'
import { type FuzzFigures, MarketFuzz } from './testing/model/market-fuzz.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const SEEDS = IS_FULL ? [1, 2, 3, 4, 5, 6] : [1]
const ACTIONS = IS_FULL ? 20_000 : 400
/** A new chain after so many: anvil hashes all storage of a contract for each block, and would take three times as long in the end. */
const ACTIONS_OF_CHAIN = 2_000
/** Of half of the seeds, challenges lapse after 256 blocks. */
const HARDFORKS = ['prague', 'cancun'] as const
const COMPARE_ALL_EVERY = 250
const HOUR_MS = 3_600_000

async function runChain(seed: number, hardfork: string, count: number): Promise<FuzzFigures> {
  const fuzz = await MarketFuzz.open(hardfork)
  try {
    const actions = new FuzzActions(fuzz, seed, hardfork)
    for (let action = 0; action < count; action += 1) {
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

/** Calls that were taken, deals by their last state, and what else happened, over all chains of a seed. */
async function run(seed: number): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>()
  const add = (name: string, count: number) => sums.set(name, (sums.get(name) ?? 0) + count)
  for (let chain = 0; chain * ACTIONS_OF_CHAIN < ACTIONS; chain += 1) {
    const count = Math.min(ACTIONS_OF_CHAIN, ACTIONS - chain * ACTIONS_OF_CHAIN)
    const figures = await runChain(1_000 * seed + chain, HARDFORKS[seed % 2] ?? 'prague', count)
    for (const [call, { taken, refused }] of figures.actions) {
      add(call, taken)
      add('calls refused', refused)
    }
    for (const [state, deals] of figures.deals) add(state, deals)
    add('blocks', figures.blocks)
    add('units paid out', Number(figures.paidOut))
    add('re-entries refused', Number(figures.reentries))
  }
  return sums
}

// The chains of several seeds share two processors better than one alone uses them.
it.concurrent.each(SEEDS)(
  'the contract does what the model does, and its money is exact: seed %i',
  async (seed) => {
    const startedMs = performance.now()
    const sums = await run(seed)
    const calls = ['proposeDeals', 'acceptDeal', 'extendDeal', 'endDeal', 'slash', 'settle', 'openMany', 'proveMany']
    for (const name of [...calls, 'Slashed', 'Settled', 'Withdrawn', 'units paid out', 're-entries refused']) {
      expect(sums.get(name), name).toBeGreaterThan(0)
    }
    expect(sums.get('Active')).toBeUndefined()
    const seconds = Math.round((performance.now() - startedMs) / 1_000)
    console.log(`seed ${seed}, ${seconds} s: ${[...sums].map(([name, count]) => `${name} ${count}`).join(', ')}`)
  },
  HOUR_MS,
)
