import type {
  OnchainDealRecord,
  QueuedDeal,
  ShortDeal,
  TransactionAttempt,
  TransactionRecord,
  TransactionState,
} from '../record-store.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

/** When the last live file that needs a piece ends; NULL without one. The index of `deal_pieces` by piece leads to them. */
const NEEDED_UNTIL = `(
  SELECT MAX(files.expires_at) FROM deal_pieces
  JOIN deals ON deals.file = deal_pieces.file AND deals.closed_at IS NULL
  JOIN files ON files.sequence = deals.file
  WHERE deal_pieces.piece = pieces.id
)`

const DEAL_COLUMNS = `
  onchain_deals.copy, copies.prover, onchain_deals.state, tx AS "transaction", position, contract, onchain_id AS "onchainId",
  ends_at AS "endsAt", reverts`

interface TransactionRow {
  readonly id: number
  readonly account: string
  readonly nonce: number
  readonly call: string
  readonly state: TransactionState
  readonly succeeded: number | null
  readonly blockNumber: number | null
  readonly blockHash: string | null
  readonly createdAt: number
}

type QueuedRow = Omit<QueuedDeal, 'pieceRoot'> & { readonly pieceRoot: Buffer }

/** Reads of transactions and of the deals that they make. */
export function prepareChainReads(db: Sql) {
  const isAnyToQueue = db
    .prepare<[string], number>(
      `SELECT 1 FROM copies ${db.dialect.indexedBy('copies_to_queue')}
       WHERE prover = ? AND onchain = 0 AND ended_at IS NULL AND state IN ('parked', 'adding', 'stored') LIMIT 1`,
    )
    .pluck()
  const frontOfQueue = db
    .prepare<[number], number>("SELECT copy FROM onchain_deals WHERE state = 'queued' ORDER BY copy LIMIT ?")
    .pluck()
  const isLive = db.prepare<[number], number>('SELECT 1 FROM copies WHERE id = ? AND ended_at IS NULL').pluck()
  const queued = db.prepare<{ now: number; after: number; limit: number }, QueuedRow>(
    `SELECT * FROM (
       SELECT onchain_deals.copy, copies.prover, pieces.piece_root AS "pieceRoot", pieces.size_bytes AS "pieceSizeBytes", reverts,
         ${NEEDED_UNTIL} AS "neededUntil"
       FROM onchain_deals JOIN copies ON copies.id = onchain_deals.copy JOIN pieces ON pieces.id = copies.piece
       WHERE onchain_deals.state = 'queued' AND onchain_deals.copy > :after AND copies.ended_at IS NULL
     ) AS deals WHERE "neededUntil" > :now ORDER BY copy LIMIT :limit`,
  )
  const nextNonce = db
    .prepare<[string], number | null>('SELECT MAX(nonce) + 1 FROM transactions WHERE account = ?')
    .pluck()
  const selectTransactions = (where: string) =>
    db.prepare<{ account: string; fromNonce: number; limit: number; states: string }, TransactionRow>(
      `SELECT id, account, nonce, call, state, succeeded, block_number AS "blockNumber", block_hash AS "blockHash",
         created_at AS "createdAt"
       FROM transactions WHERE account = :account AND nonce >= :fromNonce AND ${where}
         AND ',' || CAST(:states AS TEXT) || ',' LIKE '%,' || state || ',%'
       ORDER BY nonce LIMIT :limit`,
    )
  const unsettledTransactions = selectTransactions("state <> 'final'")
  const allTransactions = selectTransactions('TRUE')
  const attempts = db.prepare<[number], TransactionAttempt>(
    `SELECT hash, raw, max_fee_per_gas AS "maxFeePerGas", max_priority_fee_per_gas AS "maxPriorityFeePerGas", signed_at AS "signedAt"
     FROM transaction_attempts WHERE tx = ? ORDER BY position`,
  )
  const dealOf = db.prepare<[number], OnchainDealRecord>(
    `SELECT ${DEAL_COLUMNS} FROM onchain_deals JOIN copies ON copies.id = onchain_deals.copy WHERE onchain_deals.copy = ?`,
  )
  const fileOf = db
    .prepare<{ principal: string; onchainId: string }, number | null>(
      `SELECT MAX(files.sequence) FROM onchain_deals
       JOIN copies ON copies.id = onchain_deals.copy
       JOIN deal_pieces ON deal_pieces.piece = copies.piece AND deal_pieces.padded_offset_bytes IS NULL
         AND deal_pieces.car_copies IS NULL
       JOIN files ON files.sequence = deal_pieces.file
       WHERE onchain_deals.onchain_id = :onchainId AND onchain_deals.state IN ('confirmed', 'final')
         AND files.principal = :principal`,
    )
    .pluck()
  const lastEndOfSlice = db
    .prepare<{ endsAfter: number; endsBefore: number; skip: number }, number>(
      `SELECT ends_at FROM onchain_deals WHERE state = 'final' AND ends_at > :endsAfter AND ends_at < :endsBefore
       ORDER BY ends_at LIMIT 1 OFFSET :skip`,
    )
    .pluck()
  const tooShort = db.prepare<{ endsAfter: number; upTo: number }, ShortDeal>(
    `SELECT * FROM (
       SELECT onchain_deals.copy, contract, onchain_id AS "onchainId", pieces.size_bytes AS "pieceSizeBytes", ends_at AS "endsAt",
         extension_failures AS "extensionFailures", extension_failed_at AS "extensionFailedAt", ${NEEDED_UNTIL} AS "neededUntil"
       FROM onchain_deals JOIN copies ON copies.id = onchain_deals.copy JOIN pieces ON pieces.id = copies.piece
       WHERE onchain_deals.state = 'final' AND ends_at > :endsAfter AND ends_at <= :upTo
         AND extension_tx IS NULL AND copies.ended_at IS NULL AND contract IS NOT NULL
         AND NOT EXISTS (
           SELECT 1 FROM escrows WHERE escrows.contract = onchain_deals.contract AND escrows.onchain_id = onchain_deals.onchain_id
             AND escrows.state NOT IN ('proposed', 'active')
         )
     ) AS deals WHERE "neededUntil" > "endsAt" ORDER BY "endsAt"`,
  )

  function* transactionOf(row: TransactionRow): Steps<TransactionRecord> {
    const succeeded = row.succeeded === null ? null : row.succeeded === 1
    return { ...row, succeeded, attempts: yield* attempts.all(row.id) }
  }

  return {
    /** Whether `queueDeals` would change anything. */
    *hasDealsToQueue({ provers, limit }: { provers: readonly string[]; limit: number }): Steps<boolean> {
      for (const prover of provers) if ((yield* isAnyToQueue.get(prover)) !== undefined) return true
      for (const copy of yield* frontOfQueue.all(limit)) if ((yield* isLive.get(copy)) === undefined) return true
      return false
    },

    *queued({ provers, now, limit }: { provers: readonly string[]; now: number; limit: number }): Steps<QueuedDeal[]> {
      const found: QueuedDeal[] = []
      // Those at other provers stay in the queue, however many: it is read in parts, until there are enough.
      let after = 0
      while (found.length < limit) {
        const rows = yield* queued.all({ now, after, limit })
        for (const row of rows) {
          after = row.copy
          if (!provers.includes(row.prover)) continue
          found.push({ ...row, pieceRoot: row.pieceRoot.toString('hex') })
          if (found.length === limit) break
        }
        if (rows.length < limit) break
      }
      return found
    },

    *nextNonce(account: string): Steps<number | undefined> {
      return (yield* nextNonce.get(account)) ?? undefined
    },

    *transactions(request: {
      account: string
      states: readonly TransactionState[]
      fromNonce?: number
      limit: number
    }): Steps<TransactionRecord[]> {
      const { account, states, fromNonce = 0, limit } = request
      // Settled ones are many: an index of its own leaves them out.
      const select = states.includes('final') ? allTransactions : unsettledTransactions
      const rows = yield* select.all({ account, fromNonce, limit, states: states.join() })
      return yield* mapEach(rows, transactionOf)
    },

    *dealsOf(copies: readonly number[]): Steps<OnchainDealRecord[]> {
      return (yield* mapEach(copies, (copy) => dealOf.get(copy))).filter((deal) => deal !== undefined)
    },

    *fileOf(request: { principal: string; onchainId: string }): Steps<number | undefined> {
      return (yield* fileOf.get(request)) ?? undefined
    },

    *tooShort(request: { endsAfter: number; endsBefore: number; limit: number }): Steps<{
      readonly deals: ShortDeal[]
      readonly upTo: number | null
    }> {
      const { endsAfter, endsBefore, limit } = request
      const upTo = (yield* lastEndOfSlice.get({ endsAfter, endsBefore, skip: limit - 1 })) ?? null
      return { deals: yield* tooShort.all({ endsAfter, upTo: upTo ?? endsBefore - 1 }), upTo }
    },
  }
}
