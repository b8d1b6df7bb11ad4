import { timingSafeEqual } from 'node:crypto'
import type {
  AnswerOutcome,
  CodeReward,
  CodesOfEmail,
  HourlyLimit,
  LoginCodeRecord,
  OpenOutcome,
} from '../login-code-records.ts'
import { prepareSessionInserts } from './session-inserts.ts'
import { forEach, mapEach, type Sql, type Steps } from './sql.ts'
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
  readonly reward: CodeReward
}

interface AnswerByEmailRequest extends CodesOfEmail {
  readonly codeDigest: string
  readonly reward: CodeReward
}

interface CodeOfEmailRow {
  readonly id: string
  readonly label: string
  readonly email_code_digest: string
  readonly attempts_left: number
}

/** Login codes of signup by email. Each function runs inside the caller's transaction. */
export function prepareLoginCodeWrites(db: Sql) {
  const { countOf, count, giveBack, insertToken } = prepareTokenInserts(db)
  const { insertSession } = prepareSessionInserts(db)
  const insert = db.prepare<[string, string, string, string, number, number, string, string]>(
    `INSERT INTO challenges (id, email, label, code_digest, attempts_left, expires_at, asked_by, email_code_digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const open = db.prepare<[string, number], { code_digest: string; attempts_left: number }>(
    'SELECT code_digest, attempts_left FROM challenges WHERE id = ? AND expires_at > ?',
  )
  const openOfEmail = db.prepare<[string, string, number], CodeOfEmailRow>(
    `SELECT id, label, email_code_digest, attempts_left FROM challenges
     WHERE email = ? AND asked_by = ? AND expires_at > ? ORDER BY expires_at DESC, id`,
  )
  const takeAttempt = db.prepare<[string]>('UPDATE challenges SET attempts_left = attempts_left - 1 WHERE id = ?')
  const remove = db.prepare<[string]>('DELETE FROM challenges WHERE id = ?')
  const removeExpired = db.prepare<[number]>('DELETE FROM challenges WHERE expires_at <= ?')

  function* miss(id: string, { attempts_left: attempts }: { readonly attempts_left: number }): Steps<number> {
    const attemptsLeft = attempts - 1
    if (attemptsLeft > 0) yield* takeAttempt.run(id)
    else yield* remove.run(id)
    return attemptsLeft
  }

  function* give(reward: CodeReward, label?: string): Steps<void> {
    if ('session' in reward) yield* insertSession(reward.session)
    else yield* insertToken(label === undefined ? reward.token : { ...reward.token, label })
  }

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
      const { id, email, label, codeDigest, attemptsLeft, expiresAt, askedBy, emailCodeDigest } = code
      yield* insert.run(id, email, label, codeDigest, attemptsLeft, expiresAt, askedBy, emailCodeDigest)
      return { outcome: 'opened' }
    },

    *withdraw({ id, hour, addresses }: WithdrawRequest): Steps<void> {
      yield* remove.run(id)
      yield* forEach(addresses, (address) => giveBack(address, hour))
    },

    *answer(request: AnswerRequest): Steps<AnswerOutcome> {
      const { id, codeDigest, now, reward } = request
      const row = yield* open.get(id, now)
      if (row === undefined) return { outcome: 'over' }
      if (isSame(row.code_digest, codeDigest)) {
        yield* remove.run(id)
        yield* give(reward)
        return { outcome: 'issued' }
      }
      return { outcome: 'wrong', attemptsLeft: yield* miss(id, row) }
    },

    *answerByEmail(request: AnswerByEmailRequest): Steps<AnswerOutcome> {
      const { email, askedBy, codeDigest, now, reward } = request
      const rows = yield* openOfEmail.all(email, askedBy, now)
      const right = rows.find((row) => isSame(row.email_code_digest, codeDigest))
      if (right !== undefined) {
        yield* remove.run(right.id)
        yield* give(reward, right.label)
        return { outcome: 'issued' }
      }
      const left = yield* mapEach(rows, (row) => miss(row.id, row))
      return left.length === 0 ? { outcome: 'over' } : { outcome: 'wrong', attemptsLeft: Math.max(...left) }
    },

    *expire({ now }: { now: number }): Steps<number> {
      return (yield* removeExpired.run(now)).changes
    },
  }
}

function isSame(kept: string, given: string): boolean {
  return kept.length === given.length && timingSafeEqual(Buffer.from(kept), Buffer.from(given))
}
