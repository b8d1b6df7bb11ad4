import { OURS } from './nonce-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** Reads of nonces. */
export function prepareNonceReads(db: Sql) {
  const until = db.prepare<[string, string], number>('SELECT until FROM nonces WHERE account = ? AND nonce = ?').pluck()

  return {
    *isUsed({ account, nonce }: { account: string; nonce: string }): Steps<boolean> {
      return (yield* until.get(account, nonce)) !== undefined
    },

    *isIssued({ nonce, now }: { nonce: string; now: number }): Steps<boolean> {
      return ((yield* until.get(OURS, nonce)) ?? 0) > now
    },
  }
}
