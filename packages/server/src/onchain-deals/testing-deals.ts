import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { accountIdOf } from '../chain/account-id.ts'
import type { Address } from '../chain/chain.ts'
import { type FakeChain, type FakeChainOptions, openFakeChain } from '../chain/fake-chain.ts'
import { openSqliteRecordStore } from '../records/drivers/sqlite/sqlite-record-store.ts'
import type { OnchainDealRecord, RecordStore } from '../records/record-store.ts'
import { newDatabase } from '../records/testing-new-database.ts'
import { type StagedCopy, stageCopy } from '../testing/doubles/staged-copy.ts'
import { createDealProposer, type DealProposer } from './deal-proposer.ts'
import type { DealProposerDeps } from './proposer-round.ts'

const PROVER = 'prover-a'
export const PROVER_ACCOUNT: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const GWEI = 10n ** 9n
const START = Date.UTC(2026, 10, 21, 12)

/** Records in one SQLite file, a fake chain, and a clock that stands still, all gone when the test ends. */
export interface DealFixture {
  readonly records: RecordStore
  readonly chain: FakeChain
  /** The operator's account and the contract for new deals, as records name them. */
  readonly accountId: string
  readonly contractId: string
  readonly clock: { now: number }
  /** Another handle on the same records, as another process has. */
  openAgain(): Promise<RecordStore>
  /** Stages so many files, each with one copy, at `prover`. */
  stage(count: number, options?: { prover?: string; days?: number }): Promise<readonly StagedCopy[]>
  proposer(overrides?: Partial<DealProposerDeps>): DealProposer
  /** So many rounds, each with a block before it and its seconds. */
  blocksAndRounds(proposer: DealProposer, count: number): Promise<void>
  dealOf(copy: StagedCopy): Promise<OnchainDealRecord | undefined>
  states(copies: readonly StagedCopy[]): Promise<readonly string[]>
}

export async function openDealFixture(options: FakeChainOptions = {}): Promise<DealFixture> {
  const dir = mkdtempSync(join(tmpdir(), 'lade-deals-'))
  const file = newDatabase(join(dir, 'lade.db'))
  const stores: RecordStore[] = []
  const openAgain = async (): Promise<RecordStore> => {
    const store = await openSqliteRecordStore({ file, onFatal: () => {} })
    stores.push(store)
    return store
  }
  onTestFinished(async () => {
    for (const store of stores) await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const records = await openAgain()
  const clock = { now: START }
  const chain = openFakeChain({ now: () => clock.now, ...options })
  chain.setBalance(chain.marketplace.account, 10n ** 12n)
  const idOf = (address: Address): string => accountIdOf({ chainId: chain.chainId, address })
  let staged = 0

  return {
    records,
    chain,
    accountId: idOf(chain.marketplace.account),
    contractId: idOf(chain.marketplace.contracts[0].address),
    clock,
    openAgain,
    async stage(count, { prover = PROVER, days = 7 } = {}) {
      const copies: StagedCopy[] = []
      for (let index = 0; index < count; index += 1) {
        staged += 1
        copies.push(await stageCopy(records, { name: `file ${staged}`, prover, now: clock.now, days }))
      }
      return copies
    },
    proposer: (overrides = {}) =>
      createDealProposer({
        records,
        chain,
        now: () => clock.now,
        log: pino({ level: 'silent' }),
        accounts: new Map([[PROVER, PROVER_ACCOUNT]]),
        priceOf: ({ paddedSizeBytes, durationSeconds }) => BigInt((paddedSizeBytes / 128) * (durationSeconds / 86_400)),
        feeCap: 1_000n * GWEI,
        finalityBlocks: 5,
        ...overrides,
      }),
    async blocksAndRounds(proposer, count) {
      for (let index = 0; index < count; index += 1) {
        clock.now += 2_000
        chain.mine()
        await proposer.round()
      }
    },
    dealOf: async ({ copy }) => (await records.chain.dealsOf([copy]))[0],
    states: async (copies) => (await records.chain.dealsOf(copies.map(({ copy }) => copy))).map(({ state }) => state),
  }
}
