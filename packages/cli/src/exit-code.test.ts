import { ERROR_SENTENCES, type ErrorCode, LadeError } from '@lade/core/errors'
import { ConfigError } from '@lade/node/settings'
import { describe, expect, it } from 'vitest'
import { detailOf, Ended, EXIT, endingOf, Interrupted, sentenceOf } from './exit-code.ts'
import { LocalError, UsageError } from './usage-error.ts'

describe('endingOf', () => {
  it('has an exit code for every error of the service', () => {
    for (const code of Object.keys(ERROR_SENTENCES) as ErrorCode[]) {
      const ending = endingOf(new LadeError(code, {} as never, { detail: 'As the service says.' }))
      expect(ending?.exitCode, code).toBeGreaterThan(0)
      expect(ending?.sentence, code).toMatch(/^[A-Z].*\.$/)
    }
  })

  it.each<[unknown, number]>([
    [new LadeError('cid_mismatch', { expected: 'a', actual: 'b' }), 3],
    [new LadeError('not_found', {}), 4],
    [new LadeError('gone', { reason: 'expired' }), 4],
    [new LadeError('quota_exceeded', { used: 1, limit: 1, retryAfterSeconds: 1 }), 5],
    [new LadeError('unreachable', { url: 'http://x', reason: 'no' }), 6],
    [new LadeError('no_token', {}), 7],
    [new LadeError('invalid_email', { reason: 'no' }), 2],
    [new UsageError('no'), 2],
    [new ConfigError('no'), 2],
    [new LocalError('no'), 1],
    [new Interrupted(), 130],
    [new Ended(EXIT.failed), 1],
    [Object.assign(new Error('EACCES: permission denied'), { syscall: 'open' }), 1],
  ])('ends %s with %i', (error, exitCode) => {
    expect(endingOf(error)?.exitCode).toBe(exitCode)
  })

  it('says nothing of what nobody foresaw, and nothing again of what has been said', () => {
    expect(endingOf(new Error('?'))).toBeUndefined()
    expect(endingOf(new Ended(EXIT.failed))?.sentence).toBeUndefined()
  })
})

describe('sentenceOf', () => {
  it('says what to do next', () => {
    const used = { unit: 'bytes', used: 1_073_741_824, limit: 1_073_741_824, retryAfterSeconds: 18_000 } as const
    expect(sentenceOf(new LadeError('quota_exceeded', used))).toBe('1 GiB of 1 GiB used. Try again in 5 hours.')
    expect(sentenceOf(new LadeError('insufficient_scope', { required: 'pin', scopes: ['put', 'get'] }))).toBe(
      'This needs the scope pin; the token has put, get. Create a token with the scope pin: "lade token new".',
    )
    expect(sentenceOf(new LadeError('insufficient_scope', { required: 'pin', scopes: [] }))).toContain('has no scopes.')
  })

  it.each([
    [1, 'The login code is wrong. 1 attempt is left.'],
    [4, 'The login code is wrong. 4 attempts are left.'],
    [0, 'The login code is wrong. No attempts are left. Run the command again to get a new code.'],
  ])('says what is left of a code when it is %i', (attemptsLeft, sentence) => {
    expect(sentenceOf(new LadeError('invalid_code', { attemptsLeft }))).toBe(sentence)
  })

  it('says where the reason is when a mail could not be sent', () => {
    const error = new LadeError('mail_failed', { retryAfterSeconds: 300 }, { requestId: 'r-1' })
    expect(sentenceOf(error)).toBe(
      'The mail server did not accept the mail with the login code. Check the address. Try again in 5 minutes. Request id: r-1.',
    )
  })

  it('says where nothing answers', () => {
    const error = new LadeError('unreachable', { url: 'http://lade.test', reason: 'The connection failed: bad port.' })
    expect(sentenceOf(error)).toMatch(
      /^Cannot reach http:\/\/lade\.test\. The connection failed: bad port\. Start a service with "lade serve"/,
    )
  })

  it('says to programs what it says to people', () => {
    expect(detailOf(new LadeError('too_large', { limit: 1024, size: 2048 }))).toBe(
      'The file is 2,048 bytes; the limit is 1,024 bytes.',
    )
    expect(detailOf(new LadeError('unreachable', { url: 'http://x', reason: 'a\x1b]0;owned\x07' }))).not.toMatch(
      /\p{Cc}/u,
    )
  })

  it('names the request where the log of the service says more', () => {
    expect(sentenceOf(new LadeError('internal_error', {}, { requestId: 'r-1' }))).toContain('Request id: r-1.')
    expect(sentenceOf(new LadeError('not_found', {}, { requestId: 'r-1' }))).not.toContain('r-1')
  })

  it('lets nothing that the service wrote reach the terminal as a command', () => {
    const error = new LadeError('unexpected_answer', { httpStatus: 500, reason: 'a\x1b]0;owned\x07' })
    expect(sentenceOf(error)).not.toMatch(/\p{Cc}/u)
  })

  it('says to leave out the end of a URL at which there is no service', () => {
    for (const reason of ['No such endpoint: GET /api/api/files.', 'There is no page /docs/api/files.']) {
      expect(sentenceOf(new LadeError('not_found', { reason }))).toBe(
        `${reason} Check the URL of the service: leave out /api, /docs or /p at its end.`,
      )
    }
  })

  it('says how to get a first token', () => {
    expect(sentenceOf(new LadeError('no_token', {}))).toContain('Get one with "lade login --email ADDRESS"')
  })

  it('says how to make a private file provable', () => {
    const reason = 'The file is private, and provers get only public files. Make it public first.'
    expect(sentenceOf(new LadeError('not_placed', { dealStatus: 'staged', reason }))).toBe(
      `${reason} Use "lade edit CID --public".`,
    )
  })

  it.each([
    ['You have no file bafk. GET /api/files lists yours.', 'You have no file bafk. "lade ls" lists yours.'],
    ['You have no deal nope. GET /api/deals lists yours.', 'You have no deal nope. "lade deals" lists yours.'],
    ['You have no token 0b4e. GET /api/tokens lists yours.', 'You have no token 0b4e. "lade token ls" lists yours.'],
  ])('names commands where the service names requests: %s', (reason, sentence) => {
    expect(sentenceOf(new LadeError('not_found', { reason }))).toBe(sentence)
  })
})

describe('errors of this machine', () => {
  it('are sentences, and not what Node says', () => {
    const taken = { code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 8080 }
    const cause = Object.assign(new Error('EACCES: permission denied, open x'), { code: 'EACCES', syscall: 'open' })
    expect(endingOf(Object.assign(new Error('listen EADDRINUSE'), taken))?.sentence).toBe(
      'Cannot listen on 127.0.0.1:8080: another program uses this address.',
    )
    expect(endingOf(new LocalError('Cannot read x.', { cause }))?.sentence).toBe('Cannot read x: permission denied.')
  })
})
