import { randomUUID } from 'node:crypto'
import { DAY_MS } from '@lade/core/time'
import fc from 'fast-check'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { accountIdOf } from '../chain/account-id.ts'
import type { Chain, Marketplace, MarketplaceVersion } from '../chain/chain.ts'
import { type FakeChain, openFakeChain } from '../chain/fake-chain.ts'
import type { ChainRecords, RecordStore } from '../records/record-store.ts'
import { type StagedCopy, stageCopy } from '../testing/doubles/staged-copy.ts'
import type { DealProposer } from './deal-proposer.ts'
import { readCall } from './recorded-call.ts'
import { type DealFixture, openDealFixture, PROVER_ACCOUNT } from './testing-deals.ts'

const IS_FULL = process.env.LADE_TEST_PLAN === 'full'
const SEQUENCES = IS_FULL ? 1_000 : 60
const TIME_LIMIT_MS = IS_FULL ? 1_200_000 : 120_000
const MAX_STEPS = 60
const FINALITY_BLOCKS = 6
const FAILED_FROM_REVERTS = 4
/** Enough rounds, each with a block, for deals that were undone again and again to be final. */
const MOST_HEALING_ROUNDS = 400

type Step =
  | { readonly do: 'stage'; readonly count: number }
  | { readonly do: 'round'; readonly by: 0 | 1 }
  | { readonly do: 'rounds at once' }
  | { readonly do: 'crash'; readonly by: 0 | 1; readonly after: number }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'reorganise'; readonly depth: number; readonly transactions: 'pool' | 'again' | 'dropped' }
  | { readonly do: 'drop'; readonly pick: number }
  | { readonly do: 'somebody else' }
  | { readonly do: 'accept'; readonly pick: number }
  | { readonly do: 'lose answer'; readonly arrives: boolean }
  | { readonly do: 'refuse' }
  | { readonly do: 'base fee'; readonly gwei: number }
  | { readonly do: 'online' | 'revert'; readonly isOn: boolean }
  | { readonly do: 'lag'; readonly blocks: number }
  | { readonly do: 'wait'; readonly seconds: number }

const by = fc.constantFrom<0 | 1>(0, 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('stage' as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('round' as const), by }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('rounds at once' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('crash' as const), by, after: fc.integer({ min: 0, max: 24 }) }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reorganise' as const),
      depth: fc.integer({ min: 1, max: FINALITY_BLOCKS }),
      transactions: fc.constantFrom('pool' as const, 'again' as const, 'dropped' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('drop' as const), pick: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('somebody else' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('accept' as const), pick: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lose answer' as const), arrives: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refuse' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('base fee' as const), gwei: fc.integer({ min: 1, max: 60 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('online' as const, 'revert' as const), isOn: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('lag' as const), blocks: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.integer({ min: 1, max: 90 }) }) },
)

/** The process dies here. */
class Death extends Error {}

/** Counts what a process does to the world; it dies before or after the last of them. */
interface Fuse {
  /** Undefined while it does not burn. */
  left: number | undefined
}

/** Every function of `target` in `names` as two points at which the process may die, one before and one after it. */
function mortal<Target extends object>(target: Target, names: readonly (keyof Target)[], fuse: Fuse): Target {
  const burn = (): void => {
    if (fuse.left === undefined) return
    if (fuse.left === 0) throw new Death('killed')
    fuse.left -= 1
  }
  const copy = { ...target }
  for (const name of names) {
    const original = target[name]
    if (typeof original !== 'function') throw new TypeError(`${String(name)} is no function`)
    copy[name] = (async (...args: unknown[]) => {
      burn()
      const answer: unknown = await Reflect.apply(original, target, args)
      burn()
      return answer
    }) as Target[keyof Target]
  }
  return copy
}

const WRITES = [
  'queueDeals',
  'propose',
  'record',
  'addAttempt',
  'mined',
  'reorganised',
  'final',
  'superseded',
] as const satisfies readonly (keyof ChainRecords)[]
const SENDS = ['sign', 'signEmpty', 'send'] as const satisfies readonly (keyof Marketplace)[]

/** One account on one chain, and two processes that both take themselves for the only one. */
class World {
  readonly chain: FakeChain
  readonly prover = `prover-${randomUUID()}`
  readonly staged: StagedCopy[] = []
  readonly fuses: readonly [Fuse, Fuse] = [{ left: undefined }, { left: undefined }]
  readonly proposers: DealProposer[] = []
  readonly #fixture: DealFixture
  readonly #stores: readonly [RecordStore, RecordStore]
  deaths = 0

  constructor(fixture: DealFixture, stores: readonly [RecordStore, RecordStore], version: MarketplaceVersion) {
    this.#fixture = fixture
    this.#stores = stores
    this.chain = openFakeChain({
      account: privateKeyToAddress(generatePrivateKey()),
      contracts: [{ address: privateKeyToAddress(generatePrivateKey()), version }],
      now: () => fixture.clock.now,
    })
    this.chain.setBalance(this.chain.marketplace.account, 10n ** 15n)
    for (const index of [0, 1] as const) this.#start(index)
  }

  #start(index: 0 | 1): void {
    const fuse = this.fuses[index]
    fuse.left = undefined
    const store = this.#stores[index]
    const chain: Chain = { ...this.chain, marketplace: mortal(this.chain.marketplace, SENDS, fuse) }
    this.proposers[index] = this.#fixture.proposer({
      records: { chain: mortal(store.chain, WRITES, fuse), escrow: mortal(store.escrow, ['apply', 'checked'], fuse) },
      chain,
      accounts: new Map([[this.prover, PROVER_ACCOUNT]]),
      maxBatch: 3,
      finalityBlocks: FINALITY_BLOCKS,
    })
  }

  async round(index: 0 | 1): Promise<void> {
    try {
      await this.proposers[index]?.round()
    } catch (error) {
      if (!(error instanceof Death)) throw error
      this.deaths += 1
      this.#start(index)
    }
  }

  async take(next: Step): Promise<void> {
    const { chain } = this
    switch (next.do) {
      case 'stage':
        return this.stage(next.count)
      case 'round':
        return this.round(next.by)
      case 'rounds at once':
        await Promise.all([this.round(0), this.round(1)])
        return
      case 'crash':
        this.fuses[next.by].left = next.after
        return this.round(next.by)
      case 'mine':
        this.#fixture.clock.now += next.blocks * 2_000
        return void chain.mine(next.blocks)
      case 'reorganise':
        return chain.reorganise(next)
      case 'drop':
        if (chain.pool.length > 0) chain.drop(chain.pool[next.pick % chain.pool.length] ?? '0x')
        return
      case 'somebody else':
        return chain.useNonceElsewhere()
      case 'accept':
        return chain.act({ kind: 'accept', dealId: BigInt(next.pick + 1) })
      case 'lose answer':
        return chain.loseNextAnswer(next)
      case 'refuse':
        return chain.refuseNext('out of sorts')
      case 'base fee':
        return chain.setBaseFee(BigInt(next.gwei) * 10n ** 9n)
      case 'online':
        return chain.setOnline(next.isOn)
      case 'revert':
        return chain.revertWhen(() => next.isOn)
      case 'lag':
        return chain.setLag(next.blocks)
      case 'wait':
        this.#fixture.clock.now += next.seconds * 1_000
        return
    }
  }

  async stage(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const { now } = this.#fixture.clock
      this.staged.push(await stageCopy(this.#stores[0], { name: randomUUID(), prover: this.prover, now, days: 7 }))
    }
  }

  /** Nothing goes wrong any more, and there is time for everything to be settled. */
  async heal(): Promise<void> {
    const { chain } = this
    chain.setOnline(true)
    chain.setLag(0)
    chain.setBaseFee(10n ** 9n)
    chain.revertWhen(() => false)
    for (let index = 0; index < MOST_HEALING_ROUNDS && !(await this.isSettled()); index += 1) {
      this.#fixture.clock.now += 2_000
      chain.mine()
      await this.round(index % 2 === 0 ? 0 : 1)
    }
  }

  /** All deals are over, and processes die while they take back what the contract holds. */
  async recover(): Promise<void> {
    const { chain } = this
    this.#fixture.clock.now += 8 * DAY_MS
    for (let index = 0; index < MOST_HEALING_ROUNDS && !(await this.isRecovered()); index += 1) {
      this.#fixture.clock.now += 10_000
      chain.mine()
      if (index % 7 === 3) chain.reorganise({ depth: 2, transactions: index % 2 === 0 ? 'pool' : 'dropped' })
      const process = index % 2 === 0 ? 0 : 1
      if (index < 40 && index % 3 === 0) this.fuses[process].left = index % 11
      await (index % 5 === 4 ? Promise.all([this.round(0), this.round(1)]) : this.round(process))
    }
  }

  /** The contract holds nothing, and the records say so. */
  async isRecovered(): Promise<boolean> {
    const { paidInMicroUsdc, paidOutMicroUsdc, returnedMicroUsdc } = await this.totals()
    return this.chain.escrowMicroUsdc === 0n && paidInMicroUsdc === paidOutMicroUsdc + returnedMicroUsdc
  }

  /** The operator's account, as records name it. */
  get account(): string {
    const { chainId, marketplace } = this.chain
    return accountIdOf({ chainId, address: marketplace.account })
  }

  totals() {
    const { chainId, marketplace } = this.chain
    return this.#stores[0].escrow.totals([accountIdOf({ chainId, address: marketplace.contracts[0].address })])
  }

  /** How many transactions took something out of a deal, by deal. */
  async recoveries(): Promise<readonly number[]> {
    const { account } = this
    const all = await this.#stores[0].chain.transactions({ account, states: ['final'], limit: 10_000 })
    const calls = all.filter(({ succeeded }) => succeeded).map(({ call }) => readCall(call))
    const ofDeals = calls.flatMap((call) =>
      call.kind === 'withdraw' || call.kind === 'settle' || call.kind === 'slash' ? [call.dealId] : [],
    )
    return [...Map.groupBy(ofDeals, (dealId) => dealId).values()].map(({ length }) => length)
  }

  async isSettled(): Promise<boolean> {
    const { account } = this
    const states = ['open', 'mined', 'confirmed'] as const
    const unsettled = await this.#stores[0].chain.transactions({ account, states, limit: 1 })
    const deals = await this.deals()
    return (
      unsettled.length === 0 &&
      deals.length === this.staged.length &&
      deals.every(({ state }) => state === 'final' || state === 'failed')
    )
  }

  deals() {
    return this.#stores[1].chain.dealsOf(this.staged.map(({ copy }) => copy))
  }

  /** Sentences about what must never be. */
  async broken(): Promise<readonly string[]> {
    const onchain = Map.groupBy(this.chain.deals, ({ proposal }) => proposal.pieceRoot)
    const sentences: string[] = []
    for (const [pieceRoot, deals] of onchain) {
      if (deals.length > 1) sentences.push(`${deals.length} deals for ${pieceRoot}`)
    }
    const byCopy = new Map((await this.deals()).map((deal) => [deal.copy, deal]))
    for (const { copy, pieceRoot } of this.staged) {
      const record = byCopy.get(copy)
      const id = onchain.get(pieceRoot)?.[0]?.dealId.toString() ?? null
      if (record?.state === 'final' && record.onchainId !== id) {
        sentences.push(`copy ${copy} is final as ${record.onchainId}, and the chain has ${id}`)
      }
      if (record?.state === 'failed' && (id !== null || record.reverts < FAILED_FROM_REVERTS)) {
        sentences.push(`copy ${copy} has failed after ${record.reverts} reverts, and the chain has ${id}`)
      }
    }
    return sentences
  }
}

test(
  'makes one deal for every copy, whatever dies, gets lost, or is taken back',
  async () => {
    const fixture = await openDealFixture()
    const stores = [fixture.records, await fixture.openAgain()] as const
    let deaths = 0
    let worlds = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: MAX_STEPS, size: 'max' }), async (steps) => {
        worlds += 1
        const world = new World(fixture, stores, worlds % 2 === 0 ? 1 : 2)
        await world.stage(2)
        for (const next of steps) {
          await world.take(next)
          expect(await world.broken(), JSON.stringify(next)).toEqual([])
        }
        await world.heal()
        expect(await world.broken()).toEqual([])
        expect(await world.isSettled(), JSON.stringify(await world.deals())).toBe(true)
        await world.recover()
        const onchain = world.chain.deals.length
        const totals = await world.totals()
        expect(await world.isRecovered(), JSON.stringify(totals)).toBe(true)
        expect(totals.deals.reduce((sum, { count }) => sum + count, 0)).toBe(onchain)
        expect(totals.paidInMicroUsdc).toBe(7 * onchain)
        expect(Math.max(1, ...(await world.recoveries())), 'more than one transaction about a deal').toBe(1)
        deaths += world.deaths
      }),
      { numRuns: SEQUENCES },
    )
    expect(deaths, 'nothing died').toBeGreaterThan(SEQUENCES)
  },
  TIME_LIMIT_MS,
)
