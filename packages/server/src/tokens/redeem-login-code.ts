import { LadeError } from '@lade/core/errors'
import { SCOPES, type SignupResult, type VerifyRequest } from '@lade/core/wire'
import type { RecordStore } from '../records/record-store.ts'
import { codeDigest, loginCodeId } from './login-code.ts'
import { type NewTokenDeps, newToken } from './new-token.ts'

export interface RedeemLoginCodeDeps extends NewTokenDeps {
  readonly records: RecordStore
}

/**
 * Mints the token that a login code was sent for, and records it in the one transaction that uses the code up.
 *
 * @param quotaMb - the most that a token may have, and what it has unless it asks for less.
 * @throws {LadeError} `invalid_challenge`, the same for one that was never there, has expired, or was answered; `invalid_code`
 *   with the attempts that are left; `auth_offline`, `storage_failed`.
 */
export async function redeemLoginCode(
  deps: RedeemLoginCodeDeps,
  { request, quotaMb }: { readonly request: VerifyRequest; readonly quotaMb: number },
): Promise<SignupResult> {
  const { loginCodes } = deps.records
  const id = loginCodeId(request.challenge)
  const now = deps.now()
  const asked = await loginCodes.find({ id, now })
  if (asked === undefined) throw new LadeError('invalid_challenge', {})
  const { email, label } = asked
  const { scopes, quotaMb: askedMb, ttlDays } = request
  const { record, result } = await newToken(
    deps,
    { scopes: SCOPES, quotaMb },
    { email, label, scopes, quotaMb: askedMb, ttlDays },
  )
  const answer = await loginCodes.answer({ id, codeDigest: codeDigest(request), now, token: record })
  switch (answer.outcome) {
    case 'issued':
      return result
    case 'wrong':
      throw new LadeError('invalid_code', { attemptsLeft: answer.attemptsLeft })
    case 'over':
      throw new LadeError('invalid_challenge', {})
  }
}
