import type { Connection } from './connection.ts'

/** Whose nonces those are that were handed out here: no wallet is called that. */
const OURS = ''

/** Nonces of wallets. Each function runs inside one transaction that the writer opens. */
export function prepareNonceWrites(db: Connection) {
  const insert = db.prepare<[string, string, number]>(
    'INSERT INTO nonces (account, nonce, until) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const redeem = db.prepare<[string, string, number]>(
    'DELETE FROM nonces WHERE account = ? AND nonce = ? AND until > ?',
  )
  const removeExpired = db.prepare<[number, number]>(
    `DELETE FROM nonces WHERE (account, nonce) IN
       (SELECT account, nonce FROM nonces WHERE until <= ? ORDER BY until LIMIT ?)`,
  )

  return {
    use({ account, nonce, until }: { account: string; nonce: string; until: number }): boolean {
      return insert.run(account, nonce, until).changes === 1
    },

    issue({ nonce, until }: { nonce: string; until: number }): void {
      insert.run(OURS, nonce, until)
    },

    redeem({ nonce, now }: { nonce: string; now: number }): boolean {
      return redeem.run(OURS, nonce, now).changes === 1
    },

    expire({ now, limit }: { now: number; limit: number }): number {
      return removeExpired.run(now, limit).changes
    },
  }
}
