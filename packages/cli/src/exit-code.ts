import { type ErrorCode, LadeError } from '@lade/core/errors'
import { describeSystemError, isSystemError, systemReason } from '@lade/node/disk/system-error'
import { ConfigError, StartError } from '@lade/node/settings'
import { CommanderError } from 'commander'
import { adviceFor, inCommands } from './advice.ts'
import { printable } from './output/printable.ts'
import { LocalError, UsageError } from './usage-error.ts'

/** What the program's end says to the shell. */
export const EXIT = {
  ok: 0,
  /** Whatever has no code of its own; also the answer "no" of `lade verify`, and broken findings of `lade doctor`. */
  failed: 1,
  /** The command line, a variable or a file of settings is wrong, and nothing was begun. */
  usage: 2,
  /** Bytes do not have the content id that they are said to have. */
  mismatch: 3,
  notFound: 4,
  /** A quota or a limit is reached. */
  limited: 5,
  /** The service does not answer, or cannot for now. */
  unreachable: 6,
  /** There is no token, or it is not good for this. */
  refused: 7,
  /** By Ctrl-C or SIGTERM. */
  interrupted: 130,
  /** Whoever read the output has gone, as shells report it of programs that SIGPIPE ended. */
  unread: 141,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** How each code of the service ends the program. A new one does not compile until it stands here. */
const EXIT_OF = {
  bad_request: EXIT.failed,
  headers_too_large: EXIT.failed,
  body_timeout: EXIT.failed,
  request_timeout: EXIT.failed,
  expectation_failed: EXIT.failed,
  misdirected_request: EXIT.failed,
  length_required: EXIT.failed,
  invalid_cid: EXIT.usage,
  no_body: EXIT.failed,
  empty_body: EXIT.failed,
  invalid_content_type: EXIT.usage,
  unsupported_encoding: EXIT.failed,
  unsupported_media_type: EXIT.usage,
  invalid_filename: EXIT.usage,
  invalid_term: EXIT.usage,
  invalid_visibility: EXIT.usage,
  invalid_json: EXIT.failed,
  invalid_email: EXIT.usage,
  invalid_label: EXIT.usage,
  invalid_scopes: EXIT.usage,
  invalid_jti: EXIT.usage,
  invalid_cursor: EXIT.failed,
  idempotency_key_reused: EXIT.failed,
  not_found: EXIT.notFound,
  method_not_allowed: EXIT.failed,
  internal_error: EXIT.failed,
  no_token: EXIT.refused,
  invalid_token: EXIT.refused,
  revoked_token: EXIT.refused,
  insufficient_scope: EXIT.refused,
  unverified_account: EXIT.refused,
  invalid_session: EXIT.refused,
  admin_refused: EXIT.refused,
  signup_closed: EXIT.refused,
  foreign_origin: EXIT.refused,
  caller_blocked: EXIT.refused,
  email_code_required: EXIT.refused,
  invalid_challenge: EXIT.refused,
  invalid_code: EXIT.refused,
  mail_failed: EXIT.unreachable,
  auth_offline: EXIT.failed,
  invalid_signature: EXIT.refused,
  replayed_signature: EXIT.refused,
  digest_mismatch: EXIT.mismatch,
  invalid_nonce: EXIT.refused,
  chain_offline: EXIT.unreachable,
  too_large: EXIT.limited,
  rate_limited: EXIT.limited,
  quota_exceeded: EXIT.limited,
  too_many_uploads: EXIT.limited,
  over_budget: EXIT.limited,
  insufficient_storage: EXIT.limited,
  storage_offline: EXIT.unreachable,
  storage_failed: EXIT.unreachable,
  read_only: EXIT.unreachable,
  shutting_down: EXIT.unreachable,
  incomplete_body: EXIT.failed,
  cid_mismatch: EXIT.mismatch,
  cid_conflict: EXIT.failed,
  invalid_car: EXIT.mismatch,
  incomplete_dag: EXIT.mismatch,
  invalid_parts: EXIT.failed,
  missing_parts: EXIT.failed,
  missing_entries: EXIT.failed,
  private_entries: EXIT.failed,
  foreign_parts: EXIT.failed,
  not_enough_provers: EXIT.failed,
  deal_ended: EXIT.failed,
  not_placed: EXIT.failed,
  prove_failed: EXIT.failed,
  offset_mismatch: EXIT.failed,
  upload_in_use: EXIT.failed,
  not_appendable: EXIT.failed,
  checksum_mismatch: EXIT.failed,
  unsupported_tus_version: EXIT.failed,
  lease_lost: EXIT.failed,
  stage_failed: EXIT.failed,
  gone: EXIT.notFound,
  blocked: EXIT.refused,
  precondition_failed: EXIT.failed,
  range_not_satisfiable: EXIT.failed,
  not_acceptable: EXIT.failed,
  not_implemented: EXIT.failed,
  invalid_redirects: EXIT.failed,
  only_if_cached: EXIT.failed,
  invalid_share_link: EXIT.refused,
  unreachable: EXIT.unreachable,
  unexpected_answer: EXIT.failed,
  source_changed: EXIT.failed,
} as const satisfies Record<ErrorCode, ExitCode>

/** Ends the program with a code, by a command that has said itself what there is to say, or says it with `sentence`. */
export class Ended extends Error {
  override readonly name = 'Ended'
  readonly exitCode: ExitCode
  readonly sentence: string | undefined

  constructor(exitCode: ExitCode, sentence?: string) {
    super(sentence ?? `ended with ${exitCode}`)
    this.exitCode = exitCode
    this.sentence = sentence
  }
}

/** The reason with which work is given up after Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'

  /** @param consequence - what the work that was given up leaves, as a sentence. */
  constructor(consequence?: string) {
    super(consequence === undefined ? 'Interrupted.' : `Interrupted. ${consequence}`)
  }
}

/** How to end: the exit code, and the sentence to print when it has not been printed. */
export interface Ending {
  readonly exitCode: ExitCode
  readonly sentence?: string
  /** True when commander has printed the sentence. */
  readonly isPrinted?: boolean
}

/**
 * How `error` ends the program, or `undefined` for an error that nobody foresaw, which deserves its stack.
 *
 * @example
 * endingOf(new ConfigError('LADE_PORT is "x", but it must be …')) // { exitCode: 2, sentence: 'LADE_PORT is …' }
 */
export function endingOf(error: unknown): Ending | undefined {
  // Commander has printed its own sentence, and gives 0 for --help and --version.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { exitCode: EXIT.ok }
    return { exitCode: EXIT.usage, sentence: commanderSentence(error), isPrinted: true }
  }
  if (error instanceof Ended) {
    const { exitCode, sentence } = error
    return sentence === undefined ? { exitCode } : { exitCode, sentence }
  }
  if (error instanceof Interrupted) return { exitCode: EXIT.interrupted, sentence: error.message }
  if (error instanceof UsageError || error instanceof ConfigError)
    return { exitCode: EXIT.usage, sentence: error.message }
  if (error instanceof StartError) return { exitCode: EXIT.failed, sentence: `${error.message}.`.replace(/\.\.$/, '.') }
  if (error instanceof LocalError) return { exitCode: EXIT.failed, sentence: withCause(error) }
  if (LadeError.is(error)) return { exitCode: EXIT_OF[error.code] ?? EXIT.failed, sentence: sentenceOf(error) }
  if (isSystemError(error)) return { exitCode: EXIT.failed, sentence: describeSystemError(error) }
  return undefined
}

/** Errors of which the service's log says more. */
const IN_THE_LOG: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'internal_error',
  'storage_failed',
  'stage_failed',
  'mail_failed',
])

/** What went wrong and what to do next. Whatever the service wrote is made fit for a terminal. */
export function sentenceOf(error: LadeError): string {
  const isLogged = IN_THE_LOG.has(error.code) && error.requestId !== undefined
  return inOneLine(detailOf(error), isLogged ? `Request id: ${error.requestId}.` : undefined)
}

/** The same for programs, which have the request id beside it. */
export function detailOf(error: LadeError): string {
  return inOneLine(whatHappened(error), adviceFor(error))
}

function inOneLine(...sentences: readonly (string | undefined)[]): string {
  return sentences
    .filter((sentence) => sentence !== undefined)
    .map(printable)
    .join(' ')
}

function whatHappened(error: LadeError): string {
  // Only what this machine found says more in its cause; that of an answer is how the answer was read.
  if (error.code === 'auth_offline' && error.cause instanceof Error) {
    return `The signing key cannot be used. ${withFullStop(error.cause.message)}`
  }
  return inCommands(error)
}

/** What commander says, as a sentence. @example commanderSentence(error) // 'Unknown option --foo.' for "error: unknown option '--foo'" */
function commanderSentence({ message }: CommanderError): string {
  const text = message
    .replace(/^error: /, '')
    .trim()
    // What it guesses is in brackets on a line of its own.
    .replace(/\n\((.+)\)$/, '. $1')
  return withFullStop(text.slice(0, 1).toUpperCase() + text.slice(1))
}

function withCause(error: Error): string {
  const { message, cause } = error
  if (!(cause instanceof Error)) return message
  // The message has named the file.
  if (isSystemError(cause)) return `${message.replace(/\.$/, '')}: ${systemReason(cause)}.`
  return `${message} ${withFullStop(cause.message)}`
}

function withFullStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
