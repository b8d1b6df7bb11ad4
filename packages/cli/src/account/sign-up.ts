import { hostname } from 'node:os'
import { type ErrorCode, LadeError } from '@lade/core/errors'
import type { CallerScope, SignupResult } from '@lade/core/wire'
import type { Command } from 'commander'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { type Account, clientOf } from './connection.ts'
import { redeemCode, startByMail } from './email-code.ts'
import { readTokenFacts } from './token-facts.ts'

export interface SignUpFlags {
  readonly email: string
  readonly label?: string
  readonly scopes?: readonly CallerScope[]
  readonly quotaMb?: number
  readonly days?: number
  /** Of a sign-in by mail that was begun before. */
  readonly challenge?: string
  readonly code?: string
  readonly json?: boolean
}

/** Gives `command` the flags that go on with a sign-in by mail. */
export function addEmailCodeOptions(command: Command): void {
  command
    .option(
      '--challenge <text>',
      'Finish a login that mailed you a code. The earlier run printed the command to use; copy the value of --challenge from it.',
    )
    .option(
      '--code <digits>',
      'With --challenge: the mailed code. Without --code, lade asks for it, or reads it from standard input.',
    )
}

/** With a token of the same address, these send the user to the mailbox; all else has nothing to do with that token. */
const NEEDS_CODE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'email_code_required',
  'invalid_token',
  'revoked_token',
  'insufficient_scope',
])

/**
 * Asks the service for a token. Without a label it is called after this machine.
 *
 * Where the service mails codes, a token of the same address does in place of the code, if the account has one; otherwise a
 * code is mailed and asked for.
 *
 * @throws {Ended} where a code was mailed and nobody can be asked for it: how to go on has been said.
 * @throws {LadeError} what the service refuses.
 */
export async function signUp(
  { url, token }: Pick<Account, 'url' | 'token'>,
  flags: SignUpFlags,
  terminal: Terminal,
): Promise<SignupResult> {
  const { email, label = `lade on ${hostname()}`.slice(0, 100), challenge, code, json: isJson = false } = flags
  const wishes = wishesOf(flags)
  const client = await clientOf({ url })
  if (challenge !== undefined) return redeemCode({ client, terminal, wishes, challenge, code })
  if (code !== undefined) throw new UsageError('--code needs --challenge, which was printed when the code was mailed.')
  const owner = token === undefined ? undefined : readTokenFacts(token)?.email
  const asker = owner === email.trim().toLowerCase() ? await clientOf({ url, token: token ?? '' }) : client
  try {
    return await asker.signup({ email, label, ...wishes }, { signal: terminal.interruption() })
  } catch (error) {
    if (!LadeError.is(error) || !NEEDS_CODE.has(error.code)) throw error
    return startByMail({ client, terminal, wishes, email, label, isJson })
  }
}

function wishesOf({ scopes, quotaMb, days }: SignUpFlags) {
  return {
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(quotaMb !== undefined && { quotaMb }),
    ...(days !== undefined && { ttlDays: days }),
  }
}
