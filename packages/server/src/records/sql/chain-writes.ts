import type { NewTransaction, OnchainDealName, TransactionAttempt } from '../record-store.ts'
import { prepareChainAdoption } from './chain-adoption.ts'
import { SPENT } from './escrow-reads.ts'
import { prepareEscrowWrites } from './escrow-writes.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

/** Of a deal that no transaction is about. */
const UNPLACED = 'contract = NULL, onchain_id = NULL, ends_at = NULL'

interface Extension {
  readonly copy: number
  readonly from: number
  readonly to: number
}

/** Transactions and the deals that they make. Each function runs inside the caller's transaction of the records. */
export function prepareChainWrites(db: Sql) {
  const escrow = prepareEscrowWrites(db)
  const spent = db.prepare<[string, number, number], number>(SPENT).pluck()
  const toQueue = db
    .prepare<[string, number], number>(
      `SELECT id FROM copies ${db.dialect.indexedBy('copies_to_queue')}
       WHERE prover = ? AND onchain = 0 AND ended_at IS NULL AND state IN ('parked', 'adding', 'stored')
       ORDER BY id LIMIT ?`,
    )
    .pluck()
  const markOnchain = db.prepare<[number]>('UPDATE copies SET onchain = 1 WHERE id = ?')
  const insertDeal = db.prepare<[number]>(
    "INSERT INTO onchain_deals (copy, state, reverts, extension_failures) VALUES (?, 'queued', 0, 0)",
  )
  const frontOfQueue = db
    .prepare<[number], number>("SELECT copy FROM onchain_deals WHERE state = 'queued' ORDER BY copy LIMIT ?")
    .pluck()
  const isLive = db.prepare<[number], number>('SELECT 1 FROM copies WHERE id = ? AND ended_at IS NULL').pluck()
  const isQueued = db
    .prepare<[number], number>("SELECT 1 FROM onchain_deals WHERE copy = ? AND state = 'queued'")
    .pluck()
  const failDeal = db.prepare<[number]>(
    `UPDATE onchain_deals SET state = 'failed', tx = NULL, position = NULL, ${UNPLACED} WHERE copy = ?`,
  )
  const queueDeal = db.prepare<[number]>(
    `UPDATE onchain_deals SET state = 'queued', tx = NULL, position = NULL, ${UNPLACED} WHERE copy = ?`,
  )
  const countRevert = db.prepare<[number]>('UPDATE onchain_deals SET reverts = reverts + 1 WHERE copy = ?')
  const proposeDeal = db.prepare<[number, number, string, number]>(
    "UPDATE onchain_deals SET state = 'proposing', tx = ?, position = ?, contract = ? WHERE copy = ?",
  )
  const placeDeal = db.prepare<['proposing' | 'confirmed', string | null, number | null, number]>(
    'UPDATE onchain_deals SET state = ?, onchain_id = ?, ends_at = ? WHERE copy = ?',
  )
  const settleDeal = db.prepare<[number]>("UPDATE onchain_deals SET state = 'final' WHERE copy = ?")
  const dealsOf = db.prepare<[number], { copy: number; position: number; reverts: number }>(
    'SELECT copy, position, reverts FROM onchain_deals WHERE tx = ? ORDER BY position',
  )

  const isExtendable = db
    .prepare<[number, number], number>(
      "SELECT 1 FROM onchain_deals WHERE copy = ? AND ends_at = ? AND state = 'final' AND extension_tx IS NULL",
    )
    .pluck()
  const beginExtension = db.prepare<[number, number, number]>(
    'UPDATE onchain_deals SET extension_tx = ?, extension_ends_at = ? WHERE copy = ?',
  )
  const keepExtension = db.prepare<[number]>(
    `UPDATE onchain_deals SET ends_at = extension_ends_at, extension_tx = NULL, extension_ends_at = NULL,
       extension_failures = 0, extension_failed_at = NULL WHERE extension_tx = ?`,
  )
  // A placeholder stands beside a column before it is asked whether it is NULL, which tells PostgreSQL no type.
  const undoExtension = db.prepare<{ tx: number; failedAt: number | null }>(
    `UPDATE onchain_deals SET extension_tx = NULL, extension_ends_at = NULL,
       extension_failed_at = COALESCE(:failedAt, extension_failed_at),
       extension_failures = extension_failures + CASE WHEN :failedAt IS NOT NULL THEN 1 ELSE 0 END WHERE extension_tx = :tx`,
  )

  const isNonceTaken = db
    .prepare<[string, number], number>('SELECT 1 FROM transactions WHERE account = ? AND nonce = ?')
    .pluck()
  const insertTransaction = db.prepareInsertion<[string, number, string, number, number]>(
    'id',
    "INSERT INTO transactions (account, nonce, call, state, created_at, payment_micro_usdc) VALUES (?, ?, ?, 'open', ?, ?)",
  )
  const stateOf = db.prepare<[number], string>('SELECT state FROM transactions WHERE id = ?').pluck()
  const knownAttempt = db
    .prepare<[number, string], number>('SELECT 1 FROM transaction_attempts WHERE tx = ? AND hash = ?')
    .pluck()
  const insertAttempt = db.prepare<TransactionAttempt & { tx: number }>(
    `INSERT INTO transaction_attempts (tx, position, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, signed_at)
     VALUES (:tx, (SELECT COUNT(*) FROM transaction_attempts WHERE tx = :tx), :hash, :raw, :maxFeePerGas,
       :maxPriorityFeePerGas, :signedAt)`,
  )
  const place = db.prepare<['mined' | 'confirmed', number, number, string, number]>(
    `UPDATE transactions SET state = ?, succeeded = ?, block_number = ?, block_hash = ? WHERE id = ? AND state <> 'final'`,
  )
  const unplace = db.prepare<[number, string]>(
    `UPDATE transactions SET state = 'open', succeeded = NULL, block_number = NULL, block_hash = NULL
     WHERE id = ? AND state IN ('mined', 'confirmed') AND block_hash = ?`,
  )
  const settle = db
    .prepare<[number, string], number>(
      `UPDATE transactions SET state = 'final'
       WHERE id = ? AND state IN ('mined', 'confirmed') AND block_hash = ? RETURNING succeeded`,
    )
    .pluck()
  const supersede = db.prepare<[number]>("UPDATE transactions SET state = 'final' WHERE id = ? AND state = 'open'")

  /** The id of the new transaction; undefined when the nonce is taken or the budget does not allow it. */
  function* insert(transaction: NewTransaction): Steps<number | undefined> {
    const { account, nonce, call, attempt, paymentMicroUsdc = 0, budget, now } = transaction
    if ((yield* isNonceTaken.get(account, nonce)) !== undefined) return undefined
    if (budget !== undefined && paymentMicroUsdc > 0) {
      const before = (yield* spent.get(account, budget.from, budget.to)) ?? 0
      if (before + paymentMicroUsdc > budget.microUsdc) return undefined
    }
    const tx = yield* insertTransaction(account, nonce, call, now, paymentMicroUsdc)
    yield* insertAttempt.run({ tx, ...attempt })
    return tx
  }

  return {
    *queueDeals({ provers, limit }: { provers: readonly string[]; limit: number }): Steps<number> {
      for (const copy of yield* frontOfQueue.all(limit)) {
        if ((yield* isLive.get(copy)) === undefined) yield* failDeal.run(copy)
      }
      const copies = (yield* mapEach(provers, (prover) => toQueue.all(prover, limit))).flat()
      for (const copy of copies) {
        yield* markOnchain.run(copy)
        yield* insertDeal.run(copy)
      }
      return copies.length
    },

    ...prepareChainAdoption(db),

    *propose({
      copies,
      contract,
      ...transaction
    }: NewTransaction & { contract: string; copies: readonly number[] }): Steps<boolean> {
      for (const copy of copies) {
        if ((yield* isQueued.get(copy)) === undefined || (yield* isLive.get(copy)) === undefined) return false
      }
      const tx = yield* insert(transaction)
      if (tx === undefined) return false
      for (const [position, copy] of copies.entries()) yield* proposeDeal.run(tx, position, contract, copy)
      return true
    },

    *record({
      extends: extension,
      recovers: recovery,
      ...transaction
    }: NewTransaction & { extends?: Extension; recovers?: OnchainDealName }): Steps<boolean> {
      if (recovery !== undefined && !(yield* escrow.isFree(recovery))) return false
      if (extension !== undefined && (yield* isExtendable.get(extension.copy, extension.from)) === undefined) {
        return false
      }
      const tx = yield* insert(transaction)
      if (tx === undefined) return false
      if (extension !== undefined) yield* beginExtension.run(tx, extension.to, extension.copy)
      if (recovery !== undefined) yield* escrow.begin(tx, recovery)
      return true
    },

    *addAttempt({ transaction, attempt }: { transaction: number; attempt: TransactionAttempt }): Steps<boolean> {
      if ((yield* stateOf.get(transaction)) !== 'open') return false
      if ((yield* knownAttempt.get(transaction, attempt.hash)) === undefined) {
        yield* insertAttempt.run({ tx: transaction, ...attempt })
      }
      return true
    },

    *mined(request: {
      transaction: number
      succeeded: boolean
      blockNumber: number
      blockHash: string
      isConfirmed: boolean
      dealIds: readonly string[]
      endsAt: readonly number[]
    }): Steps<void> {
      const { transaction, succeeded, blockNumber, blockHash, isConfirmed, dealIds, endsAt } = request
      const state = isConfirmed ? 'confirmed' : 'mined'
      const { changes } = yield* place.run(state, Number(succeeded), blockNumber, blockHash, transaction)
      if (changes === 0) return
      for (const { copy, position } of yield* dealsOf.all(transaction)) {
        const id = succeeded ? dealIds[position] : undefined
        yield* placeDeal.run(
          isConfirmed && id !== undefined ? 'confirmed' : 'proposing',
          id ?? null,
          id === undefined ? null : (endsAt[position] ?? null),
          copy,
        )
      }
    },

    *reorganised({ transaction, blockHash }: { transaction: number; blockHash: string }): Steps<void> {
      if ((yield* unplace.run(transaction, blockHash)).changes === 0) return
      for (const { copy } of yield* dealsOf.all(transaction)) yield* placeDeal.run('proposing', null, null, copy)
    },

    *final(request: { transaction: number; blockHash: string; failFromReverts: number; now: number }): Steps<boolean> {
      const { transaction, blockHash, failFromReverts, now } = request
      const succeeded = yield* settle.get(transaction, blockHash)
      if (succeeded === undefined) return false
      for (const { copy, reverts } of yield* dealsOf.all(transaction)) {
        if (succeeded === 1) {
          yield* settleDeal.run(copy)
          continue
        }
        yield* countRevert.run(copy)
        const isGivenUp = reverts + 1 >= failFromReverts
        yield* (isGivenUp ? failDeal : queueDeal).run(copy)
      }
      if (succeeded === 1) yield* keepExtension.run(transaction)
      else yield* undoExtension.run({ tx: transaction, failedAt: now })
      yield* escrow.end(transaction, { succeeded: succeeded === 1, now })
      return true
    },

    *superseded({ transaction }: { transaction: number }): Steps<boolean> {
      if ((yield* supersede.run(transaction)).changes === 0) return false
      for (const { copy } of yield* dealsOf.all(transaction)) yield* queueDeal.run(copy)
      yield* undoExtension.run({ tx: transaction, failedAt: null })
      yield* escrow.release(transaction)
      return true
    },
  }
}
