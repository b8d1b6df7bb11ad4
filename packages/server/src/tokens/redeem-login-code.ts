import { LadeError } from '@lade/core/errors'
import { SCOPES, type SignupResult, type VerifyRequest } from '@lade/core/wire'
import type { AnswerOutcome } from '../records/login-code-records.ts'
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
export async function redeemLoginCode(deps: RedeemLoginCodeDeps, input: RedeemLoginCodeInput): Promise<SignupResult> {
  const { challenge, email } = input.request
  if (challenge !== undefined) return redeemChallenge(deps, input, challenge)
  if (email !== undefined) return redeemForEmail(deps, input, normalizeEmail(email))
  throw new LadeError('bad_request', {
    reason: 'Send the challenge that POST /api/auth/start returned, or the email address that the code was mailed to.',
  })
}

async function redeemChallenge(
  deps: RedeemLoginCodeDeps,
  { request, quotaMb }: RedeemLoginCodeInput,
  challenge: string,
): Promise<SignupResult> {
  const { loginCodes } = deps.records
  const id = loginCodeId(challenge)
  const now = deps.now()
  const asked = await loginCodes.find({ id, now })
  if (asked === undefined) throw new LadeError('invalid_challenge', {})
  const { record, result } = await newToken(deps, { scopes: SCOPES, quotaMb }, { ...wishesOf(request), ...asked })
  const digest = codeDigest({ challenge, code: request.code })
  requireIssued(await loginCodes.answer({ id, codeDigest: digest, now, token: record }))
  return result
}

/** For clients without the challenge. Only the address that asked for the code can try codes, so others cannot use up its attempts. */
async function redeemForEmail(
  deps: RedeemLoginCodeDeps,
  { request, address, quotaMb }: RedeemLoginCodeInput,
  email: string,
): Promise<SignupResult> {
  const { loginCodes } = deps.records
  const codes = { email, askedBy: address, now: deps.now() }
  if (!(await loginCodes.isAwaited(codes))) throw new LadeError('invalid_challenge', {})
  // Its label is that of the code, which the records know.
  const { record, result } = await newToken(
    deps,
    { scopes: SCOPES, quotaMb },
    { ...wishesOf(request), email, label: '' },
  )
  const digest = emailCodeDigest(deps.keys.current(), { email, code: request.code })
  requireIssued(await loginCodes.answerByEmail({ ...codes, codeDigest: digest, token: record }))
  return result
}

function wishesOf({ scopes, quotaMb, ttlDays }: VerifyRequest) {
  return { scopes, quotaMb, ttlDays }
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
