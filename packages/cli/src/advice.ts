import type { ErrorCode, ErrorEvidence, LadeError } from '@lade/core/errors'
import { countOf, formatBytes } from './output/amounts.ts'
import { formatSeconds } from './output/times.ts'

type Advice = { readonly [Code in ErrorCode]?: (evidence: ErrorEvidence[Code]) => string }

const LOG_IN = 'Log in with "lade login" or set LADE_TOKEN.'
/** What another service leaves out of its errors is left out here. */
const isKnown = (...numbers: readonly (number | undefined)[]) => numbers.every(Number.isFinite)

function again({ retryAfterSeconds }: { readonly retryAfterSeconds: number }): string {
  return isKnown(retryAfterSeconds) ? `Try again in ${formatSeconds(retryAfterSeconds)}.` : 'Try again later.'
}

function usedUp({ used, limit, unit }: ErrorEvidence['quota_exceeded']): string {
  // The error itself says how many files.
  if (unit === 'files') return ''
  return isKnown(used, limit) ? `${formatBytes(used)} of ${formatBytes(limit)} used. ` : ''
}

function quota(evidence: ErrorEvidence['quota_exceeded']): string {
  if (evidence.limit === 0) return 'The quota is 0. Use another token, or fund the wallet with USDC.'
  return usedUp(evidence) + again(evidence)
}

function tooLarge({ size, limit }: { readonly size: number; readonly limit: number }): string {
  return isKnown(size, limit)
    ? `It has ${size.toLocaleString('en-US')} bytes; the limit is ${limit.toLocaleString('en-US')}.`
    : 'Upload a smaller file.'
}

function attempts({ attemptsLeft }: { readonly attemptsLeft: number }): string {
  if (!isKnown(attemptsLeft)) return 'Try again.'
  if (attemptsLeft === 0) return 'No attempts are left. Run the command again to get a new code.'
  return `${countOf(attemptsLeft, 'attempt')} ${attemptsLeft === 1 ? 'is' : 'are'} left.`
}

/** What to do next, for the errors that somebody at a shell can do something about. */
const ADVICE: Advice = {
  no_token: () => LOG_IN,
  invalid_token: () => LOG_IN,
  revoked_token: () => LOG_IN,
  insufficient_scope: ({ required }) => `The required scope is ${required}. Create a token with it: "lade token new".`,
  invalid_signature: () =>
    'Check --wallet, --chain-id and the clock of this machine. --url must be the public URL of the service. "lade doctor" checks all of these.',
  replayed_signature: () => 'Try again.',
  chain_offline: again,
  signup_closed: () => 'The operator mints one with "lade keys mint".',
  email_code_required: () => '"lade login --email ADDRESS" requests the code and asks for it.',
  invalid_challenge: () => 'Leave out --challenge to get a new code.',
  invalid_code: attempts,
  mail_failed: (evidence) => `Check the address. ${again(evidence)}`,
  not_found: () => 'Check the id: "lade ls" lists your files. Private files need "lade login".',
  too_large: tooLarge,
  rate_limited: again,
  quota_exceeded: quota,
  too_many_uploads: () => 'Wait for other uploads to finish, or lower --jobs.',
  over_budget: again,
  insufficient_storage: () => 'The operator must free disk space or lower LADE_MIN_FREE_MB.',
  storage_offline: () => 'The operator must set LADE_STORAGE.',
  storage_failed: again,
  read_only: () =>
    'The operator must make the disk or database of the service writable. "lade doctor" on that machine checks both.',
  shutting_down: again,
  lease_lost: again,
  incomplete_body: () => 'Upload it again. The file may have been truncated during the upload.',
  not_enough_provers: ({ available }) =>
    isKnown(available) ? `Ask for at most ${available}.` : 'Ask for fewer copies.',
  deal_ended: ({ dealStatus }) => `Its status is ${dealStatus}.`,
  not_placed: ({ dealStatus }) => `Its deal is ${dealStatus}. "lade deals" shows the status.`,
  prove_failed: again,
  unreachable: () => 'Start a service with "lade serve", choose another with --url, or run "lade doctor".',
  unexpected_answer: () => 'Check the URL, or run "lade doctor".',
  source_changed: () => 'Upload it again when no program is writing to it.',
  cid_conflict: () => 'Use an id computed from the bytes; "lade hash" prints them.',
}

/** What to do about `error`, as one or two sentences, if anything. */
export function adviceFor<Code extends ErrorCode>(error: LadeError<Code>): string | undefined {
  return ADVICE[error.code]?.(error.evidence)
}
