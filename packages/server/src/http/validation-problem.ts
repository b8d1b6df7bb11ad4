import { LadeError } from '@lade/core/errors'
import { MAX_HEAD_BYTES, MAX_JSON_BYTES } from '@lade/core/wire'
import type { FastifyError } from 'fastify'
import { faultOfField, type RefusedField } from './field-fault.ts'
import { asLadeError } from './problem.ts'

/** What was sent, as far as the framework has read it. */
export interface RefusedRequest {
  readonly body?: unknown
  readonly query?: unknown
  readonly params?: unknown
  readonly headers?: Readonly<Record<string, unknown>>
  /** The fields that the body may have, where the route says. */
  readonly bodyFields?: readonly string[] | undefined
  /** The largest body that the route reads. @default MAX_JSON_BYTES */
  readonly bodyLimitBytes?: number | undefined
}

/**
 * Says what fastify refused in the codes of this API, and in sentences of our own: a body field by its own code, any other by `bad_request`.
 */
export function frameworkProblem(error: FastifyError | Error, request: RefusedRequest = {}): LadeError {
  if (LadeError.is(error)) return error
  if (!('code' in error)) return asLadeError(error)
  if ('validation' in error && error.validation !== undefined) return validationProblem(error, request)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE': {
      const { bodyLimitBytes: limit = MAX_JSON_BYTES, headers } = request
      const size = Number(headers?.['content-length'] ?? limit + 1)
      const reason = `The JSON body has ${size.toLocaleString('en-US')} bytes; this endpoint reads at most ${limit.toLocaleString('en-US')}.`
      return new LadeError('too_large', { limit, size, reason })
    }
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new LadeError('invalid_content_type', { reason: mediaTypeFault(request.headers?.['content-type']) })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new LadeError('invalid_json', { reason: NO_BODY })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new LadeError('bad_request', {
        reason: 'The body is shorter or longer than its Content-Length. Send the request again.',
      })
    case 'FST_ERR_BAD_URL':
      return new LadeError('bad_request', {
        reason: 'The percent-encoding of the path is malformed or not UTF-8. A percent sign itself is %25.',
      })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new LadeError('headers_too_large', { limitBytes: MAX_HEAD_BYTES })
    default:
      return asLadeError(error)
  }
}

const NO_BODY = 'There is no body. Send a JSON object, with Content-Type: application/json.'

function mediaTypeFault(sent: unknown): string {
  const named =
    typeof sent === 'string' ? `Content-Type is ${JSON.stringify(sent.slice(0, 60))}` : 'There is no Content-Type'
  return `${named}; this endpoint reads application/json.`
}

function validationProblem(error: FastifyError, request: RefusedRequest): LadeError {
  const first: RefusedField = error.validation?.[0] ?? { instancePath: '' }
  const isOfBody = error.validationContext === 'body'
  if (isOfBody && request.body === undefined) return new LadeError('invalid_json', { reason: NO_BODY })
  const sent = isOfBody ? request.body : error.validationContext === 'params' ? request.params : request.query
  const reason = faultOfField(first, sent, isOfBody ? 'field' : 'parameter', request.bodyFields)
  if (!isOfBody) return new LadeError('bad_request', { reason })
  switch (first.instancePath.split('/')[1]) {
    case 'email':
      return new LadeError('invalid_email', { reason })
    case 'label':
      return new LadeError('invalid_label', { reason })
    case 'scopes':
      return new LadeError('invalid_scopes', { reason })
    case 'jti':
      return new LadeError('invalid_jti', { reason: `${reason} GET /api/tokens lists yours.` })
    case 'parts':
      return new LadeError('invalid_parts', { reason })
    case 'contentType':
      return new LadeError('invalid_content_type', { reason })
    case 'visibility':
      return new LadeError('invalid_visibility', { reason })
    case 'termDays':
    case 'days':
    case 'until':
      return new LadeError('invalid_term', { reason })
    case 'filename':
      return new LadeError('invalid_filename', { reason })
    default:
      return new LadeError('bad_request', { reason })
  }
}
