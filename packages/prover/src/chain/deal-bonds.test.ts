import { parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { PAY_OF_PERIOD, PERIOD_SECONDS, startChainHarness } from '../testing/chain-harness.ts'
import { holdPieces, metricOf, readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf } from '../testing/harness.ts'
import type { ChainLimits } from './chain-limits.ts'

const PIECE = pieceOf(3000)
const [PROPOSED, ACTIVE, SETTLED, SLASHED] = [1, 2, 3, 4]
const BOND = 5_000n

async function start(limits: Partial<ChainLimits>, usdc = 0n) {
  const harness = await startChainHarness()
  const account = await harness.newProver()
  if (usdc > 0n) await harness.mint(account.address, usdc)
  const { lines, log } = readLog()
  const prover = await startFollowingProver({ ...account, limits }, { dir: await holdPieces([PIECE]), log })
  const becomes = (dealId: bigint, state: number | undefined) =>
    harness.mineUntil(async () => (await harness.deal(dealId)).state === state)
  return { harness, account, prover, lines, becomes }
}

describe('the terms that a prover accepts', () => {
  test('are those that it has checked, also when the client changes them in the same block', async () => {
    const { harness, account, lines } = await start({ longestTermSeconds: 86_400 })
    const dealId = await harness.propose(account.address, PIECE, 3)
    await expect.poll(async () => (await harness.chain.getTxpoolStatus()).pending).toBe(1)
    await harness.chain.setNextBlockBaseFeePerGas({ baseFeePerGas: parseGwei('1') })
    // A hundred years for nothing, ahead of the acceptance that waits for its block.
    await harness.market.extend(dealId, 99n * 365n * 86_400n, 0n, parseGwei('100'))
    await harness.mineSeconds(100)
    expect(await harness.deal(dealId)).toMatchObject({ state: PROPOSED })
    expect(lines.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['acceptDeal: reverted', 'term']))
  })
})

describe('bonds', () => {
  test('are not put up unless the operator says how much', async () => {
    const { harness, account, prover } = await start({}, 10n * BOND)
    const dealId = await harness.propose(account.address, PIECE, 3, { bond: 1n })
    await harness.mineSeconds(100)
    expect(await harness.deal(dealId)).toMatchObject({ state: PROPOSED })
    expect(await harness.transactionsOf(account.address)).toBe(0)
    expect(await metricOf(prover.url, 'lade_prover_refused_deals_total{reason="bond"}')).toBe(1)
  })

  test('are put up for as many deals as they are enough for, and for others when they come back', async () => {
    const { harness, account, prover, lines, becomes } = await start({ mostBond: 2n * BOND - 1n }, 10n * BOND)
    const proposal = harness.proposal(account.address, PIECE, 2)
    await harness.proposeMany([
      { ...proposal, bond: BOND },
      { ...proposal, bond: BOND },
      { ...proposal, bond: 2n * BOND },
    ])
    await becomes(1n, ACTIVE)
    await harness.mineSeconds(30)
    expect(await metricOf(prover.url, 'lade_prover_bonded_usdc')).toBe(Number(BOND) / 1e6)
    expect(await harness.deal(2n)).toMatchObject({ state: PROPOSED })
    const waits = 'a deal waits: LADE_PROVER_BOND_MAX_USDC is put up for others'
    expect(lines.filter(({ msg }) => msg === waits).map(({ dealId }) => dealId)).toEqual(['2'])
    await becomes(1n, SETTLED)
    await becomes(2n, SETTLED)
    expect(await harness.deal(3n)).toMatchObject({ state: PROPOSED })
    expect(await harness.balanceOf(account.address)).toBe(10n * BOND + 4n * PAY_OF_PERIOD)
    expect(await harness.allowanceOf(account.address)).toBeLessThan(2n * BOND)
    await expect.poll(() => metricOf(prover.url, 'lade_prover_bonded_usdc')).toBe(0)
  })

  test('that the account does not have keep it from a deal, which is said once', async () => {
    const { harness, account, lines, becomes } = await start({ mostBond: BOND })
    const dealId = await harness.propose(account.address, PIECE, 2, { bond: BOND })
    await harness.mineSeconds(100)
    const reason = 'acceptDeal: the account has too little USDC for the bond'
    expect(lines.filter((line) => line.reason === reason)).toHaveLength(1)
    expect(await harness.transactionsOf(account.address)).toBe(0)
    await harness.mint(account.address, BOND)
    await becomes(dealId, ACTIVE)
  })
})

describe('a deal that its client ends', () => {
  test('is proved for its notice and settled, and the bond comes back', async () => {
    const { harness, account, becomes } = await start({ mostBond: BOND }, BOND)
    const dealId = await harness.propose(account.address, PIECE, 100, { bond: BOND })
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) === 1)
    await harness.market.end(dealId)
    await harness.mineSeconds(3 * PERIOD_SECONDS)
    await becomes(dealId, SETTLED)
    // The period that ran was proven; the one after it is the notice.
    expect(await harness.provenPeriods(dealId)).toBe(2)
    expect(await harness.countEvents('PeriodMissed')).toBe(0)
    expect(await harness.balanceOf(account.address)).toBe(BOND + 2n * PAY_OF_PERIOD)
  })

  test('or slashed, if its proofs do not come', async () => {
    const { harness, account, prover, becomes } = await start({ mostBond: BOND }, BOND)
    const dealId = await harness.propose(account.address, PIECE, 100, { bond: BOND })
    await becomes(dealId, ACTIVE)
    await prover.close()
    await harness.chain.increaseTime({ seconds: 4 * PERIOD_SECONDS })
    await harness.slash(dealId)
    expect(await harness.deal(dealId)).toMatchObject({ state: SLASHED })
    expect(await harness.balanceOf(account.address)).toBeLessThan(BOND)
  })
})
