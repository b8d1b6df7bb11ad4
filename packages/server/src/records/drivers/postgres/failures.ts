import { LadeError } from '@lade/core/errors'
import { OutcomeUnknown } from '../../outcome-unknown.ts'

/**
 * What a failure says about the transaction that met it.
 *
 * `again`: it was undone, and may go well when it is run again. `lost`: the connection broke or is of no use any more, so that nobody
 * knows what became of a COMMIT that was under way; everything before that was undone. `full`: no room. `fault`: it would fail again.
 */
export type Verdict = 'again' | 'lost' | 'full' | 'fault'

/** SQLSTATE codes; a class of two characters stands for all of its codes that are not listed. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
  // serialization_failure, deadlock_detected, lock_not_available
  '40001': 'again',
  '40P01': 'again',
  '55P03': 'again',
  // unique_violation: another transaction inserted the same thing first, which this one sees when it is run again.
  '23505': 'again',
  // query_canceled: by a time-out of ours.
  '57014': 'again',
  // feature_not_supported: a prepared statement whose table was changed by a newer program; invalid_sql_statement_name: one that
  // somebody in between forgot. A new connection prepares it anew.
  '0A000': 'lost',
  '26000': 'lost',
  // too_many_connections
  '53300': 'lost',
  // out_of_memory
  '53200': 'lost',
  // disk_full
  '53100': 'full',
  // read_only_sql_transaction: a standby that is being promoted.
  '25006': 'lost',
  // idle_in_transaction_session_timeout, transaction_timeout
  '25P03': 'lost',
  '25P04': 'lost',
  // connection exceptions; admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped and their like
  '08': 'lost',
  '57': 'lost',
  // system errors, such as a failed fsync or read
  '58': 'lost',
}

const SOCKET_CODES = new Set([
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'EMFILE',
  'ENETDOWN',
  'ENETRESET',
  'ENETUNREACH',
  'ENFILE',
  // The socket of a server on the same machine that is not running.
  'ENOENT',
  'ENOTCONN',
  'ENOTFOUND',
  'EPIPE',
  'EPROTO',
  'ERR_SOCKET_CLOSED',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ETIMEDOUT',
])

/** What `pg` 8 and its pool say when a connection ends, does not come about or does not answer; they give these no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|Query read timeout|timeout expired|timeout exceeded|Client (was closed|has encountered)|There was an error establishing an SSL connection|Received unexpected )/i

const UNIQUE_VIOLATION = '23505'
const LOCK_NOT_AVAILABLE = '55P03'

export function verdictOf(error: unknown): Verdict {
  if (!(error instanceof Error)) return 'fault'
  if (error instanceof OutcomeUnknown) return 'lost'
  const code = codeOf(error)
  if (SOCKET_CODES.has(code) || CONNECTION_MESSAGES.test(error.message)) return 'lost'
  if (!/^[0-9A-Z]{5}$/.test(code)) return 'fault'
  return VERDICTS[code] ?? VERDICTS[code.slice(0, 2)] ?? 'fault'
}

/** True when an answer was waited for in vain, so that nothing says that the connection broke. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout'
}

/** The SQLSTATE of a failure, or what the operating system calls it; empty for one that has neither. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** True when something like it is there already. */
export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION
}

/** True when a lock or row was waited for in vain. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === LOCK_NOT_AVAILABLE
}

/** True for the key of a write that is there already: the write was committed. */
export function isKeyTaken(error: unknown): boolean {
  return isUniqueViolation(error) && error instanceof Error && 'table' in error && error.table === 'write_keys'
}

const READ_ONLY_SQL_TRANSACTION = '25006'

/** A failure of the database, as callers see it. */
export function translatedFailure(cause: unknown): LadeError {
  if (cause instanceof LadeError) return cause
  if (codeOf(cause) === READ_ONLY_SQL_TRANSACTION)
    return new LadeError('read_only', { retryAfterSeconds: 5 }, { cause })
  return verdictOf(cause) === 'full'
    ? new LadeError('insufficient_storage', { retryAfterSeconds: 60 }, { cause })
    : new LadeError('storage_failed', { retryAfterSeconds: 5 }, { cause })
}
