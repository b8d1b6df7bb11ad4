import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { mintToken } from './mint-token.ts'
import { claimsOf, NOW, NOW_SECONDS, testKey } from './testing-token-jwt.ts'
import { VerifyCache } from './verify-cache.ts'

const key = await testKey()
const tokenOf = (number: number) => mintToken(claimsOf({ quotaMb: number }), key)
const at = (seconds: number) => new Date((NOW_SECONDS + seconds) * 1000)
const invalid = expect.objectContaining({ code: 'invalid_token' })

describe('VerifyCache', () => {
  it('answers a token it has seen with the same claims, frozen', async () => {
    const cache = new VerifyCache()
    const token = await tokenOf(1)
    const first = await cache.verify(token, key, NOW)
    expect(first).toEqual(claimsOf({ quotaMb: 1 }))
    expect(await cache.verify(token, key, NOW)).toBe(first)
    expect(Object.isFrozen(first) && Object.isFrozen(first.scopes)).toBe(true)
  })

  it('refuses a remembered token from the second in which it expires', async () => {
    const cache = new VerifyCache()
    const token = await tokenOf(1)
    await cache.verify(token, key, at(3599))
    await expect(cache.verify(token, key, at(3600))).rejects.toEqual(invalid)
    expect(cache.size).toBe(0)
  })

  it('refuses and does not remember an invalid token', async () => {
    const cache = new VerifyCache()
    await expect(cache.verify('pk_live_x', key, NOW)).rejects.toThrow(LadeError)
    await expect(cache.verify('a'.repeat(5000), key, NOW)).rejects.toEqual(invalid)
    expect(cache.size).toBe(0)
  })

  it('refuses a remembered token once the key is another, and forgets it', async () => {
    const cache = new VerifyCache()
    const token = await tokenOf(1)
    await cache.verify(token, key, NOW)
    await expect(cache.verify(token, await testKey(Buffer.alloc(32, 9)), NOW)).rejects.toEqual(invalid)
    expect(cache.size).toBe(0)
  })

  it('takes a token of the key before only as long as that one is accepted', async () => {
    const cache = new VerifyCache()
    const token = await tokenOf(1)
    const next = (await testKey(Buffer.alloc(32, 9))).withPrevious([{ key, acceptedUntilSeconds: NOW_SECONDS + 60 }])
    await expect(cache.verify(token, await testKey(Buffer.alloc(32, 9)), NOW)).rejects.toEqual(invalid)
    const fresh = new VerifyCache()
    const claims = await fresh.verify(token, next, at(59))
    expect(await fresh.verify(token, next, at(59))).toBe(claims)
    await expect(fresh.verify(token, next, at(60))).rejects.toEqual(invalid)
    await expect(new VerifyCache().verify(token, next, at(60))).rejects.toEqual(invalid)
  })

  it('refuses a changed token though its original is remembered', async () => {
    const cache = new VerifyCache()
    const token = await tokenOf(1)
    await cache.verify(token, key, NOW)
    await expect(cache.verify(`${token}=`, key, NOW)).rejects.toEqual(invalid)
  })

  it('keeps no more than its bound, and drops the least recently used', async () => {
    const cache = new VerifyCache({ maximumEntries: 2 })
    const [one, two, three] = [await tokenOf(1), await tokenOf(2), await tokenOf(3)]
    const first = await cache.verify(one, key, NOW)
    const second = await cache.verify(two, key, NOW)
    await cache.verify(one, key, NOW)
    await cache.verify(three, key, NOW)
    expect(cache.size).toBe(2)
    expect(await cache.verify(one, key, NOW)).toBe(first)
    expect(await cache.verify(two, key, NOW)).not.toBe(second)
  })
})
