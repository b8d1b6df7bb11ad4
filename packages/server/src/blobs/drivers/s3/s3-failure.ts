import { LadeError } from '@lade/core/errors'

/** How long a caller is asked to wait for space: an operator or a sweep has to make it. */
const SPACE_RETRY_SECONDS = 60
/** How long a caller is asked to wait after any other failure, unless the store has named a time. */
const FAILURE_RETRY_SECONDS = 10

/** What a failure means for the next try. */
export type S3FailureKind =
  /** The same request may succeed a moment later. */
  | 'transient'
  /** The store has no room, or the account none left. */
  | 'no-room'
  /** The store says that the thing itself is not there: a key or an upload, never the bucket. */
  | 'absent'
  /** A condition of the request does not hold. */
  | 'condition'
  /** The store does not know a header of the request. */
  | 'unsupported'
  | 'permanent'

/** A call to the store that failed, in words that hold no key, no signature and no name of an object. */
export class S3Failure extends Error {
  readonly kind: S3FailureKind
  readonly status: number | undefined
  readonly code: string
  /** How long the store asks to be left alone. */
  readonly retryAfterMs: number | undefined

  constructor(
    operation: string,
    facts: {
      kind: S3FailureKind
      code: string
      status?: number | undefined
      requestId?: string | undefined
      retryAfterMs?: number | undefined
    },
  ) {
    const status = facts.status === undefined ? '' : ` ${facts.status}`
    const id = facts.requestId === undefined ? '' : ` (request ${facts.requestId})`
    super(`${operation}:${status} ${facts.code}${id}`)
    this.kind = facts.kind
    this.status = facts.status
    this.code = facts.code
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** True when `error` is a failure of one of these kinds. */
export function isFailure(error: unknown, ...kinds: readonly S3FailureKind[]): error is S3Failure {
  return error instanceof S3Failure && kinds.includes(error.kind)
}

/** What the port says for `error`: itself when it already speaks the port's language. */
export function asPortError(error: unknown): LadeError | TypeError {
  if (LadeError.is(error) || error instanceof TypeError) return error
  if (isFailure(error, 'no-room')) {
    return new LadeError('insufficient_storage', { retryAfterSeconds: SPACE_RETRY_SECONDS }, { cause: error })
  }
  const asked = error instanceof S3Failure ? error.retryAfterMs : undefined
  const retryAfterSeconds = asked === undefined ? FAILURE_RETRY_SECONDS : Math.max(1, Math.ceil(asked / 1000))
  return new LadeError('storage_failed', { retryAfterSeconds }, { cause: error })
}

/** Runs `work` and translates whatever it throws, once, at the edge of the driver. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asPortError(error)
  }
}

/** Runs `work`; undefined when the store says that it is not there, and every other failure as it is. */
export async function unlessAbsent<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (isFailure(error, 'absent')) return undefined
    throw error
  }
}
