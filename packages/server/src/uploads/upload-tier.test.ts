import { describe, expect, it } from 'vitest'
import { sponsoredTier, tokenTier } from './upload-tier.ts'

const limits = {
  sponsored: { fileBytes: 1, dailyBytes: 2, concurrency: 3, termDays: 7 },
  token: { fileBytes: 4, concurrency: 5, termDays: 30 },
  termMaxDays: 365,
}

describe('sponsoredTier', () => {
  it('charges the address and allows no longer term than its own', () => {
    expect(sponsoredTier(limits, 'ip:192.0.2.1')).toEqual({
      name: 'sponsored',
      principal: 'ip:192.0.2.1',
      owner: null,
      fileBytes: 1,
      dailyBytes: 2,
      concurrency: 3,
      defaultTermDays: 7,
      maxTermDays: 7,
    })
  })
})

describe('tokenTier', () => {
  it('charges the user, with the quota of the token in MB of 1,048,576 bytes', () => {
    const claims = { sub: 'abc', email: 'a@b.c', scopes: ['put' as const], quotaMb: 1024, iat: 0, exp: 1, jti: 'j' }
    expect(tokenTier(limits, claims)).toEqual({
      name: 'token',
      principal: 'user:abc',
      owner: 'a@b.c',
      fileBytes: 4,
      dailyBytes: 1_073_741_824,
      concurrency: 5,
      defaultTermDays: 30,
      maxTermDays: 365,
    })
  })
})
