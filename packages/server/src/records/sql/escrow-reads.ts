import type { EscrowRecord, EscrowState, EscrowToCheck, EscrowTotals, OnchainDealName } from '../record-store.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

/** The name of the mark that says up to which block events are counted. */
export const scanMark = (contract: string): string => `escrow:${contract}`

/** Sums the payments that transactions of an account made in a while, but for those that have failed for good. */
export const SPENT = `SELECT CAST(COALESCE(SUM(payment_micro_usdc), 0) AS BIGINT) FROM transactions
  WHERE account = ? AND created_at >= ? AND created_at < ? AND payment_micro_usdc > 0
    AND NOT (state = 'final' AND COALESCE(succeeded, 0) = 0)`

/** Has the deals on the chain read now that are about copies of a piece that have ended, as far as a contract may hold something for them. */
export const READ_DEALS_OF_ENDED_COPIES = `UPDATE escrows SET check_at = :now
  WHERE check_at > :now AND (contract, onchain_id) IN (
    SELECT onchain_deals.contract, onchain_deals.onchain_id FROM copies JOIN onchain_deals ON onchain_deals.copy = copies.id
    WHERE copies.piece = :piece AND copies.ended_at IS NOT NULL AND onchain_deals.state = 'final')`

/** Reads of what the contract holds. */
export function prepareEscrowReads(db: Sql) {
  const mark = db.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck()
  const firstBlock = db
    .prepare<[string], number | null>('SELECT MIN(block_number) FROM transactions WHERE account = ?')
    .pluck()
  const dueColumns = `escrows.onchain_id AS "onchainId", escrows.state, final_state AS "finalState",
    CASE WHEN ended_copies.id IS NULL THEN 1 ELSE 0 END AS "isNeeded", paid_in - paid_out - returned AS "heldMicroUsdc", failures`
  const endedCopies = `onchain_deals
    ON onchain_deals.onchain_id = escrows.onchain_id AND onchain_deals.contract = escrows.contract AND onchain_deals.state = 'final'
    LEFT JOIN copies AS ended_copies ON ended_copies.id = onchain_deals.copy AND ended_copies.ended_at IS NOT NULL`
  const due = db.prepare<
    { contract: string; now: number; limit: number },
    Omit<EscrowToCheck, 'isNeeded'> & { readonly isNeeded: number }
  >(
    `SELECT ${dueColumns} FROM escrows LEFT JOIN ${endedCopies}
     WHERE escrows.contract = :contract AND action_tx IS NULL AND check_at <= :now ORDER BY check_at LIMIT :limit`,
  )
  const unneeded = db.prepare<
    { contract: string; now: number; limit: number },
    Omit<EscrowToCheck, 'isNeeded'> & { readonly isNeeded: number }
  >(
    `SELECT ${dueColumns} FROM escrows JOIN ${endedCopies}
     WHERE escrows.contract = :contract AND action_tx IS NULL AND escrows.state = 'proposed' AND check_at > :now AND failures = 0
       AND ended_copies.id IS NOT NULL ORDER BY check_at LIMIT :limit`,
  )
  const find = db.prepare<[string, string], EscrowRecord>(
    `SELECT contract, onchain_id AS "onchainId", state, ends_at AS "endsAt", paid_in AS "paidInMicroUsdc",
       paid_out AS "paidOutMicroUsdc", returned AS "returnedMicroUsdc", bond AS "bondMicroUsdc",
       bond_released AS "bondReleasedMicroUsdc", bond_forfeited AS "bondForfeitedMicroUsdc"
     FROM escrows WHERE contract = ? AND onchain_id = ?`,
  )
  const totals = db.prepare<
    [string],
    {
      readonly state: EscrowState
      readonly count: number
      readonly paidIn: number
      readonly paidOut: number
      readonly returned: number
      readonly bond: number
      readonly bondReleased: number
      readonly bondForfeited: number
    }
  >(
    `SELECT state, COUNT(*) AS count, CAST(SUM(paid_in) AS BIGINT) AS "paidIn", CAST(SUM(paid_out) AS BIGINT) AS "paidOut",
       CAST(SUM(returned) AS BIGINT) AS returned, CAST(SUM(bond) AS BIGINT) AS bond,
       CAST(SUM(bond_released) AS BIGINT) AS "bondReleased", CAST(SUM(bond_forfeited) AS BIGINT) AS "bondForfeited"
     FROM escrows WHERE contract = ? GROUP BY state`,
  )
  const spent = db.prepare<[string, number, number], number>(SPENT).pluck()

  function* scannedTo(contract: string): Steps<number | undefined> {
    const value = yield* mark.get(scanMark(contract))
    return value === undefined ? undefined : Number(value)
  }

  return {
    scannedTo,

    *firstBlock(account: string): Steps<number | undefined> {
      return (yield* firstBlock.get(account)) ?? undefined
    },

    *due(request: { contract: string; now: number; limit: number }): Steps<EscrowToCheck[]> {
      const rows = [...(yield* due.all(request)), ...(yield* unneeded.all(request))]
      return rows.slice(0, request.limit).map((row) => ({ ...row, isNeeded: row.isNeeded === 1 }))
    },

    *find(deals: readonly OnchainDealName[]): Steps<EscrowRecord[]> {
      return (yield* mapEach(deals, ({ contract, onchainId }) => find.all(contract, onchainId))).flat()
    },

    *totals(contracts: readonly string[]): Steps<EscrowTotals> {
      const rows = (yield* mapEach(contracts, (contract) => totals.all(contract))).flat()
      const byState = Map.groupBy(rows, ({ state }) => state)
      const sum = (of: 'paidIn' | 'paidOut' | 'returned' | 'bond' | 'bondReleased' | 'bondForfeited') =>
        rows.reduce((total, row) => total + row[of], 0)
      return {
        deals: [...byState]
          .map(([state, ofState]) => ({ state, count: ofState.reduce((total, { count }) => total + count, 0) }))
          .toSorted((a, b) => (a.state < b.state ? -1 : 1)),
        paidInMicroUsdc: sum('paidIn'),
        paidOutMicroUsdc: sum('paidOut'),
        returnedMicroUsdc: sum('returned'),
        bondMicroUsdc: sum('bond'),
        bondReleasedMicroUsdc: sum('bondReleased'),
        bondForfeitedMicroUsdc: sum('bondForfeited'),
      }
    },

    *spent({ account, from, to }: { account: string; from: number; to: number }): Steps<number> {
      return (yield* spent.get(account, from, to)) ?? 0
    },
  }
}
