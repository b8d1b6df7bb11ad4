import { LadeError } from '@lade/core/errors'
import { DAY_MS, HOUR_MS } from '@lade/core/time'
import { describe, expect, test } from 'vitest'
import { FAKE_ACCEPTANCE_MS } from '../chain/fake-marketplace.ts'
import { readCall } from './recorded-call.ts'
import { type DealFixture, openDealFixture } from './testing-deals.ts'

const PERIOD_MS = DAY_MS
const FINALITY_BLOCKS = 3

/** A fixture with one final deal per file, each paid with 7 units. */
async function withDeals(count: number) {
  const fixture = await openDealFixture({ periodMs: PERIOD_MS })
  const { chain, proposer, stage, blocksAndRounds } = fixture
  const copies = await stage(count)
  const keeper = proposer({ finalityBlocks: FINALITY_BLOCKS })
  await keeper.round()
  await blocksAndRounds(keeper, FINALITY_BLOCKS + 2)
  expect(chain.escrowMicroUsdc).toBe(7n * BigInt(count))
  const escrows = () => found(fixture, count)
  return { ...fixture, copies, keeper, escrows, kinds: () => sentKinds(fixture) }
}

async function found({ records, contractId: contract }: DealFixture, count: number) {
  return records.escrow.find(Array.from({ length: count }, (_, index) => ({ contract, onchainId: String(index + 1) })))
}

/** Of every transaction that was recorded, in the order of the nonces. */
async function sentKinds({ records, accountId: account }: DealFixture): Promise<readonly string[]> {
  const states = ['open', 'mined', 'confirmed', 'final'] as const
  const transactions = await records.chain.transactions({ account, states, limit: 1_000 })
  return transactions.map(({ call }) => readCall(call).kind)
}

describe('escrow', () => {
  test('of a deal that nobody accepts comes back after the window, once', async () => {
    const { chain, clock, keeper, blocksAndRounds, escrows, kinds } = await withDeals(2)
    expect(await escrows()).toMatchObject([{ state: 'proposed', paidInMicroUsdc: 7, returnedMicroUsdc: 0 }, {}])
    clock.now += FAKE_ACCEPTANCE_MS - 60_000
    await blocksAndRounds(keeper, 5)
    expect(await kinds(), 'it can be accepted yet').toEqual(['propose'])
    clock.now += 120_000
    await blocksAndRounds(keeper, 12)
    expect(await kinds()).toEqual(['propose', 'withdraw', 'withdraw'])
    expect(chain.escrowMicroUsdc).toBe(0n)
    const withdrawn = {
      state: 'withdrawn',
      paidInMicroUsdc: 7,
      paidOutMicroUsdc: 0,
      returnedMicroUsdc: 7,
      endsAt: null,
    }
    expect(await escrows()).toMatchObject([withdrawn, withdrawn])
    expect(keeper.state().escrow).toMatchObject({
      deals: [{ state: 'withdrawn', count: 2 }],
      paidInMicroUsdc: 14,
      paidOutMicroUsdc: 0,
      returnedMicroUsdc: 14,
    })
    clock.now += 30 * DAY_MS
    await blocksAndRounds(keeper, 5)
    expect(await kinds()).toHaveLength(3)
  })

  test('of a proposed deal whose copy has ended comes back at once', async () => {
    const { clock, records, copies, keeper, blocksAndRounds, kinds, escrows } = await withDeals(2)
    await records.placements.fail({ copy: copies[1]?.copy ?? 0, cause: 'moved', now: clock.now })
    await blocksAndRounds(keeper, 8)
    expect(await kinds()).toEqual(['propose', 'withdraw'])
    expect(await escrows()).toMatchObject([{ state: 'proposed' }, { state: 'withdrawn', returnedMicroUsdc: 7 }])
  })

  test('of a deal that is over is paid to both sides: periods with a proof to the prover, the others back', async () => {
    const { chain, clock, keeper, blocksAndRounds, kinds, escrows } = await withDeals(1)
    chain.act({ kind: 'accept', dealId: 1n })
    await blocksAndRounds(keeper, FINALITY_BLOCKS + 2)
    expect(await escrows()).toMatchObject([{ state: 'active', endsAt: expect.any(Number) }])
    const began = clock.now
    // Two of seven periods are missed, never more than one in a row.
    for (const day of [0, 2, 4, 5, 6]) {
      clock.now = began + day * DAY_MS + HOUR_MS
      chain.act({ kind: 'prove', dealId: 1n })
      await blocksAndRounds(keeper, 2)
    }
    expect(await kinds(), 'nothing is due yet').toEqual(['propose'])
    clock.now = began + 7 * DAY_MS
    await blocksAndRounds(keeper, 12)
    expect(await kinds()).toEqual(['propose', 'settle'])
    expect(await escrows()).toMatchObject([{ state: 'settled', paidOutMicroUsdc: 5, returnedMicroUsdc: 2 }])
    expect(chain.escrowMicroUsdc).toBe(0n)
  })

  test('of a deal whose prover is gone comes back after three missed periods, and not before', async () => {
    const { chain, clock, keeper, blocksAndRounds, kinds, escrows } = await withDeals(1)
    chain.act({ kind: 'accept', dealId: 1n })
    await blocksAndRounds(keeper, FINALITY_BLOCKS + 2)
    clock.now += 3 * PERIOD_MS - 60_000
    await blocksAndRounds(keeper, 5)
    expect(await kinds()).toEqual(['propose'])
    clock.now += 60_000
    await blocksAndRounds(keeper, 12)
    expect(await kinds()).toEqual(['propose', 'slash'])
    expect(await escrows()).toMatchObject([{ state: 'slashed', paidOutMicroUsdc: 0, returnedMicroUsdc: 7 }])
    expect(chain.escrowMicroUsdc).toBe(0n)
  })

  test('comes back once when two processes keep it, and blocks are taken back', async () => {
    const fixture = await withDeals(3)
    const { chain, clock, keeper, proposer, openAgain, blocksAndRounds, kinds } = fixture
    const other = proposer({ records: await openAgain(), finalityBlocks: FINALITY_BLOCKS })
    clock.now += FAKE_ACCEPTANCE_MS
    for (let round = 0; round < 12; round += 1) {
      clock.now += 2_000
      await Promise.all([keeper.round(), other.round()])
      chain.mine()
      if (round % 3 === 1) chain.reorganise({ depth: 2, transactions: round % 2 === 0 ? 'dropped' : 'pool' })
    }
    await blocksAndRounds(keeper, 12)
    expect(await kinds()).toEqual(['propose', 'withdraw', 'withdraw', 'withdraw'])
    expect(chain.escrowMicroUsdc).toBe(0n)
    expect(keeper.state().escrow).toMatchObject({ paidInMicroUsdc: 21, returnedMicroUsdc: 21 })
  })

  test('waits while the token refuses payments, as do new deals, and comes back after that', async () => {
    const { chain, clock, keeper, stage, states, blocksAndRounds, kinds } = await withDeals(1)
    chain.setFrozen(true)
    const [later] = await stage(1)
    clock.now += FAKE_ACCEPTANCE_MS + 1_000
    await blocksAndRounds(keeper, 5)
    expect(await kinds()).toEqual(['propose'])
    expect(keeper.state()).toMatchObject({ waits: ['token'], lastError: expect.stringMatching(/token refuses/) })
    chain.setFrozen(false)
    await blocksAndRounds(keeper, 8)
    expect((await kinds()).toSorted()).toEqual(['propose', 'propose', 'withdraw'])
    expect(later && (await states([later]))).toEqual(['final'])
    expect(keeper.state().waits).toEqual([])
  })

  test('waits while the fee is above the cap, and that is said', async () => {
    const { chain, clock, keeper, blocksAndRounds, kinds } = await withDeals(1)
    chain.setBaseFee(10n ** 13n)
    clock.now += FAKE_ACCEPTANCE_MS + 1_000
    await blocksAndRounds(keeper, 5)
    expect(await kinds()).toEqual(['propose'])
    expect(keeper.state().waits).toEqual(['fee'])
    chain.setBaseFee(10n ** 9n)
    await blocksAndRounds(keeper, 8)
    expect(await kinds()).toEqual(['propose', 'withdraw'])
  })

  test('is counted from the first transaction on by a service that did not count before', async () => {
    const { chain, records, proposer, stage, blocksAndRounds } = await openDealFixture()
    await stage(2)
    const { escrow } = records
    const blind = { ...records, escrow: { ...escrow, apply: async () => false } }
    const before = proposer({ records: blind, finalityBlocks: FINALITY_BLOCKS })
    await before.round()
    await blocksAndRounds(before, 5)
    chain.mine(3_000)
    const keeper = proposer({ finalityBlocks: FINALITY_BLOCKS })
    await keeper.round()
    await keeper.round()
    expect(keeper.state().escrow).toMatchObject({ deals: [{ state: 'proposed', count: 2 }], paidInMicroUsdc: 14 })
  })

  test('is counted once after the records failed to take it', async () => {
    const { chain, records, proposer, stage, blocksAndRounds } = await openDealFixture()
    await stage(2)
    let isBroken = true
    const apply: typeof records.escrow.apply = async (request) => {
      if (isBroken && request.changes.length > 0) throw new LadeError('storage_failed', { retryAfterSeconds: 1 })
      return records.escrow.apply(request)
    }
    const keeper = proposer({
      records: { ...records, escrow: { ...records.escrow, apply } },
      finalityBlocks: FINALITY_BLOCKS,
    })
    await keeper.round()
    chain.mine(FINALITY_BLOCKS + 2)
    await expect(keeper.round()).rejects.toMatchObject({ code: 'storage_failed' })
    await expect(keeper.round()).rejects.toMatchObject({ code: 'storage_failed' })
    isBroken = false
    await blocksAndRounds(keeper, 3)
    expect(keeper.state().escrow).toMatchObject({ paidInMicroUsdc: 14, deals: [{ count: 2 }] })
  })

  test('is counted by shorter ranges when the node does not return long ones', async () => {
    const { chain, proposer, stage, blocksAndRounds } = await openDealFixture()
    await stage(2)
    const asked: number[] = []
    const [contract] = chain.marketplace.contracts
    const limited: typeof contract = {
      ...contract,
      async events({ from, to }) {
        asked.push(to - from + 1)
        return contract.events(to - from > 9 ? { from, to: Number.MAX_SAFE_INTEGER } : { from, to })
      },
    }
    const marketplace = { ...chain.marketplace, contracts: [limited] as const }
    const keeper = proposer({ chain: { ...chain, marketplace }, finalityBlocks: FINALITY_BLOCKS })
    await keeper.round()
    await blocksAndRounds(keeper, 1)
    chain.mine(60)
    await blocksAndRounds(keeper, 40)
    expect(Math.max(...asked)).toBeGreaterThan(10)
    expect(keeper.state().escrow).toMatchObject({ paidInMicroUsdc: 14 })
  })
})

describe('the budget of a day', () => {
  test('is put in escrow exactly; other deals wait for the next day, also across a restart', async () => {
    const { chain, clock, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(5)
    const options = { finalityBlocks: FINALITY_BLOCKS, dealMicroUsdcPerDay: 15n, maxBatch: 1 }
    const first = proposer(options)
    await first.round()
    await blocksAndRounds(first, 5)
    expect(chain.escrowMicroUsdc).toBe(14n)
    expect(first.state()).toMatchObject({ spentTodayMicroUsdc: 14, waits: ['budget'] })
    const second = proposer({ ...options, maxBatch: 40 })
    await blocksAndRounds(second, 5)
    expect(chain.escrowMicroUsdc).toBe(14n)
    clock.now += DAY_MS - (clock.now % DAY_MS) - 10_000
    await blocksAndRounds(second, 2)
    expect(chain.escrowMicroUsdc, 'still the same UTC day').toBe(14n)
    clock.now += 10_000
    await blocksAndRounds(second, 3)
    expect((await states(copies)).filter((state) => state !== 'queued')).toHaveLength(4)
  })

  test('is not exceeded by two processes at once', async () => {
    const { chain, records, proposer, openAgain, stage, blocksAndRounds } = await openDealFixture()
    await stage(6)
    const options = { finalityBlocks: FINALITY_BLOCKS, dealMicroUsdcPerDay: 21n, maxBatch: 1 }
    const two = [proposer({ ...options, records }), proposer({ ...options, records: await openAgain() })] as const
    for (let round = 0; round < 8; round += 1) await Promise.all(two.map((each) => each.round()))
    await blocksAndRounds(two[0], 3)
    expect(chain.escrowMicroUsdc).toBe(21n)
  })

  test('holds up no deal behind one that costs more than a whole day, and is given back by one that is undone', async () => {
    const { chain, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const dear = await stage(1, { days: 30 })
    const cheap = await stage(2)
    const keeper = proposer({ finalityBlocks: FINALITY_BLOCKS, dealMicroUsdcPerDay: 14n, maxBatch: 1 })
    chain.revertWhen(() => true)
    await keeper.round()
    await blocksAndRounds(keeper, 2)
    chain.revertWhen(() => false)
    await blocksAndRounds(keeper, 12)
    expect(await states([...dear, ...cheap])).toEqual(['queued', 'final', 'final'])
    expect(keeper.state()).toMatchObject({ spentTodayMicroUsdc: 14, waits: ['budget'] })
    expect(keeper.state().lastError).toMatch(/0\.00003 USDC, more than LADE_DEAL_USDC_PER_DAY \(0\.000014\)/)
  })
})
