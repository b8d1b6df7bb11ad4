import { DAY_MS } from '@lade/core/time'
import { describe, expect, test } from 'vitest'
import { accountIdOf } from '../chain/account-id.ts'
import type { Address } from '../chain/chain.ts'
import { FAKE_ACCEPTANCE_MS } from '../chain/fake-marketplace.ts'
import { readCall } from './recorded-call.ts'
import { type DealFixture, openDealFixture } from './testing-deals.ts'

const OLDER: Address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const NEWER: Address = '0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512'
const FINALITY_BLOCKS = 5

/** What was called, in the order of the nonces. */
async function calls({ records, accountId: account }: DealFixture) {
  const states = ['open', 'mined', 'confirmed', 'final'] as const
  const transactions = await records.chain.transactions({ account, states, limit: 1_000 })
  return transactions.map(({ call }) => {
    const read = readCall(call)
    return `${read.kind} ${'contract' in read && read.contract === OLDER ? 'older' : 'newer'}`
  })
}

/** So many deals with the older contract, and then as many with the newer; both number from 1. */
async function openUpgraded(count: number) {
  const fixture = await openDealFixture({ contracts: [{ address: NEWER }, { address: OLDER }], periodMs: DAY_MS })
  const { chain, proposer, stage, blocksAndRounds } = fixture
  const [newer, older] = chain.marketplace.contracts
  if (older === undefined) throw new Error('no older contract')
  const before = { ...chain, marketplace: { ...chain.marketplace, contracts: [older] as const } }
  const oldCopies = await stage(count)
  await blocksAndRounds(proposer({ chain: before, finalityBlocks: FINALITY_BLOCKS }), FINALITY_BLOCKS + 3)
  const newCopies = await stage(count)
  const keeper = proposer({ finalityBlocks: FINALITY_BLOCKS })
  await blocksAndRounds(keeper, FINALITY_BLOCKS + 3)
  return { ...fixture, newer, oldCopies, newCopies, keeper }
}

describe('deals with several contracts', () => {
  test('are made with the first; those of the others are known by their own contract', async () => {
    const { chain, dealOf, oldCopies, newCopies } = await openUpgraded(2)
    expect(chain.deals.map(({ contract, dealId }) => [contract, dealId])).toEqual([
      [OLDER, 1n],
      [OLDER, 2n],
      [NEWER, 1n],
      [NEWER, 2n],
    ])
    const contracts = [...oldCopies, ...newCopies].map(async (copy) => (await dealOf(copy))?.contract)
    const ids = [OLDER, OLDER, NEWER, NEWER].map((address) => accountIdOf({ chainId: chain.chainId, address }))
    expect(await Promise.all(contracts)).toEqual(ids)
  })

  test('are withdrawn, settled and extended each with its own contract', async () => {
    const fixture = await openUpgraded(2)
    const { chain, clock, keeper, records, blocksAndRounds, oldCopies } = fixture
    // The first of the older contract and the second of the newer are accepted; the others, of the same numbers, are not.
    chain.act({ kind: 'accept', contract: OLDER, dealId: 1n })
    chain.act({ kind: 'accept', contract: NEWER, dealId: 2n })
    await blocksAndRounds(keeper, FINALITY_BLOCKS + 2)
    const [first] = oldCopies
    await records.files.change({ file: first?.file ?? 0, now: clock.now, term: { termDays: 9 }, maxTermDays: 365 })
    clock.now += FAKE_ACCEPTANCE_MS + 1_000
    for (let day = 0; day < 6; day += 1) {
      chain.act({ kind: 'prove', contract: OLDER, dealId: 1n })
      chain.act({ kind: 'prove', contract: NEWER, dealId: 2n })
      await blocksAndRounds(keeper, FINALITY_BLOCKS + 2)
      clock.now += DAY_MS
    }
    clock.now += 4 * DAY_MS
    await blocksAndRounds(keeper, 3 * FINALITY_BLOCKS)
    const made = await calls(fixture)
    expect(made.slice(0, 2)).toEqual(['propose older', 'propose newer'])
    expect(made.slice(2).toSorted()).toEqual([
      'extend older',
      'settle newer',
      'settle older',
      'withdraw newer',
      'withdraw older',
    ])
    expect(chain.escrowMicroUsdc).toBe(0n)
    expect(keeper.state().escrow).toMatchObject({
      deals: [
        { state: 'settled', count: 2 },
        { state: 'withdrawn', count: 2 },
      ],
    })
  })

  test('of a contract that is not configured any more are let be', async () => {
    const fixture = await openUpgraded(1)
    const { chain, clock, newer, proposer, blocksAndRounds } = fixture
    const only = { ...chain, marketplace: { ...chain.marketplace, contracts: [newer] as const } }
    const keeper = proposer({ chain: only, finalityBlocks: FINALITY_BLOCKS })
    clock.now += FAKE_ACCEPTANCE_MS + 1_000
    await blocksAndRounds(keeper, 2 * FINALITY_BLOCKS)
    expect(await calls(fixture)).toEqual(['propose older', 'propose newer', 'withdraw newer'])
  })
})
