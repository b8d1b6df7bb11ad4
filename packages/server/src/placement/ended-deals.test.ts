import { DAY_MS } from '@lade/core/time'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seededBytes } from '../blobs/conformance/seeded-bytes.ts'
import { accountIdOf } from '../chain/account-id.ts'
import type { Address, MarketplaceVersion } from '../chain/chain.ts'
import { type FakeChain, openFakeChain } from '../chain/fake-chain.ts'
import { createDealProposer, type DealProposer } from '../onchain-deals/deal-proposer.ts'
import type { FakeProver } from '../proving/fake-prover.ts'
import type { FileRecord } from '../records/record-store.ts'
import type { PlacementJob } from './placement-job.ts'
import { fakeProvers, openPlacementFixture, type PlacementFixture } from './testing-placement.ts'

const CONTRACT: Address = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const ACCOUNT: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const MINUTE_MS = 60_000

/** What files give up on the chain when they are removed, moved to another prover, or stored less often. */
describe('the deal of a copy that nobody needs any more', () => {
  let fixture: PlacementFixture
  let provers: readonly FakeProver[]
  let chain: FakeChain
  let proposer: DealProposer
  let job: PlacementJob
  beforeEach(async () => {
    fixture = await openPlacementFixture()
    provers = fakeProvers(['one', 'two'])
  })
  afterEach(() => fixture.close())

  function open(version: MarketplaceVersion): void {
    const now = () => fixture.clock.now
    chain = openFakeChain({ contracts: [{ address: CONTRACT, version }], now, periodMs: DAY_MS })
    chain.setBalance(chain.marketplace.account, 10n ** 12n)
    proposer = createDealProposer({
      records: fixture.records,
      chain,
      now,
      log: pino({ level: 'silent' }),
      accounts: new Map(provers.map(({ name }) => [name, ACCOUNT])),
      priceOf: ({ durationSeconds }) => BigInt(durationSeconds / 86_400),
      feeCap: 10n ** 12n,
      finalityBlocks: 3,
      bondPercent: 50,
    })
    job = fixture.job(provers)
  }

  /** Some minutes with a block each: copies are placed and deals are made and kept. */
  async function pass(minutes = 12): Promise<void> {
    for (let minute = 0; minute < minutes; minute += 1) {
      await fixture.pass(job, MINUTE_MS, MINUTE_MS / 2)
      chain.mine()
      await proposer.round()
    }
  }

  /** Days on which provers prove every deal that is active. */
  async function days(count: number): Promise<void> {
    for (let day = 0; day < count; day += 1) {
      for (const { dealId } of chain.deals) chain.act({ kind: 'prove', dealId })
      await pass(3)
      fixture.clock.now += DAY_MS - 3 * MINUTE_MS
    }
  }

  async function accepted(files: readonly FileRecord[]): Promise<void> {
    await pass()
    for (const { dealId } of chain.deals) chain.act({ kind: 'accept', dealId })
    await pass()
    for (const file of files) expect(await fixture.deal(file)).toMatchObject({ status: 'active' })
  }

  async function onchain() {
    const contract = accountIdOf({ chainId: chain.chainId, address: CONTRACT })
    const ids = chain.deals.map(({ dealId }) => ({ contract, onchainId: dealId.toString() }))
    return fixture.records.escrow.find(ids)
  }

  const put = (seed: number) => fixture.put(seededBytes(5_000, seed), { expiresInMs: 12 * DAY_MS })

  it('ends with a notice of one period: removed, moved, stored less often; the rest comes back', async () => {
    open(2)
    const files = [await put(1), await put(2), await put(3), await put(4)] as const
    const [removed, moved, fewer, untouched] = files
    await pass(2)
    await fixture.records.placements.want({ file: fewer.sequence, copies: 2, now: fixture.clock.now })
    await accepted(files)
    expect(chain.deals).toHaveLength(5)
    await days(2)

    await fixture.remove(removed)
    const piece = (await fixture.deal(moved)).pieces[0]?.copies[0]
    await fixture.records.placements.fail({ copy: piece?.id ?? 0, cause: 'Lost.', now: fixture.clock.now })
    await fixture.records.placements.want({ file: fewer.sequence, copies: 1, now: fixture.clock.now })
    await pass()
    const deals = await onchain()
    expect(deals.map(({ state }) => state).toSorted()).toEqual([
      'active',
      'active',
      'ending',
      'ending',
      'ending',
      'proposed',
    ])
    for (const { state, paidInMicroUsdc, returnedMicroUsdc } of deals) {
      // Of twelve days: two are proved, and the current one and the notice follow.
      if (state === 'ending') expect([paidInMicroUsdc, returnedMicroUsdc]).toEqual([12, 8])
    }
    for (const { dealId } of chain.deals) chain.act({ kind: 'accept', dealId })
    await days(4)
    const settled = (await onchain()).filter(({ state }) => state === 'settled')
    expect(settled).toHaveLength(3)
    for (const deal of settled) {
      expect(deal).toMatchObject({ paidOutMicroUsdc: 4, returnedMicroUsdc: 8 })
      expect(deal, 'a prover that proves keeps its bond').toMatchObject({
        ...{ bondMicroUsdc: 6, bondReleasedMicroUsdc: 6, bondForfeitedMicroUsdc: 0 },
      })
    }
    for (const file of [moved, fewer, untouched]) expect(await fixture.deal(file)).toMatchObject({ status: 'active' })
    await days(14)
    const states = (await onchain()).map(({ state }) => state)
    expect(new Set(states)).toEqual(new Set(['settled']))
    expect(chain.escrowMicroUsdc).toBe(0n)
    expect(proposer.state().escrow).toMatchObject({ bondForfeitedMicroUsdc: 0 })
  })

  it('goes on to the end of its term with version 1 of the contract', async () => {
    open(1)
    const file = await put(1)
    await accepted([file])
    await fixture.remove(file)
    await days(5)
    expect(await onchain()).toMatchObject([{ state: 'active', returnedMicroUsdc: 0, bondMicroUsdc: 0 }])
    await days(10)
    expect(await onchain()).toMatchObject([{ state: 'settled' }])
    expect(chain.escrowMicroUsdc).toBe(0n)
  })

  it('is not ended when its term is over as soon', async () => {
    open(2)
    const file = await fixture.put(seededBytes(5_000, 1), { expiresInMs: 3 * DAY_MS })
    await accepted([file])
    await days(2)
    await fixture.remove(file)
    await pass()
    expect(await onchain()).toMatchObject([{ state: 'active' }])
    await days(3)
    expect(await onchain()).toMatchObject([{ state: 'settled', returnedMicroUsdc: 0 }])
  })
})
