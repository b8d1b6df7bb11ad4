import { SCOPES } from '@lade/core/wire'
import { describe, expect, it } from 'vitest'
import { sponsoredTier, tokenTier, walletTier } from './upload-tier.ts'

const limits = {
  sponsored: { fileBytes: 1, dailyBytes: 2, dailyFiles: 6, concurrency: 3, termDays: 7 },
  token: { fileBytes: 4, quotaMb: 9, dailyFiles: 7, concurrency: 5, termDays: 30 },
  termMaxDays: 365,
}

const payer = {
  principal: 'user:abc',
  owner: 'a@b.c',
  dailyBytes: 1_073_741_824,
  rights: { scopes: SCOPES, isVerified: true },
}

describe('sponsoredTier', () => {
  it('charges the address and allows no longer term than its own', () => {
    expect(sponsoredTier(limits, 'ip:192.0.2.1')).toEqual({
      name: 'sponsored',
      principal: 'ip:192.0.2.1',
      owner: null,
      fileBytes: 1,
      dailyBytes: 2,
      dailyFiles: 6,
      concurrency: 3,
      defaultTermDays: 7,
      maxTermDays: 7,
      rights: undefined,
      withToken: { fileBytes: 4, dailyBytes: 9_437_184 },
    })
  })
})

describe('tokenTier', () => {
  it('charges the user, for the daily quota that is asked for', () => {
    expect(tokenTier(limits, payer)).toEqual({
      name: 'token',
      principal: 'user:abc',
      owner: 'a@b.c',
      fileBytes: 4,
      dailyBytes: 1_073_741_824,
      dailyFiles: 7,
      concurrency: 5,
      defaultTermDays: 30,
      maxTermDays: 365,
      rights: payer.rights,
    })
  })
})

describe('walletTier', () => {
  it('is as the token tier, but for the size of a file', () => {
    const address = { principal: 'ip:192.0.2.7', dailyBytes: 5 }
    const { name, fileBytes, token, ...rest } = walletTier(limits, payer, address)
    expect({ name, fileBytes }).toEqual({ name: 'wallet', fileBytes: Number.MAX_SAFE_INTEGER })
    expect(tokenTier(limits, payer)).toMatchObject(rest)
    expect(token, 'the wallet has more than the address').toMatchObject({ capBytes: payer.dailyBytes })
    const large = { ...address, dailyBytes: 2 ** 40 }
    expect(walletTier(limits, payer, large).token).toEqual({ id: 'address ip:192.0.2.7', capBytes: 2 ** 40 })
  })
})
