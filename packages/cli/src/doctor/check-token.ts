import type { LadeClient } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import type { Account } from '../account/connection.ts'
import { readTokenFacts } from '../account/token-facts.ts'
import { sentenceOf } from '../exit-code.ts'
import { formatFromNow } from '../output/times.ts'
import { ALL_SCOPES } from '../scopes-option.ts'
import { broken, type Finding, ok, unknown, warning } from './finding.ts'

const SOON_MS = 14 * 86_400_000

/** Whether the service takes the token, what it allows, and how long. */
export async function checkToken(account: Account, client: LadeClient, now: Date): Promise<Finding> {
  const { token, tokenFrom, url } = account
  if (token === undefined)
    return unknown('token', `There is no token for ${url}, so uploads are sponsored. "lade login" saves one.`)
  try {
    await client.usage()
  } catch (error) {
    if (!LadeError.is(error)) throw error
    if (error.code !== 'insufficient_scope')
      return broken('token', `The service rejects the token from ${tokenFrom}. ${sentenceOf(error)}`)
  }
  const { email, scopes = [], expiresAt } = readTokenFacts(token) ?? {}
  const whose = `The token from ${tokenFrom} is valid for ${email ?? 'an unnamed user'}`
  const lacking = ALL_SCOPES.filter((scope) => !scopes.includes(scope))
  const allows =
    lacking.length === 0 ? 'allows everything' : `allows ${scopes.join(', ')} and not ${lacking.join(', ')}`
  if (expiresAt === undefined) return ok('token', `${whose}, and ${allows}.`)
  const ends = formatFromNow(expiresAt.toISOString(), now)
  return expiresAt.getTime() - now.getTime() < SOON_MS
    ? warning('token', `${whose}, but expires ${ends}. "lade login" saves a new one.`)
    : ok('token', `${whose}, ${allows}, and expires ${ends}.`)
}
