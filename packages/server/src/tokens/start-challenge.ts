import { LadeError } from '@lade/core/errors'
import type { StartRequest, StartResult } from '@lade/core/wire'
import type { Mailer } from '../mail/mailer.ts'
import type { RecordStore } from '../records/record-store.ts'
import { codeMail } from './code-mail.ts'
import { normalizeEmail } from './email.ts'
import { challengeId, codeDigest, newEmailCode } from './email-code.ts'
import type { SigningKeys } from './signing-keys.ts'
import { hourOf, rateLimited } from './signup-hour.ts'
import { labelOf } from './token-label.ts'

const MINUTES = 15
const ATTEMPTS = 5
/** To one address, whoever asks. */
const MAILS_PER_HOUR = 5
/** When a caller may try again after the mail server refused. */
const RETRY_AFTER_SECONDS = 300

export interface StartChallengeDeps {
  readonly records: RecordStore
  readonly keys: SigningKeys
  readonly mailer: Mailer
  readonly now: () => number
  readonly publicUrl: () => string
}

export interface StartChallengeInput {
  readonly request: StartRequest
  /** Whose hourly signups this counts against, such as `ip:192.0.2.7`. */
  readonly address: string
  readonly signupsPerHour: number
}

/**
 * Sends a one-time code to an email address. It is good for 15 minutes, 5 attempts and one token, by whichever process.
 *
 * Answers the same whether or not the address is known: it is never asked. When the mail cannot be sent, nothing is kept;
 * a mail that the server refused still counts against the limits, so that nobody can try addresses on it at will.
 *
 * @throws {LadeError} `invalid_email`, `invalid_label`, `rate_limited`, `mail_failed`, `auth_offline`, `storage_failed`.
 */
export async function startChallenge(deps: StartChallengeDeps, input: StartChallengeInput): Promise<StartResult> {
  const { records, mailer } = deps
  const email = normalizeEmail(input.request.email)
  const label = labelOf(input.request.label)
  // Without a key no answer could ever become a token.
  deps.keys.current()
  const emailCode = newEmailCode()
  const id = challengeId(emailCode.challenge)
  const now = deps.now()
  const hour = hourOf(now)
  const limits = [
    { address: input.address, limit: input.signupsPerHour },
    { address: `mail:${email}`, limit: MAILS_PER_HOUR },
  ]
  const opened = await records.challenges.open({
    challenge: {
      id,
      email,
      label,
      codeDigest: codeDigest(emailCode),
      attemptsLeft: ATTEMPTS,
      expiresAt: now + MINUTES * 60_000,
    },
    hour,
    limits,
  })
  if (opened.outcome === 'limited') throw rateLimited(now, opened)

  const mail = codeMail({ to: email, code: emailCode.code, publicUrl: deps.publicUrl(), minutes: MINUTES })
  const withdraw = (addresses: readonly string[]) => records.challenges.withdraw({ id, hour, addresses })
  const sent = await mailer.send(mail).catch(async (error: unknown) => {
    await withdraw(limits.map(({ address }) => address))
    throw error
  })
  if (sent.outcome === 'refused') {
    await withdraw([])
    const cause = new Error(`The mail server did not take the mail: ${sent.reason}`)
    throw new LadeError('mail_failed', { retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause })
  }
  return { sent: true, expiresIn: MINUTES * 60, challenge: emailCode.challenge }
}
