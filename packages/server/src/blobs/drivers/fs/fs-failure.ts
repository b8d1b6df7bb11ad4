import { constants } from 'node:os'
import { LadeError } from '@lade/core/errors'

/** How long a caller is asked to wait for space: an operator or a sweep has to make it. */
const SPACE_RETRY_SECONDS = 60
/** How long a caller is asked to wait after any other failure of the disk. */
const FAILURE_RETRY_SECONDS = 10

/** True when `error` is a failed system call with one of these codes, such as `ENOENT`. */
export function hasErrno(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
}

/** True when the medium had no room: the one failure that says nothing about its health. */
export function isOutOfSpace(error: unknown): boolean {
  return hasErrno(error, 'ENOSPC', 'EDQUOT') || isOverDiskQuota(error)
}

/** Node has no name for EDQUOT and reports it by number alone. */
function isOverDiskQuota(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === -constants.errno.EDQUOT
}

/** True when the file system takes no writes at all: it is mounted read-only, or an error has made it so. */
export function isReadOnly(error: unknown): boolean {
  return hasErrno(error, 'EROFS')
}

export function insufficientStorage(cause?: unknown): LadeError {
  return new LadeError('insufficient_storage', { retryAfterSeconds: SPACE_RETRY_SECONDS }, { cause })
}

/** What the port says for `error`: itself when it already speaks the port's language, else by its errno. */
export function asPortError(error: unknown): LadeError | TypeError {
  if (LadeError.is(error) || error instanceof TypeError) return error
  if (isOutOfSpace(error)) return insufficientStorage(error)
  if (isReadOnly(error))
    return new LadeError('read_only', { retryAfterSeconds: FAILURE_RETRY_SECONDS }, { cause: error })
  return new LadeError('storage_failed', { retryAfterSeconds: FAILURE_RETRY_SECONDS }, { cause: error })
}

/** Runs `work` and translates whatever it throws, once, at the edge of the driver. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asPortError(error)
  }
}

/** Runs `work`; a missing file or directory gives `undefined`, and every other failure is thrown as it is. */
export async function unlessMissing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined
    throw error
  }
}
