import { pino } from 'pino'
import { privateKeyToAddress } from 'viem/accounts'
import { accountIdOf } from '../../chain/account-id.ts'
import type { Address, Chain, Hash } from '../../chain/chain.ts'
import { openEvmChain } from '../../chain/drivers/evm/evm-chain.ts'
import { createDealProposer, type DealProposer } from '../../onchain-deals/deal-proposer.ts'
import { openSqliteRecordStore } from '../../records/drivers/sqlite/sqlite-record-store.ts'
import type { OnchainDealRecord, RecordStore, TransactionRecord } from '../../records/record-store.ts'
import { type StagedCopy, stageCopy } from '../doubles/staged-copy.ts'

const PROVER = 'prover-a'
/** What every deal is paid with. */
const PRICE_MICRO_USDC = 1_000n

export interface DealMakingOptions {
  /** The database file of the records. */
  readonly file: string
  readonly rpcUrl: string
  readonly usdc: Address
  /** The first is for new deals. */
  readonly marketplaces: readonly Address[]
  readonly privateKey: Hash
  /** The account of the prover that every deal is made with. */
  readonly prover: Address
  readonly finalityBlocks: number
  readonly maxBatch: number
  /** When a transaction that waits offers more. */
  readonly raiseAfterMs: number
  /** The bond of new deals, in percent of their pay. @default 0 */
  readonly bondPercent?: number
  /** How far the clock is ahead of the machine's, at any time. @default 0 */
  clockAheadMs?: number
}

/** What makes deals on the chain, without the service around it. */
export interface DealMaking {
  /** The operator's account, as records name it. */
  readonly accountId: string
  readonly records: RecordStore
  readonly chain: Chain
  readonly proposer: DealProposer
  /** Stages a small file that the prover holds; its content is `name`. @param days - its term; 30 where it is left out. */
  stage(name: string, days?: number): Promise<StagedCopy>
  dealsOf(copies: readonly StagedCopy[]): Promise<readonly OnchainDealRecord[]>
  /** Transactions that are not settled. */
  unsettled(): Promise<readonly TransactionRecord[]>
  close(): Promise<void>
}

/** Opens the records and the chain, and a proposer of deals between them, with the clock of the machine. */
export async function openDealMaking(options: DealMakingOptions): Promise<DealMaking> {
  const { file, rpcUrl, usdc, marketplaces, privateKey, prover, finalityBlocks, maxBatch, raiseAfterMs } = options
  const now = () => Date.now() + (options.clockAheadMs ?? 0)
  const records = await openSqliteRecordStore({
    file,
    onFatal(error) {
      throw error
    },
  })
  const chain = await openEvmChain({ rpcUrl, usdc, marketplaces, privateKey, balanceMaxAgeMs: 0 })
  const accountId = accountIdOf({ chainId: chain.chainId, address: privateKeyToAddress(privateKey) })
  const proposer = createDealProposer({
    records,
    chain,
    now,
    log: pino({ level: 'silent' }),
    accounts: new Map([[PROVER, prover]]),
    priceOf: () => PRICE_MICRO_USDC,
    feeCap: 10_000n * 10n ** 9n,
    finalityBlocks,
    bondPercent: options.bondPercent ?? 0,
    maxBatch,
    raiseAfterMs,
    pollMs: 5,
    idleMs: 5,
  })
  return {
    accountId,
    records,
    chain,
    proposer,
    stage: (name, days = 30) => stageCopy(records, { name, prover: PROVER, now: now(), days }),
    dealsOf: (copies) => records.chain.dealsOf(copies.map(({ copy }) => copy)),
    unsettled: () =>
      records.chain.transactions({
        account: accountId,
        states: ['open', 'mined', 'confirmed'],
        limit: 1_000,
      }),
    async close() {
      await chain.close()
      await records.close()
    },
  }
}
