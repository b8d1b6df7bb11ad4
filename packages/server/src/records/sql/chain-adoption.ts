import { scanMark } from './escrow-reads.ts'
import type { Sql, Steps } from './sql.ts'

interface Renaming {
  /** An address alone, as older versions wrote it. */
  readonly address: string
  /** The same with its chain. */
  readonly name: string
}

/** Gives names with a chain to what older versions wrote without. Each function runs inside the caller's transaction of the records. */
export function prepareChainAdoption(db: Sql) {
  // An older version that ran beside this one for a while may have written a nonce or a deal a second time: the named one counts.
  const nameTransactions = db.prepare<Renaming>(
    `UPDATE transactions SET account = :name WHERE account = :address AND NOT EXISTS (
       SELECT 1 FROM transactions AS named WHERE named.account = :name AND named.nonce = transactions.nonce)`,
  )
  const nameEscrows = db.prepare<Renaming>(
    `UPDATE escrows SET contract = :name WHERE contract = :address AND NOT EXISTS (
       SELECT 1 FROM escrows AS named WHERE named.contract = :name AND named.onchain_id = escrows.onchain_id)`,
  )
  const dropEscrows = db.prepare<[string]>('DELETE FROM escrows WHERE contract = ?')
  const nameMark = db.prepare<Renaming>(
    `UPDATE marks SET name = :name WHERE name = :address AND NOT EXISTS (SELECT 1 FROM marks AS named WHERE named.name = :name)`,
  )
  const dropMark = db.prepare<[string]>('DELETE FROM marks WHERE name = ?')
  // A signed transaction has the address of the contract that it calls, which says where its deals are.
  const nameDeals = db.prepare<{ contract: string; calls: string }>(
    `UPDATE onchain_deals SET contract = :contract WHERE contract IS NULL AND tx IS NOT NULL AND EXISTS (
       SELECT 1 FROM transaction_attempts WHERE transaction_attempts.tx = onchain_deals.tx AND raw LIKE :calls)`,
  )

  return {
    *adopt(request: { chain: string; account: string; contracts: readonly string[] }): Steps<void> {
      const { chain, account, contracts } = request
      const named = (address: string): string => `${chain}:${address}`
      yield* nameTransactions.run({ address: account, name: named(account) })
      for (const address of contracts) {
        const contract = named(address)
        yield* nameEscrows.run({ address, name: contract })
        yield* dropEscrows.run(address)
        yield* nameMark.run({ address: scanMark(address), name: scanMark(contract) })
        yield* dropMark.run(scanMark(address))
        yield* nameDeals.run({ contract, calls: `%${address.slice(2).toLowerCase()}%` })
      }
    },
  }
}
