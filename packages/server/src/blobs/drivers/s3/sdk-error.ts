import { S3Failure, type S3FailureKind } from './s3-failure.ts'

const ABSENT = ['NoSuchKey', 'NoSuchUpload']
const CONDITION = ['PreconditionFailed']
const UNSUPPORTED = ['NotImplemented']
const NO_ROOM = ['QuotaExceeded', 'EntityTooLarge', 'InsufficientStorage', 'XMinioStorageFull', 'ServiceQuotaExceeded']
/** Also bytes that arrived other than they were sent: a second try sends them again. */
const TRANSIENT = [
  'BadDigest',
  'ConditionalRequestConflict',
  'IncompleteBody',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'ServiceUnavailable',
  'SlowDown',
  'SlowDownRead',
  'SlowDownWrite',
  'Throttling',
  'XAmzContentSHA256Mismatch',
]
const TRANSIENT_STATUS = [408, 409, 425, 429, 500, 502, 503, 504]
/** What the SDK throws before it has asked anybody: nothing will change by asking again. */
const BEFORE_ANY_REQUEST = [
  'CredentialsProviderError',
  'TokenProviderError',
  'InvalidCredentialsError',
  'RegionMissing',
]

/** An error of the SDK in this driver's words. Of its fields only those are read that cannot hold a secret. */
export function failureOf(operation: string, error: unknown): S3Failure {
  if (error instanceof S3Failure) return error
  const status = statusOf(error)
  const code = textField(error, 'Code') ?? nameOf(error)
  const requestId = textField(field(error, '$metadata'), 'requestId')
  return new S3Failure(operation, {
    kind: kindOf(status, code),
    code: code.slice(0, 80),
    status,
    requestId: requestId?.slice(0, 80),
    retryAfterMs: retryAfterMs(error),
  })
}

function kindOf(status: number | undefined, code: string): S3FailureKind {
  if (ABSENT.includes(code)) return 'absent'
  if (NO_ROOM.includes(code) || status === 507) return 'no-room'
  if (CONDITION.includes(code) || status === 412) return 'condition'
  if (UNSUPPORTED.includes(code) || status === 501) return 'unsupported'
  if (TRANSIENT.includes(code)) return 'transient'
  if (status === undefined) return BEFORE_ANY_REQUEST.includes(code) ? 'permanent' : 'transient'
  // The answer to a HEAD has no body, and a refusal of 400 may be one that passes, such as a time-out.
  if (status === 400 && code.startsWith('Unknown')) return 'transient'
  // An answer of success that cannot be read was damaged on its way.
  return TRANSIENT_STATUS.includes(status) || status < 300 ? 'transient' : 'permanent'
}

function statusOf(error: unknown): number | undefined {
  const status = field(field(error, '$metadata'), 'httpStatusCode') ?? field(field(error, '$response'), 'statusCode')
  return typeof status === 'number' ? status : undefined
}

/** A failed system call by its code (`ECONNRESET`), everything else by its name; the SDK has none for a missing region. */
function nameOf(error: unknown): string {
  if (textField(error, 'message') === 'Region is missing') return 'RegionMissing'
  return textField(error, 'code') ?? textField(error, 'name') ?? 'UnknownError'
}

function retryAfterMs(error: unknown): number | undefined {
  const text = textField(field(field(error, '$response'), 'headers'), 'retry-after')
  if (text === undefined) return undefined
  const seconds = Number(text)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function textField(value: unknown, name: string): string | undefined {
  const found = field(value, name)
  return typeof found === 'string' && found !== '' ? found : undefined
}
