import { timingSafeEqual } from 'node:crypto'
import type { AnswerOutcome, HourlyLimit, LoginCodeRecord, OpenOutcome } from '../login-code-records.ts'
import type { TokenRecord } from '../record-store.ts'
import { forEach, type Sql, type Steps } from './sql.ts'
import { prepareTokenInserts } from './token-inserts.ts'

interface OpenRequest {
  readonly code: LoginCodeRecord
  readonly hour: number
  readonly limits: readonly HourlyLimit[]
}

interface WithdrawRequest {
  readonly id: string
  readonly hour: number
  readonly addresses: readonly string[]
}

interface AnswerRequest {
  readonly id: string
  readonly codeDigest: string
  readonly now: number
  readonly token: TokenRecord
}

/** Login codes of signup by email. Each function runs inside the caller's transaction. */
export function prepareLoginCodeWrites(db: Sql) {
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
    *open(request: OpenRequest): Steps<OpenOutcome> {
      const { code, hour, limits } = request
      for (const { address, limit, unlessBelow } of limits) {
        const used = yield* countOf(address, hour)
        if (used < limit) continue
        if (unlessBelow !== undefined && (yield* countOf(unlessBelow.address, hour)) < unlessBelow.limit) continue
        return { outcome: 'limited', address, used, limit }
      }
      yield* forEach(limits, ({ address }) => count(address, hour))
      const { id, email, label, codeDigest, attemptsLeft, expiresAt } = code
      yield* insert.run(id, email, label, codeDigest, attemptsLeft, expiresAt)
      return { outcome: 'opened' }
    },

    *withdraw({ id, hour, addresses }: WithdrawRequest): Steps<void> {
      yield* remove.run(id)
      yield* forEach(addresses, (address) => giveBack(address, hour))
    },

    *answer(request: AnswerRequest): Steps<AnswerOutcome> {
      const { id, codeDigest, now, token } = request
      const row = yield* open.get(id, now)
      if (row === undefined) return { outcome: 'over' }
      if (isSame(row.code_digest, codeDigest)) {
        yield* remove.run(id)
        yield* insertToken(token)
        return { outcome: 'issued' }
      }
      const attemptsLeft = row.attempts_left - 1
      if (attemptsLeft > 0) yield* takeAttempt.run(id)
      else yield* remove.run(id)
      return { outcome: 'wrong', attemptsLeft }
    },

    *expire({ now }: { now: number }): Steps<number> {
      return (yield* removeExpired.run(now)).changes
    },
  }
}

function isSame(kept: string, given: string): boolean {
  return kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given))
}
