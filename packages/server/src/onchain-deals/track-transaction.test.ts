import { describe, expect, test } from 'vitest'
import type { Hash } from '../chain/chain.ts'
import { openDealFixture } from './testing-deals.ts'

describe('a reorganisation', () => {
  test.each(['pool', 'again', 'dropped'] as const)('takes ids back and gives them again: %s', async (transactions) => {
    const { chain, proposer, stage, blocksAndRounds, states, dealOf } = await openDealFixture()
    const copies = await stage(2)
    const proposing = proposer({ maxBatch: 1 })
    await proposing.round()
    await blocksAndRounds(proposing, 3)
    expect(await states(copies)).toEqual(['confirmed', 'confirmed'])
    chain.reorganise({ depth: 3, transactions })
    await proposing.round()
    expect(await states(copies)).toEqual(Array(2).fill(transactions === 'again' ? 'confirmed' : 'proposing'))
    await blocksAndRounds(proposing, 6)
    expect(await states(copies)).toEqual(['final', 'final'])
    expect(chain.deals).toHaveLength(2)
    for (const copy of copies) {
      const deal = chain.deals.find(({ proposal }) => proposal.pieceRoot === copy.pieceRoot)
      expect(await dealOf(copy)).toMatchObject({ onchainId: String(deal?.dealId) })
    }
  })

  test('is not believed of a node that is behind the block', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    await proposing.round()
    await blocksAndRounds(proposing, 2)
    chain.setLag(2)
    await proposing.round()
    expect(await states(copies)).toEqual(['confirmed'])
    chain.setLag(0)
    await blocksAndRounds(proposing, 5)
    expect(await states(copies)).toEqual(['final'])
    expect(chain.deals).toHaveLength(1)
  })

  test('that undoes the nonce of somebody else leaves a gap, which is filled', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    chain.useNonceElsewhere()
    const copies = await stage(1)
    const proposing = proposer()
    await proposing.round()
    chain.reorganise({ depth: 1, transactions: 'dropped' })
    await blocksAndRounds(proposing, 2)
    expect(chain.sent).toHaveLength(1)
    await blocksAndRounds(proposing, 2)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(chain.deals).toHaveLength(1)
  })
})

describe('a nonce that somebody else used', () => {
  test('has the deals queued again once that is final, and not before', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(2)
    const proposing = proposer({ finalityBlocks: 5 })
    await proposing.round()
    chain.useNonceElsewhere()
    await blocksAndRounds(proposing, 6)
    expect(await states(copies)).toEqual(['proposing', 'proposing'])
    expect(chain.deals).toHaveLength(0)
    await blocksAndRounds(proposing, 3)
    expect(await states(copies)).toEqual(['confirmed', 'confirmed'])
    expect(chain.deals).toHaveLength(2)
  })

  test('is not believed of nodes that answer from different blocks', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(1)
    const find = chain.marketplace.find
    let isBehind = true
    const marketplace = {
      ...chain.marketplace,
      find: async (hash: Hash) => (isBehind ? { place: 'unknown' as const } : find(hash)),
    }
    const proposing = proposer({ chain: { ...chain, marketplace }, finalityBlocks: 5 })
    await proposing.round()
    chain.mine(8)
    await blocksAndRounds(proposing, 2)
    await proposing.round()
    isBehind = false
    await blocksAndRounds(proposing, 8)
    expect(await states(copies)).toEqual(['final'])
    expect(chain.deals).toHaveLength(1)
  })

  test('is ours again when that goes away before', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer({ finalityBlocks: 5 })
    await proposing.round()
    chain.useNonceElsewhere()
    await blocksAndRounds(proposing, 4)
    chain.reorganise({ depth: 5, transactions: 'dropped' })
    await blocksAndRounds(proposing, 2)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(new Set(chain.sent).size).toBe(1)
  })
})

describe('a transaction that is undone', () => {
  test('has its deals queued again once that is final', async () => {
    const { chain, proposer, stage, blocksAndRounds, states, dealOf } = await openDealFixture()
    const copies = await stage(2)
    const proposing = proposer({ finalityBlocks: 5 })
    chain.revertWhen(() => true)
    await proposing.round()
    await blocksAndRounds(proposing, 5)
    expect(await states(copies), 'a reorganisation could still make it succeed').toEqual(['proposing', 'proposing'])
    chain.revertWhen(() => false)
    await blocksAndRounds(proposing, 2)
    expect(await states(copies)).toEqual(['confirmed', 'confirmed'])
    expect(copies[0] && (await dealOf(copies[0]))).toMatchObject({ reverts: 1 })
  })

  test('may succeed after a reorganisation, and then is the one that counts', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer({ finalityBlocks: 5 })
    chain.revertWhen(() => true)
    await proposing.round()
    await blocksAndRounds(proposing, 3)
    chain.revertWhen(() => false)
    chain.reorganise({ depth: 3, transactions: 'again' })
    await blocksAndRounds(proposing, 8)
    expect(await states(copies)).toEqual(['final'])
    expect(chain.deals).toHaveLength(1)
  })

  test('is tried one by one after three times, and what is undone alone has failed', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(4)
    const bad = copies[1]?.pieceRoot
    chain.revertWhen((call) => call.kind === 'propose' && call.deals.some(({ pieceRoot }) => pieceRoot === bad))
    const proposing = proposer({ finalityBlocks: 2 })
    await proposing.round()
    await blocksAndRounds(proposing, 30)
    expect(await states(copies)).toEqual(['final', 'failed', 'final', 'final'])
    expect(chain.deals.map(({ proposal }) => proposal.pieceRoot).toSorted()).toEqual(
      copies.flatMap(({ pieceRoot }) => (pieceRoot === bad ? [] : [pieceRoot])).toSorted(),
    )
  })
})
