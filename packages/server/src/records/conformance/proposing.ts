import { expect } from 'vitest'
import type {
  ChainRecords,
  NewTransaction,
  RecordStore,
  TransactionAttempt,
  TransactionRecord,
  TransactionState,
} from '../record-store.ts'
import { digestOf, NOW } from './case.ts'
import { NORTH, placedFile } from './placing.ts'

/** The account of every transaction, where nothing else is said. */
export const ACCOUNT = 'eip155:31337:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
/** The contract of every deal, where nothing else is said. */
export const CONTRACT = 'eip155:31337:0x5FbDB2315678afecb367f032d93F642f64180aa3'
/** The block of every transaction that is in one, where nothing else is said. */
export const BLOCK = { blockNumber: 7, blockHash: '0xb7' }
/** The number of reverts from which on a deal has failed. */
export const FAIL_FROM = 3
export const ALL_STATES: readonly TransactionState[] = ['open', 'mined', 'confirmed', 'final']

export function attempt(name: string): TransactionAttempt {
  return {
    hash: `0x${digestOf(name)}`,
    raw: `0x${Buffer.from(name).toString('hex')}`,
    maxFeePerGas: '340282366920938463463374607431768211455',
    maxPriorityFeePerGas: '1',
    signedAt: NOW,
  }
}

export function transaction(nonce: number, account = ACCOUNT): NewTransaction {
  return { account, nonce, call: `{"nonce":${nonce}}`, attempt: attempt(`transaction ${nonce}`), now: NOW }
}

export function transactions(store: RecordStore, states = ALL_STATES, fromNonce = 0) {
  return store.chain.transactions({ account: ACCOUNT, states, fromNonce, limit: 100 })
}

export async function transactionOf(store: RecordStore, nonce: number): Promise<TransactionRecord> {
  const [found] = await transactions(store, ALL_STATES, nonce)
  if (found?.nonce !== nonce) throw new Error(`There is no transaction ${nonce}.`)
  return found
}

export function queue(store: RecordStore, provers = [NORTH]): Promise<number> {
  return store.chain.queueDeals({ provers, limit: 100 })
}

/** The copies that have a queued deal, in its order. */
export async function queued(store: RecordStore, now = NOW): Promise<number[]> {
  return (await store.chain.queued({ provers: [NORTH], now, limit: 100 })).map(({ copy }) => copy)
}

/** The state of each deal, with its id where it has one. */
export async function onchain(store: RecordStore, copies: readonly number[]) {
  const deals = await store.chain.dealsOf(copies)
  return deals.map(({ state, onchainId }) => (onchainId === null ? state : [state, onchainId]))
}

/** So many copies that a prover has parked. */
export async function parkedCopies(store: RecordStore, count: number): Promise<number[]> {
  const copies: number[] = []
  for (let index = 0; index < count; index += 1) {
    copies.push((await placedFile(store, 'parked', { content: `file ${index}` })).copy)
  }
  return copies
}

/** Records a transaction that proposes deals for these copies. */
export function propose(
  store: RecordStore,
  nonce: number,
  copies: readonly number[],
  of: Partial<Parameters<ChainRecords['propose']>[0]> = {},
): Promise<boolean> {
  return store.chain.propose({ ...transaction(nonce), contract: CONTRACT, copies, ...of })
}

/** Copies with a transaction of nonce 0 that proposes their deals, and its number. */
export async function proposed(
  store: RecordStore,
  count: number,
): Promise<{ readonly copies: readonly number[]; readonly id: number }> {
  const copies = await parkedCopies(store, count)
  await queue(store)
  expect(await propose(store, 0, copies)).toBe(true)
  return { copies, id: (await transactionOf(store, 0)).id }
}

/** A transaction is in a block that is old enough, and did well, where nothing else is said. */
export function mined(
  store: RecordStore,
  id: number,
  of: Partial<Parameters<ChainRecords['mined']>[0]> = {},
): Promise<void> {
  const dealIds = ['41', '42', '43']
  const endsAt = [NOW + 1, NOW + 2, NOW + 3]
  return store.chain.mined({ transaction: id, succeeded: true, ...BLOCK, isConfirmed: true, dealIds, endsAt, ...of })
}

export function final(store: RecordStore, id: number, blockHash = BLOCK.blockHash, now = NOW): Promise<boolean> {
  return store.chain.final({ transaction: id, blockHash, failFromReverts: FAIL_FROM, now })
}
