import { getContractAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { PAY_OF_PERIOD, startChainHarness } from '../testing/chain-harness.ts'
import { holdPieces, readLog, startFollowingProver } from '../testing/following-prover.ts'
import { pieceOf } from '../testing/harness.ts'

const PIECE = pieceOf(3000)
const SETTLED = 3

describe('a prover of several contracts', () => {
  test('serves deals of the same number, each by the version of its own contract', async () => {
    const harness = await startChainHarness({ version: 1 })
    const account = await harness.newProver()
    const [old, other, newer] = [harness.market, await harness.addMarket(1), await harness.addMarket(2, 2n ** 60n)]
    const markets = [old, other, newer]
    const { lines, log } = readLog()
    const marketplaces = markets.map(({ address }) => address)
    const first = await startFollowingProver({ ...account, marketplaces }, { dir: await holdPieces([PIECE]), log })
    const dealIds: bigint[] = []
    for (const [index, market] of markets.entries()) {
      dealIds.push(await harness.proposeMany([market.proposal(account.address, PIECE, 3 + index)], market))
    }
    expect(dealIds).toEqual([1n, 1n, 2n ** 60n])
    const deals = () => Promise.all(markets.map((market, index) => market.deal(dealIds[index] ?? 0n)))
    await harness.mineUntil(async () => (await deals()).every(({ period }) => period > 0))
    // A process that begins again knows all of them, and metrics name the contract.
    await first.close()
    const prover = await startFollowingProver({ ...account, marketplaces }, { dir: first.dir, log })
    await harness.mineUntil(async () => (await deals()).every(({ state }) => state === SETTLED))
    expect(await Promise.all(markets.map((market) => market.countEvents('PeriodProven')))).toEqual([3, 4, 5])
    expect(await harness.balanceOf(account.address)).toBe(12n * PAY_OF_PERIOD)

    const metrics = await (await fetch(`${prover.url}/metrics`)).text()
    for (const address of marketplaces) {
      const contract = address.toLowerCase()
      expect(metrics).toContain(`lade_prover_deals{contract="${contract}",state="active"}`)
      expect(metrics).toContain(`lade_prover_transactions_total{contract="${contract}",call="prove",outcome="landed"}`)
      const accepted = lines.filter((line) => line.contract === contract && line.call === 'acceptDeal')
      expect(accepted).toHaveLength(1)
    }
  })

  test('follows the others while one of them is not there, and that one when it comes', async () => {
    const harness = await startChainHarness({ version: 1 })
    const account = await harness.newProver()
    // Where the client's next contract will be, behind the proposal of a deal.
    const nonce = 1n + BigInt(await harness.transactionsOf(harness.client))
    const coming = getContractAddress({ from: harness.client, nonce })
    const { lines, log } = readLog()
    const marketplaces = [coming, harness.marketplace]
    const prover = await startFollowingProver({ ...account, marketplaces }, { dir: await holdPieces([PIECE]), log })
    const dealId = await harness.propose(account.address, PIECE, 20)
    await harness.mineUntil(async () => (await harness.provenPeriods(dealId)) > 0)
    const missing = `There is no contract at ${coming.toLowerCase()}.`
    expect(lines.filter(({ msg }) => msg === missing)).toHaveLength(1)
    const state = async () => ((await (await fetch(`${prover.url}/healthz`)).json()) as { chain: object }).chain
    expect(await state()).toMatchObject({ state: 'wrong_contract' })

    const market = await harness.addMarket(2)
    expect(market.address).toBe(coming.toLowerCase())
    const later = await harness.proposeMany([market.proposal(account.address, PIECE, 20)], market)
    await harness.mineUntil(async () => (await market.countEvents('PeriodProven', later)) > 0)
    expect(await state()).toMatchObject({ state: 'following' })
  })
})

describe('the randomness of challenges', () => {
  test.each([
    ['of a block that comes much later', { seedDelayBlocks: 6 }],
    ['of a beacon', { hasBeacon: true }],
  ])('%s is waited for and answered', async (_, randomness) => {
    const harness = await startChainHarness({ periodSeconds: 300, ...randomness })
    const account = await harness.newProver()
    await startFollowingProver(account, { dir: await holdPieces([PIECE]) })
    await harness.proposeMany(Array.from({ length: 3 }, () => harness.proposal(account.address, PIECE, 3)))
    await harness.mineUntil(async () => (await harness.countEvents('PeriodProven')) === 9)
    expect(await harness.countEvents('PeriodMissed')).toBe(0)
  })
})
