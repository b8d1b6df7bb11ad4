import { LadeError } from '@lade/core/errors'
import { SCOPES, type SignupResult, type VerifyRequest } from '@lade/core/wire'
import type { AnswerOutcome, CodeReward } from '../records/login-code-records.ts'
import type { RecordStore } from '../records/record-store.ts'
import { normalizeEmail } from './email.ts'
import { codeDigest, emailCodeDigest, loginCodeId } from './login-code.ts'
import { type NewTokenDeps, newToken } from './new-token.ts'

export interface RedeemLoginCodeDeps extends NewTokenDeps {
  readonly records: RecordStore
}

export interface RedeemLoginCodeInput {
  readonly request: VerifyRequest
  /** Who answers, such as `ip:192.0.2.7`: without the challenge, only who asked for the code may. */
  readonly address: string
  /** The most that a token may have, and what it has unless it asks for less. */
  readonly quotaMb: number
}

/**
 * Mints the token that a login code was sent for, and records it in the one transaction that uses the code up.
 *
 * @throws {LadeError} `invalid_challenge`, the same for one that was never there, has expired, or was answered; `invalid_code`
 *   with the attempts that are left; `bad_request`, `invalid_email`, `auth_offline`, `storage_failed`.
 */
export async function redeemLoginCode(
  deps: RedeemLoginCodeDeps,
  { request, address, quotaMb }: RedeemLoginCodeInput,
): Promise<SignupResult> {
  const { scopes, quotaMb: wantedMb, ttlDays } = request
  return answerLoginCode(deps, { request, address }, async (code) => {
    const { record, result } = await newToken(
      deps,
      { scopes: SCOPES, quotaMb },
      { scopes, quotaMb: wantedMb, ttlDays, ...code },
    )
    return { reward: { token: record }, result }
  })
}

/** What somebody sends to say that a code has reached them. */
export interface CodeAnswer {
  readonly request: Pick<VerifyRequest, 'challenge' | 'email' | 'code'>
  readonly address: string
}

/** Makes what an answer gives, for the address that the code was sent to, before it is known whether the answer is right. */
export type RewardMaker<Result> = (code: {
  readonly email: string
  readonly label: string
}) => Promise<{ readonly reward: CodeReward; readonly result: Result }>

/**
 * Uses a login code up for what `make` makes, in one transaction.
 *
 * @throws {LadeError} as {@link redeemLoginCode}.
 */
export async function answerLoginCode<Result>(
  deps: Pick<RedeemLoginCodeDeps, 'records' | 'keys' | 'now'>,
  { request, address }: CodeAnswer,
  make: RewardMaker<Result>,
): Promise<Result> {
  const { challenge, email, code } = request
  const { loginCodes } = deps.records
  const now = deps.now()
  if (challenge !== undefined) {
    const id = loginCodeId(challenge)
    const asked = await loginCodes.find({ id, now })
    if (asked === undefined) throw new LadeError('invalid_challenge', {})
    const { reward, result } = await make(asked)
    requireIssued(await loginCodes.answer({ id, codeDigest: codeDigest({ challenge, code }), now, reward }))
    return result
  }
  if (email === undefined) {
    throw new LadeError('bad_request', {
      reason:
        'Send the challenge that POST /api/auth/start returned, or the email address that the code was mailed to.',
    })
  }
  // For clients without the challenge. Only the address that asked for the code can try codes, so others cannot use up its attempts.
  const codes = { email: normalizeEmail(email), askedBy: address, now }
  if (!(await loginCodes.isAwaited(codes))) throw new LadeError('invalid_challenge', {})
  // Its label is that of the code, which the records know.
  const { reward, result } = await make({ email: codes.email, label: '' })
  const digest = emailCodeDigest(deps.keys.current(), { email: codes.email, code })
  requireIssued(await loginCodes.answerByEmail({ ...codes, codeDigest: digest, reward }))
  return result
}

function requireIssued(answer: AnswerOutcome): void {
  switch (answer.outcome) {
    case 'issued':
      return
    case 'wrong':
      throw new LadeError('invalid_code', { attemptsLeft: answer.attemptsLeft })
    case 'over':
      throw new LadeError('invalid_challenge', {})
  }
}
