import { LadeError } from '@lade/core/errors'
import { MAX_HEAD_BYTES, MAX_JSON_BYTES } from '@lade/core/wire'
import type { FastifyError } from 'fastify'
import { asLadeError } from './problem.ts'

/**
 * Says what fastify refused in the codes of this API: a body field by its own code, any other field by the code of
 * where it stood.
 *
 * @param bodyLimitBytes - the largest body that the route reads.
 */
export function frameworkProblem(error: FastifyError | Error, bodyLimitBytes = MAX_JSON_BYTES): LadeError {
  if (LadeError.is(error)) return error
  if (!('code' in error)) return asLadeError(error)
  if ('validation' in error && error.validation !== undefined) return validationProblem(error)
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new LadeError('too_large', { limit: bodyLimitBytes, size: bodyLimitBytes + 1 })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new LadeError('invalid_content_type', { reason: 'This endpoint accepts application/json.' })
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new LadeError('invalid_json', { reason: 'It is empty.' })
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new LadeError('bad_request', { reason: 'The body does not have its declared length.' })
    case 'FST_ERR_BAD_URL':
      return new LadeError('bad_request', { reason: 'The path cannot be decoded.' })
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new LadeError('headers_too_large', { limitBytes: MAX_HEAD_BYTES })
    default:
      return asLadeError(error)
  }
}

function validationProblem(error: FastifyError): LadeError {
  const first = error.validation?.[0]
  const path = (first?.instancePath ?? '').replace(/^\//, '')
  const [field = ''] = path.split('/')
  const message = first?.message ?? 'is not what it should be'
  const reason = `${path === '' ? 'It' : `"${path}"`}: ${message}.`
  if (error.validationContext !== 'body') return new LadeError('bad_request', { reason })
  switch (field) {
    case 'email':
      return new LadeError('invalid_email', { reason })
    case 'label':
      return new LadeError('invalid_label', { reason })
    case 'scopes':
      return new LadeError('invalid_scopes', { reason })
    case 'jti':
      return new LadeError('invalid_jti', { reason })
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
      return new LadeError('invalid_json', { reason })
  }
}
