import { describe, expect, it } from 'vitest'
import { readTokenFacts } from './token-facts.ts'

const tokenOf = (payload: string) => `pk_live_e30.${Buffer.from(payload).toString('base64url')}.x`

describe('readTokenFacts', () => {
  it('reads what a token says of itself', () => {
    const payload = { email: 'ada@example.org', jti: 'a-b', scopes: ['put'], exp: 1_800_000_000, quotaMb: 1 }
    expect(readTokenFacts(tokenOf(JSON.stringify(payload)))).toEqual({
      email: 'ada@example.org',
      jti: 'a-b',
      scopes: ['put'],
      expiresAt: new Date('2027-01-15T08:00:00Z'),
    })
  })

  it('takes fields of another type as not there', () => {
    expect(readTokenFacts(tokenOf('{"email":1,"exp":"soon","scopes":"put"}'))).toEqual({
      email: undefined,
      jti: undefined,
      scopes: undefined,
      expiresAt: undefined,
    })
  })

  it.each(['pk_live_x', tokenOf('torn'), tokenOf('null')])('is nothing for %s', (token) => {
    expect(readTokenFacts(token)).toBeUndefined()
  })
})
