import type { ErrorCode, ErrorEvidence, LadeError } from '@lade/core/errors'
import { countOf, formatBytes } from './output/amounts.ts'
import { formatSeconds } from './output/times.ts'

type Advice = { readonly [Code in ErrorCode]?: (evidence: ErrorEvidence[Code]) => string }

const LOG_IN = 'Log in with "lade login", or set LADE_TOKEN.'
/** What another service leaves out of its errors is left out here. */
const isKnown = (...numbers: readonly (number | undefined)[]) => numbers.every(Number.isFinite)

function again({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): string {
  return isKnown(retryAfterSeconds) ? `Try again in ${formatSeconds(retryAfterSeconds)}.` : 'Try again later.'
}

function usedUp({ used, limit, unit }: ErrorEvidence['quota_exceeded']): string {
  // The error itself says how many files.
  if (unit === 'files') return ''
  return isKnown(used, limit) ? `${formatBytes(used)} of ${formatBytes(limit)} are used. ` : ''
}

function quota(evidence: ErrorEvidence['quota_exceeded']): string {
  if (evidence.limit === 0)
    return 'Nothing may be put with it: a token has a quota, and a wallet what its USDC stands for.'
  return usedUp(evidence) + again(evidence)
}

function tooLarge({ size, limit }: { readonly size: number; readonly limit: number }): string {
  return isKnown(size, limit)
    ? `It has ${size.toLocaleString('en-US')} bytes, and at most ${limit.toLocaleString('en-US')} are taken.`
    : 'Put less at once.'
}

function attempts({ attemptsLeft }: { readonly attemptsLeft: number }): string {
  if (!isKnown(attemptsLeft)) return 'Try again.'
  if (attemptsLeft === 0) return 'No attempt is left; start again, and another code is mailed.'
  return `${countOf(attemptsLeft, 'attempt')} ${attemptsLeft === 1 ? 'is' : 'are'} left.`
}

/** What to do next, for the errors that somebody at a shell can do something about. */
const ADVICE: Advice = {
  no_token: () => LOG_IN,
  invalid_token: () => LOG_IN,
  revoked_token: () => LOG_IN,
  insufficient_scope: ({ required }) => `It needs the scope ${required}; "lade token new" makes a token that has it.`,
  invalid_signature: () =>
    'Check --wallet, --chain-id and the clock of this machine, and that --url is the address that the service itself goes by; "lade doctor" looks closer.',
  replayed_signature: () => 'Try again.',
  chain_offline: again,
  signup_closed: () => 'Ask the operator for a token, who mints it with "lade keys mint".',
  email_code_required: () => '"lade login --email" has the code mailed, and asks for it.',
  invalid_challenge: () => 'Leave out --challenge, and another code is mailed.',
  invalid_code: attempts,
  mail_failed: (evidence) => `Check the address. ${again(evidence)}`,
  not_found: () => 'Check the id; "lade ls" lists what is yours, and private files need their owner\'s token.',
  too_large: tooLarge,
  rate_limited: again,
  quota_exceeded: quota,
  too_many_uploads: () => 'Wait for others to end, or put fewer side by side with --jobs.',
  over_budget: again,
  insufficient_storage: () => 'The operator has to make room, or to lower LADE_MIN_FREE_MB.',
  storage_offline: () => 'The operator has to set LADE_STORAGE.',
  storage_failed: again,
  read_only: () =>
    'The operator has to make the disk or the database of the service writable; "lade doctor" there looks closer.',
  shutting_down: again,
  lease_lost: again,
  incomplete_body: () => 'Put it again; the file may have become shorter meanwhile.',
  not_enough_provers: ({ available }) =>
    isKnown(available) ? `Ask for at most ${available}, which is all there are.` : 'Ask for fewer.',
  deal_ended: ({ dealStatus }) => `It is ${dealStatus}.`,
  not_placed: ({ dealStatus }) => `Its deal is ${dealStatus}; "lade deals" shows how it stands.`,
  prove_failed: again,
  unreachable: () => '"lade serve" starts a service, --url names another one, and "lade doctor" looks closer.',
  unexpected_answer: () => 'Check the address; "lade doctor" looks closer.',
  source_changed: () => 'Put it again once nothing writes to it.',
  cid_conflict: () => 'Use an id that is made from the bytes, as "lade hash" prints them.',
}

/** What to do about `error`, as one or two sentences, if anything. */
export function adviceFor<Code extends ErrorCode>(error: LadeError<Code>): string | undefined {
  return ADVICE[error.code]?.(error.evidence)
}
