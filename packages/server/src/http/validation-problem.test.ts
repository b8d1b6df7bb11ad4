import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { frameworkProblem } from './validation-problem.ts'

const failure = (fields: object) => Object.assign(new Error('secret'), { code: 'FST_ERR_VALIDATION' }, fields)
const invalid = (instancePath: string, validationContext = 'body') =>
  failure({ validation: [{ instancePath, message: 'is wrong' }], validationContext })

describe('frameworkProblem', () => {
  it.each([
    ['/email', 'invalid_email'],
    ['/label', 'invalid_label'],
    ['/scopes', 'invalid_scopes'],
    ['/scopes/1', 'invalid_scopes'],
    ['/jti', 'invalid_jti'],
    ['/parts/3', 'invalid_parts'],
    ['/contentType', 'invalid_content_type'],
    ['/filename', 'invalid_filename'],
    ['/quotaMb', 'invalid_json'],
    ['', 'invalid_json'],
  ])('refuses the body field %j under %s', (path, code) => {
    expect(frameworkProblem(invalid(path)).code).toBe(code)
  })

  it('refuses anything but the body as bad_request, and names the field', () => {
    const problem = frameworkProblem(invalid('/limit', 'querystring'))
    expect([problem.code, problem.message]).toEqual(['bad_request', expect.stringContaining('"limit": is wrong.')])
  })

  it.each([
    ['FST_ERR_CTP_BODY_TOO_LARGE', 'too_large'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'invalid_content_type'],
    ['FST_ERR_CTP_EMPTY_JSON_BODY', 'invalid_json'],
    ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', 'bad_request'],
    ['FST_ERR_BAD_URL', 'bad_request'],
    ['FST_ERR_MAX_PARAM_LENGTH', 'headers_too_large'],
    ['ERR_SOMETHING_ELSE', 'internal_error'],
  ])('answers %s as %s', (code, expected) => {
    expect(frameworkProblem(failure({ code })).code).toBe(expected)
  })

  it('says how large a body the route reads', () => {
    const tooLarge = failure({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' })
    expect(frameworkProblem(tooLarge)).toMatchObject({ evidence: { limit: 65_536 } })
    expect(frameworkProblem(tooLarge, 1000)).toMatchObject({ evidence: { limit: 1000, size: 1001 } })
  })

  it('leaves a LadeError as it is, and hides anything else', () => {
    const known = new LadeError('not_found', {})
    expect(frameworkProblem(known)).toBe(known)
    const hidden = frameworkProblem(new Error('secret'))
    expect([hidden.code, hidden.message.includes('secret')]).toEqual(['internal_error', false])
  })
})
