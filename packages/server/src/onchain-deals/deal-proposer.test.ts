import { DAY_MS, HOUR_MS } from '@lade/core/time'
import { describe, expect, test } from 'vitest'
import { openFakeChain } from '../chain/fake-chain.ts'
import { openDealFixture, PROVER_ACCOUNT } from './testing-deals.ts'

describe('proposing', () => {
  test('proposes every copy once, in batches, and follows the deals until they are final', async () => {
    const { chain, proposer, stage, blocksAndRounds, states, dealOf, clock } = await openDealFixture()
    const copies = await stage(7)
    const proposing = proposer({ maxBatch: 3, finalityBlocks: 5 })
    expect(await proposing.round()).toEqual({ nextInMs: 1_000 })
    expect(proposing.state()).toMatchObject({ pendingTransactions: 3, lastError: null })
    expect(await states(copies)).toEqual(Array(7).fill('proposing'))
    const createdAt = clock.now
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(Array(7).fill('confirmed'))
    expect(proposing.state().pendingTransactions).toBe(0)
    await blocksAndRounds(proposing, 4)
    expect(await states(copies)).toEqual(Array(7).fill('confirmed'))
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(Array(7).fill('final'))
    expect(chain.sent).toHaveLength(3)
    for (const [index, { pieceRoot }] of copies.entries()) {
      const deal = chain.deals[index]
      expect(deal?.proposal).toEqual({
        prover: PROVER_ACCOUNT,
        pieceRoot,
        paddedSizeBytes: 128,
        leafCount: 1,
        durationSeconds: 7 * 86_400,
        paymentMicroUsdc: 7n,
        bondMicroUsdc: 0n,
      })
      const record = copies[index] && (await dealOf(copies[index]))
      expect(record).toMatchObject({ onchainId: String(deal?.dealId), endsAt: createdAt + 7 * DAY_MS })
    }
    expect(await proposing.round()).toEqual({ nextInMs: 5_000 })
  })

  test('tells callers only after the blocks that they wait for', async () => {
    const { chain, proposer, stage, blocksAndRounds, states, dealOf } = await openDealFixture()
    const [copy] = await stage(1)
    if (copy === undefined) throw new Error('no copy')
    const proposing = proposer({ confirmations: 3 })
    await proposing.round()
    await blocksAndRounds(proposing, 2)
    expect(await dealOf(copy)).toMatchObject({ state: 'proposing', onchainId: '1' })
    await blocksAndRounds(proposing, 1)
    expect(await states([copy])).toEqual(['confirmed'])
    expect(chain.deals).toHaveLength(1)
  })

  test('leaves copies of provers without an account, and of files that nobody needs any more', async () => {
    const { chain, records, clock, proposer, stage, states } = await openDealFixture()
    const [foreign] = await stage(1, { prover: 'prover-z' })
    const [gone, live] = await stage(2)
    if (foreign === undefined || gone === undefined || live === undefined) throw new Error('no copies')
    await records.placements.fail({ copy: gone.copy, cause: 'lost', now: clock.now })
    await proposer().round()
    chain.mine()
    expect(chain.deals.map(({ proposal }) => proposal.pieceRoot)).toEqual([live.pieceRoot])
    expect(await states([foreign, gone])).toEqual([])
  })

  test('drops a queued deal whose copy ends before it is proposed', async () => {
    const { chain, records, clock, proposer, stage, states } = await openDealFixture()
    const copies = await stage(2)
    const proposing = proposer({ feeCap: 1n })
    await proposing.round()
    expect(await states(copies)).toEqual(['queued', 'queued'])
    expect(proposing.state().lastError).toMatch('The network fee exceeds the fee cap.')
    await records.placements.fail({ copy: copies[0]?.copy ?? 0, cause: 'lost', now: clock.now })
    await proposer().round()
    chain.mine()
    expect(await states(copies)).toEqual(['failed', 'proposing'])
    expect(chain.deals).toHaveLength(1)
  })

  test('proposes no more than the balance pays for, what is under way included', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const { account } = chain.marketplace
    const copies = await stage(5)
    chain.setBalance(account, 20n)
    const proposing = proposer({ maxBatch: 1 })
    await proposing.round()
    await proposing.round()
    expect(await states(copies)).toEqual(['proposing', 'proposing', 'queued', 'queued', 'queued'])
    expect(proposing.state().lastError).toMatch(/too little USDC/)
    chain.mine()
    chain.setBalance(account, 6n)
    await blocksAndRounds(proposing, 8)
    expect(chain.deals).toHaveLength(2)
    chain.setBalance(account, 21n)
    await blocksAndRounds(proposing, 8)
    expect(chain.deals).toHaveLength(5)
    expect(proposing.state().lastError).toBeNull()
  })

  test('has the marketplace allowed to take payments first, once', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture({ needsApproval: true })
    const copies = await stage(2)
    const proposing = proposer()
    await proposing.round()
    await proposing.round()
    expect(chain.sent).toHaveLength(1)
    await blocksAndRounds(proposing, 2)
    expect(await states(copies)).toEqual(['confirmed', 'confirmed'])
    expect(chain.sent).toHaveLength(2)
  })

  test('keeps no more than a few transactions waiting', async () => {
    const { chain, proposer, stage, blocksAndRounds } = await openDealFixture()
    await stage(20)
    const proposing = proposer({ maxBatch: 1 })
    await proposing.round()
    expect(chain.pool).toHaveLength(16)
    await blocksAndRounds(proposing, 2)
    expect(chain.deals).toHaveLength(20)
  })

  test('error: a chain without a marketplace proposes nothing', async () => {
    const { proposer } = await openDealFixture()
    const chain = { ...openFakeChain(), marketplace: undefined }
    expect(() => proposer({ chain })).toThrow(TypeError)
  })
})

describe('a transaction that does not get there', () => {
  test('is sent again, the same bytes, when the network has lost it', async () => {
    const { chain, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    await proposing.round()
    const [hash] = chain.pool
    if (hash === undefined) throw new Error('nothing sent')
    chain.drop(hash)
    await proposing.round()
    expect(chain.sent).toEqual([hash, hash])
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(['confirmed'])
  })

  test.each([{ arrives: true }, { arrives: false }])('is never made anew when the answer is lost: %o', async (loss) => {
    const { chain, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    chain.loseNextAnswer(loss)
    expect(await proposing.round()).toEqual({ nextInMs: 2_000 })
    expect(proposing.state().lastError).toBe('The chain does not respond.')
    await proposing.round()
    await blocksAndRounds(proposing, 1)
    expect(new Set(chain.sent).size).toBe(1)
    expect(chain.deals).toHaveLength(1)
    expect(await states(copies)).toEqual(['confirmed'])
  })

  test('waits ever longer while the chain does not answer, and loses nothing', async () => {
    const { chain, proposer, stage, blocksAndRounds, states } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    chain.setOnline(false)
    const waits: number[] = []
    for (let round = 0; round < 8; round += 1) waits.push((await proposing.round()).nextInMs)
    expect(waits).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
    chain.setOnline(true)
    expect(await proposing.round()).toEqual({ nextInMs: 1_000 })
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(chain.sent).toHaveLength(1)
  })

  test('offers an eighth more under the same nonce after it waited long, but never more than the cap', async () => {
    const { chain, accountId, clock, records, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer({ raiseAfterMs: 60_000, feeCap: 4n * 10n ** 9n })
    await proposing.round()
    const gwei = 10n ** 9n
    chain.setBaseFee(100n * gwei)
    clock.now += 61_000
    await proposing.round()
    expect(chain.sent, 'no block has passed it by').toHaveLength(1)
    await blocksAndRounds(proposing, 1)
    const attempts = async () =>
      (
        await records.chain.transactions({
          account: accountId,
          states: ['open', 'mined', 'confirmed'],
          limit: 9,
        })
      )[0]?.attempts ?? []
    expect((await attempts()).map(({ maxFeePerGas }) => BigInt(maxFeePerGas))).toEqual([3n * gwei, 4n * gwei])
    clock.now += 61_000
    await blocksAndRounds(proposing, 1)
    expect(await attempts()).toHaveLength(2)
    expect(proposing.state().lastError).toMatch(/fee cap/)
    chain.setBaseFee(gwei)
    await blocksAndRounds(proposing, 2)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(chain.deals).toHaveLength(1)
  })

  test('offers more at once when the network says that it is too little', async () => {
    const { chain, clock, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    await proposing.round()
    const [hash] = chain.pool
    chain.setBaseFee(50n * 10n ** 9n)
    if (hash !== undefined) chain.drop(hash)
    clock.now += 2_000
    await proposing.round()
    expect(new Set(chain.sent).size).toBe(2)
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(['confirmed'])
  })

  test('does not race with another transaction that offers more for the same nonce', async () => {
    const { chain, clock, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const fees = { maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 30n * 10n ** 9n }
    const other = await chain.marketplace.signEmpty({ nonce: 0, fees })
    await chain.marketplace.send(other.raw)
    const proposing = proposer({ raiseAfterMs: 60_000 })
    for (let round = 0; round < 10; round += 1) await proposing.round()
    expect(new Set(chain.sent).size).toBe(2)
    clock.now += 6_000
    await proposing.round()
    expect(new Set(chain.sent).size).toBe(3)
    await blocksAndRounds(proposing, 12)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(chain.deals).toHaveLength(1)
  })

  test('is kept when the network refuses it, and said to be', async () => {
    const { chain, proposer, stage, states, blocksAndRounds } = await openDealFixture()
    const copies = await stage(1)
    const proposing = proposer()
    chain.refuseNext('insufficient funds')
    await proposing.round()
    expect(proposing.state().lastError).toMatch(/insufficient funds/)
    await proposing.round()
    await blocksAndRounds(proposing, 1)
    expect(await states(copies)).toEqual(['confirmed'])
    expect(new Set(chain.sent).size).toBe(1)
  })
})

describe('a deal that is too short', () => {
  test('is extended by whole days to where its files need it, once', async () => {
    const { chain, clock, records, proposer, stage, blocksAndRounds, dealOf } = await openDealFixture()
    const [copy] = await stage(1, { days: 7 })
    if (copy === undefined) throw new Error('no copy')
    const proposing = proposer({ finalityBlocks: 2 })
    const start = clock.now
    await proposing.round()
    await blocksAndRounds(proposing, 1)
    chain.act({ kind: 'accept', dealId: 1n })
    await blocksAndRounds(proposing, 2)
    const until = start + 9.5 * DAY_MS
    await records.files.change({ file: copy.file, now: clock.now, term: { until }, maxTermDays: 365 })
    await blocksAndRounds(proposing, 2)
    expect(chain.sent, 'it does not end soon').toHaveLength(1)
    clock.now = start + 5.5 * DAY_MS
    await blocksAndRounds(proposing, 5)
    expect(chain.deals).toMatchObject([{ extraSeconds: 3 * 86_400 }])
    expect(await dealOf(copy)).toMatchObject({ endsAt: start + 10 * DAY_MS, state: 'final' })
    await blocksAndRounds(proposing, 5)
    expect(chain.sent).toHaveLength(2)
  })

  test('is tried again later when the extension is undone, and let go in the end', async () => {
    const { chain, clock, records, proposer, stage, blocksAndRounds } = await openDealFixture()
    const [copy] = await stage(1, { days: 7 })
    if (copy === undefined) throw new Error('no copy')
    const proposing = proposer({ finalityBlocks: 2 })
    const start = clock.now
    await proposing.round()
    await blocksAndRounds(proposing, 1)
    chain.act({ kind: 'accept', dealId: 1n })
    await blocksAndRounds(proposing, 2)
    await records.files.change({ file: copy.file, now: clock.now, term: { termDays: 9 }, maxTermDays: 365 })
    clock.now = start + 6 * DAY_MS
    chain.revertWhen((call) => call.kind === 'extend')
    await blocksAndRounds(proposing, 6)
    expect(chain.sent).toHaveLength(2)
    for (let hour = 0; hour < 5; hour += 1) {
      clock.now += HOUR_MS
      await blocksAndRounds(proposing, 6)
    }
    expect(chain.sent).toHaveLength(4)
  })
})
