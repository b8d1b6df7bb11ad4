import { timingSafeEqual } from 'node:crypto'
import type { AnswerOutcome, ChallengeRecord, HourlyLimit, OpenOutcome } from '../../challenge-records.ts'
import type { TokenRecord } from '../../record-store.ts'
import type { Connection } from './connection.ts'
import { prepareTokenInserts } from './token-inserts.ts'

/** Challenges of signup by email. Each function runs inside one transaction that the writer opens. */
export function prepareChallengeWrites(db: Connection) {
  const { countOf, count, giveBack, insertToken } = prepareTokenInserts(db)
  const insert = db.prepare<[string, string, string, string, number, number]>(
    'INSERT INTO challenges (id, email, label, code_digest, attempts_left, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const open = db.prepare<[string, number], { code_digest: string; attempts_left: number }>(
    'SELECT code_digest, attempts_left FROM challenges WHERE id = ? AND expires_at > ?',
  )
  const takeAttempt = db.prepare<[string]>('UPDATE challenges SET attempts_left = attempts_left - 1 WHERE id = ?')
  const remove = db.prepare<[string]>('DELETE FROM challenges WHERE id = ?')
  const removeExpired = db.prepare<[number]>('DELETE FROM challenges WHERE expires_at <= ?')

  return {
    open(request: { challenge: ChallengeRecord; hour: number; limits: readonly HourlyLimit[] }): OpenOutcome {
      const { challenge, hour, limits } = request
      for (const { address, limit } of limits) {
        const used = countOf(address, hour)
        if (used >= limit) return { outcome: 'limited', used, limit }
      }
      for (const { address } of limits) count(address, hour)
      const { id, email, label, codeDigest, attemptsLeft, expiresAt } = challenge
      insert.run(id, email, label, codeDigest, attemptsLeft, expiresAt)
      return { outcome: 'opened' }
    },

    withdraw({ id, hour, addresses }: { id: string; hour: number; addresses: readonly string[] }): void {
      remove.run(id)
      for (const address of addresses) giveBack(address, hour)
    },

    answer(request: { id: string; codeDigest: string; now: number; token: TokenRecord }): AnswerOutcome {
      const { id, codeDigest, now, token } = request
      const row = open.get(id, now)
      if (row === undefined) return { outcome: 'over' }
      if (isSame(row.code_digest, codeDigest)) {
        remove.run(id)
        insertToken(token)
        return { outcome: 'issued' }
      }
      const attemptsLeft = row.attempts_left - 1
      if (attemptsLeft > 0) takeAttempt.run(id)
      else remove.run(id)
      return { outcome: 'wrong', attemptsLeft }
    },

    expire({ now }: { now: number }): number {
      return removeExpired.run(now).changes
    },
  }
}

function isSame(kept: string, given: string): boolean {
  return kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given))
}
