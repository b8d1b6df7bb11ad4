import { countText, LadeError } from '@lade/core/errors'
import type { StartRequest, StartResult } from '@lade/core/wire'
import { NETWORK_SHARES } from '@lade/core/wire'
import type { Mailer } from '../mail/mailer.ts'
import type { Moderation } from '../moderation/moderation.ts'
import { networkOf } from '../quota-rule/network-of.ts'
import type { HourlyLimit } from '../records/login-code-records.ts'
import type { RecordStore } from '../records/record-store.ts'
import { refuseBlockedEmail } from './blocked-email.ts'
import { normalizeEmail } from './email.ts'
import { codeDigest, emailCodeDigest, loginCodeId, newLoginCode } from './login-code.ts'
import { loginCodeMail } from './login-code-mail.ts'
import type { SigningKeys } from './signing-keys.ts'
import { hourOf, rateLimited } from './signup-hour.ts'
import { labelOf } from './token-label.ts'

const MINUTES = 15
const ATTEMPTS = 5
/** From one sender to one recipient. */
const MAILS_PER_SENDER = 5
/** To one recipient from all senders. Above, a sender that has sent fewer than the next figure still sends. */
const MAILS_PER_RECIPIENT = 20
const MAILS_PER_SENDER_ABOVE = 2
/** When a caller may try again after the mail server refused. */
const RETRY_AFTER_SECONDS = 300

const RECIPIENT_REASON = 'Codes stay valid for 15 minutes: check your mail, including spam.'

export interface SendLoginCodeDeps {
  readonly records: RecordStore
  readonly moderation: Pick<Moderation, 'callers'>
  readonly keys: SigningKeys
  readonly mailer: Mailer
  readonly now: () => number
  readonly publicUrl: () => string
}

export interface SendLoginCodeInput {
  readonly request: StartRequest
  /** Whose hourly signups this counts against, such as `ip:192.0.2.7`. */
  readonly address: string
  readonly signupsPerHour: number
}

/**
 * Sends a one-time code to an email address. It is good for 15 minutes, 5 attempts and one token, by whichever process.
 *
 * Mails are limited by sender and by recipient. A sender is an IPv4 address or an IPv6 /64, and towards one recipient the /48. In an hour it
 * sends as many mails as it may sign up, and 5 of them to one recipient. A recipient gets 20 from all senders; after that a sender still sends
 * it 2, so that nobody keeps the owner of an address from a code of his own, and a sender among many gains little. The code of one login is
 * of no use for another, so wrong answers to others take none of its attempts.
 *
 * Answers the same whether or not the address is known: it is never asked. When the mail cannot be sent, nothing is kept;
 * a mail that the server refused still counts against the limits, so that nobody can try addresses on it at will.
 *
 * @throws {LadeError} `invalid_email`, `caller_blocked`, `invalid_label`, `rate_limited`, `mail_failed`, `auth_offline`, `storage_failed`.
 */
export async function sendLoginCode(deps: SendLoginCodeDeps, input: SendLoginCodeInput): Promise<StartResult> {
  const { records, mailer } = deps
  const email = normalizeEmail(input.request.email)
  refuseBlockedEmail(deps.moderation, email)
  const label = labelOf(input.request.label)
  // Without a key no answer could ever become a token.
  const key = deps.keys.current()
  const loginCode = newLoginCode()
  const id = loginCodeId(loginCode.challenge)
  const now = deps.now()
  const hour = hourOf(now)
  const limits = limitsOf(input, email)
  const opened = await records.loginCodes.open({
    code: {
      id,
      email,
      label,
      codeDigest: codeDigest(loginCode),
      askedBy: input.address,
      emailCodeDigest: emailCodeDigest(key, { email, code: loginCode.code }),
      attemptsLeft: ATTEMPTS,
      expiresAt: now + MINUTES * 60_000,
    },
    hour,
    limits,
  })
  if (opened.outcome === 'limited') {
    const { address, used, limit } = opened
    const reached = reachedText(address, countText(used, 'code'))
    throw rateLimited(now, { used, limit, reached, ...(isOfRecipient(address) && { advice: RECIPIENT_REASON }) })
  }

  const mail = loginCodeMail({ to: email, code: loginCode.code, publicUrl: deps.publicUrl(), minutes: MINUTES })
  const withdraw = (addresses: readonly string[]) => records.loginCodes.withdraw({ id, hour, addresses })
  const sent = await mailer.send(mail).catch(async (error: unknown) => {
    await withdraw(limits.map(({ address }) => address))
    throw error
  })
  if (sent.outcome === 'refused') {
    await withdraw([])
    const cause = new Error(`The mail server rejected the mail: ${sent.reason}`)
    throw new LadeError('mail_failed', { retryAfterSeconds: RETRY_AFTER_SECONDS }, { cause })
  }
  return { sent: true, email, expiresIn: MINUTES * 60, challenge: loginCode.challenge }
}

function limitsOf({ address, signupsPerHour }: SendLoginCodeInput, email: string): HourlyLimit[] {
  const network = networkOf(address)
  const pair = `${network ?? address} ${recipientOf(email)}`
  return [
    { address, limit: signupsPerHour },
    ...(network === undefined ? [] : [{ address: network, limit: NETWORK_SHARES * signupsPerHour }]),
    { address: pair, limit: MAILS_PER_SENDER },
    {
      address: recipientOf(email),
      limit: MAILS_PER_RECIPIENT,
      unlessBelow: { address: pair, limit: MAILS_PER_SENDER_ABOVE },
    },
  ]
}

function recipientOf(email: string): string {
  return `mail:${email}`
}

function reachedText(address: string, codes: string): string {
  if (address.startsWith('mail:')) return `This email address has received ${codes} this hour, the maximum.`
  const whose = isOfRecipient(address) ? ' for this email address' : ''
  return `This IP address has requested ${codes}${whose} this hour, the maximum.`
}

function isOfRecipient(address: string): boolean {
  return address.includes('mail:')
}
