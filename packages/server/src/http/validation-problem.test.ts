import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { frameworkProblem } from './validation-problem.ts'

const failure = (fields: object) => Object.assign(new Error('secret'), { code: 'FST_ERR_VALIDATION' }, fields)
const invalid = (instancePath: string, fault: object = {}, validationContext = 'body') =>
  failure({
    validation: [{ instancePath, message: "Invalid input: a validator's words", ...fault }],
    validationContext,
  })

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
    ['/quotaMb', 'bad_request'],
    ['/', 'bad_request'],
  ])('refuses the body field %j under %s', (path, code) => {
    expect(frameworkProblem(invalid(path), { body: {} }).code).toBe(code)
  })

  it('refuses anything but the body as bad_request, and names the field', () => {
    const problem = frameworkProblem(invalid('/limit', {}, 'querystring'), { query: { limit: 'x' } })
    expect([problem.code, problem.message]).toEqual([
      'bad_request',
      'The query parameter limit has a value that is not accepted here.',
    ])
  })

  it.each([
    ['label', { keyword: 'invalid_type', params: { expected: 'string' } }, {}, 'label is missing.'],
    [
      'quotaMb',
      { keyword: 'invalid_type', params: { expected: 'int' } },
      { quotaMb: 1.5 },
      'quotaMb is 1.5, but it must be a whole number.',
    ],
    [
      'scopes/1',
      { keyword: 'invalid_value', params: { values: ['put', 'get'] } },
      { scopes: ['put', 'write'] },
      'scopes[1] is "write", but it must be one of put, get.',
    ],
    [
      'jti',
      { keyword: 'invalid_format', params: { format: 'uuid' } },
      { jti: 'x' },
      'jti is "x", but it must be a UUID, such as 0b4e3f6a-8f2c-4b0e-9d5e-2f6a1c7d8e90. GET /api/tokens lists yours.',
    ],
    [
      'ttlDays',
      { keyword: 'too_big', params: { origin: 'number', maximum: 365 } },
      { ttlDays: 366 },
      'ttlDays is 366, but it must be at most 365.',
    ],
    [
      'label',
      { keyword: 'too_small', params: { origin: 'string', minimum: 1 } },
      { label: '' },
      'label is "", but it must be at least 1 character long.',
    ],
    ['', { keyword: 'invalid_type', params: { expected: 'object' } }, [], /^The body must be a JSON object/],
  ])('says of the field %j what it may be, in our own words', (path, fault, body, sentence) => {
    const { message } = frameworkProblem(invalid(`/${path}`, fault), { body })
    expect(message).toEqual(typeof sentence === 'string' ? sentence : expect.stringMatching(sentence))
  })

  it('says which fields a body can have, after one that it cannot', () => {
    const fault = { keyword: 'unrecognized_keys', params: { keys: ['name'] } }
    const of = { body: { name: 'x' }, bodyFields: ['filename', 'termDays'] }
    expect(frameworkProblem(invalid('/', fault), of).message).toBe(
      'The body has fields that are not known here: name. It can have: filename, termDays.',
    )
  })

  it('repeats no long value, and calls a missing body no JSON', () => {
    const fault = { keyword: 'invalid_type', params: { expected: 'boolean' } }
    expect(frameworkProblem(invalid('/keepLinks', fault), { body: { keepLinks: 'x'.repeat(100) } }).message).toBe(
      'keepLinks must be true or false.',
    )
    expect(frameworkProblem(invalid('/', fault), { body: undefined })).toMatchObject({
      code: 'invalid_json',
      message: expect.stringContaining('There is no body.'),
    })
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
    const request = { bodyLimitBytes: 1000, headers: { 'content-length': '2000' } }
    expect(frameworkProblem(tooLarge, request)).toMatchObject({
      evidence: { limit: 1000, size: 2000 },
      message: 'The JSON body has 2,000 bytes; this endpoint reads at most 1,000.',
    })
  })

  it('leaves a LadeError as it is, and hides anything else', () => {
    const known = new LadeError('not_found', {})
    expect(frameworkProblem(known)).toBe(known)
    const hidden = frameworkProblem(new Error('secret'))
    expect([hidden.code, hidden.message.includes('secret')]).toEqual(['internal_error', false])
  })
})
