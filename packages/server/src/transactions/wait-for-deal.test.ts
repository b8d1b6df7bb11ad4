import { describe, expect, test } from 'vitest'
import { openDealGround } from './testing-deals.ts'
import { waitForDeal } from './wait-for-deal.ts'

describe('waiting for a deal', () => {
  test('ends when the deal is confirmed, with its id', async () => {
    const { chain, records, proposer, stage } = await openDealGround()
    const copies = (await stage(2)).map(({ copy }) => copy)
    const proposing = proposer()
    const waiting = waitForDeal({ records, now: Date.now }, { copies, deadline: Date.now() + 10_000, pollMs: 5 })
    await proposing.round()
    chain.mine()
    await proposing.round()
    expect(await waiting).toBe('1')
  })

  test('ends at the deadline, and says nothing of a deal that is not confirmed', async () => {
    const { chain, records, proposer, stage } = await openDealGround()
    const copies = (await stage(1)).map(({ copy }) => copy)
    const proposing = proposer({ confirmations: 2 })
    await proposing.round()
    chain.mine()
    await proposing.round()
    const begun = Date.now()
    expect(await waitForDeal({ records, now: Date.now }, { copies, deadline: begun + 100 })).toBeUndefined()
    expect(Date.now() - begun).toBeGreaterThanOrEqual(95)
    expect(await waitForDeal({ records, now: Date.now }, { copies, deadline: begun })).toBeUndefined()
  })

  test('ends early when the caller is gone', async () => {
    const { records, stage } = await openDealGround()
    const copies = (await stage(1)).map(({ copy }) => copy)
    const gone = new AbortController()
    const waiting = waitForDeal(
      { records, now: Date.now },
      { copies, deadline: Date.now() + 10_000, signal: gone.signal },
    )
    gone.abort(new Error('the caller is gone'))
    await expect(waiting).rejects.toThrow('the caller is gone')
  })

  test('ends early when every deal has failed', async () => {
    const { chain, records, proposer, stage, blocksAndRounds } = await openDealGround()
    const copies = await stage(1)
    chain.revertWhen(() => true)
    await blocksAndRounds(proposer({ finalityBlocks: 1 }), 14)
    const ids = copies.map(({ copy }) => copy)
    expect(
      await waitForDeal({ records, now: Date.now }, { copies: ids, deadline: Date.now() + 60_000 }),
    ).toBeUndefined()
  })
})
