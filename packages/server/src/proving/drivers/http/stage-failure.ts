import { LadeError } from '@lade/core/errors'

/** What is waited after an answer that never came, or made no sense. */
const RETRY_AFTER_SECONDS = 30
/** What is waited where the prover asks to wait and does not say how long. */
const BUSY_SECONDS = 60
const LONGEST_WAIT_SECONDS = 24 * 3600
const REASON_CHARACTERS = 200

/** The head of an answer, as far as it decides what becomes of it. */
export interface AnswerHead {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** It may be different later: no answer, or one that makes no sense. */
export function unusable(
  reason: string,
  options: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
): LadeError {
  const { retryAfterSeconds = RETRY_AFTER_SECONDS, cause } = options
  return new LadeError('stage_failed', { reason: plainText(reason), retryAfterSeconds }, { cause })
}

/** It will not be different later. */
export function refused(reason: string): LadeError {
  return new LadeError('stage_failed', { reason: plainText(reason) })
}

/** What an answer means that is not the one asked for. 4xx is for good, apart from those that ask to retry later. */
export function refusalOf({ status, headers }: AnswerHead, body: Uint8Array): LadeError {
  const text = plainText(Buffer.from(body).toString('utf8'))
  const reason = text === '' ? `The prover answered ${status}.` : `The prover answered ${status}: ${text}`
  if (status === 429 || status === 503) {
    return unusable(reason, { retryAfterSeconds: retryAfterOf(headers['retry-after']) ?? BUSY_SECONDS })
  }
  const isFinal = status >= 400 && status < 500 && status !== 408 && status !== 425
  return isFinal ? refused(reason) : unusable(reason)
}

/** True for a failure that a repetition may not meet. */
export function isPassing(error: unknown): boolean {
  return LadeError.has(error, 'stage_failed') && error.evidence.retryAfterSeconds !== undefined
}

/** Texts of others become one short line without control or formatting characters. */
function plainText(text: string): string {
  const line = text
    .slice(0, 4 * REASON_CHARACTERS)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  return line.length > REASON_CHARACTERS ? `${line.slice(0, REASON_CHARACTERS)}…` : line
}

/** Seconds or a date (RFC 9110, section 10.2.3), at least one second and at most a day. */
function retryAfterOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const seconds = /^\d{1,10}$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), LONGEST_WAIT_SECONDS)
}
