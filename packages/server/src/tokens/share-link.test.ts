import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { mintToken } from './mint-token.ts'
import { signShareLink, verifyShareLink } from './share-link.ts'
import { claimsOf, NOW, NOW_SECONDS, testKey } from './testing-token-jwt.ts'
import { verifyToken } from './verify-token.ts'

const key = await testKey()
const cid = 'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
const principal = 'user:973dfe463ec85785'
const expiresAt = new Date((NOW_SECONDS + 60) * 1000)
const link = signShareLink({ key, cid, principal, fileId: 'file-7', expiresAt })
const share = new URLSearchParams(link).get('share') ?? ''
const verify = (changes: Partial<Parameters<typeof verifyShareLink>[0]> = {}) =>
  verifyShareLink({ key, cid, share, now: NOW, ...changes })
const refused = expect.objectContaining({ code: 'invalid_share_link', evidence: {} })

describe('signShareLink', () => {
  it('is one query parameter that needs no escaping', () => {
    expect(link).toMatch(/^share=[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/)
  })

  it('does not tell whose file it is', () => {
    const [payload = ''] = share.split('.')
    expect(Buffer.from(payload, 'base64url').toString()).not.toContain('973dfe463ec85785')
  })

  it('error: an expiry that is no time is a TypeError', () => {
    expect(() => signShareLink({ key, cid, principal, fileId: '7', expiresAt: new Date(Number.NaN) })).toThrow(
      TypeError,
    )
  })
})

describe('verifyShareLink', () => {
  it('grants the file until the expiry', () => {
    expect(verify()).toMatchObject({ fileId: 'file-7', expiresAt })
    expect(verify({ now: new Date(expiresAt.getTime() - 1) }).fileId).toBe('file-7')
  })

  it('knows whose file the link was signed for', () => {
    expect(verify().isFrom(principal)).toBe(true)
    expect(verify().isFrom('user:0000000000000000')).toBe(false)
  })

  it('knows which token made it, if one did', () => {
    const jti = '0e821c28-0490-4572-9f1a-581e623345e7'
    const ofToken = new URLSearchParams(signShareLink({ key, cid, principal, fileId: 'file-7', expiresAt, jti }))
    expect(verify({ share: ofToken.get('share') ?? '' }).jti).toBe(jti)
    expect(verify().jti).toBeUndefined()
  })

  it('takes links that were signed before links named their token, until they expire', () => {
    const [payload = ''] = share.split('.')
    // The form of the older version, which had exactly these members.
    expect(Object.keys(JSON.parse(Buffer.from(payload, 'base64url').toString()))).toEqual(['f', 'e', 'o'])
    expect(verify()).toMatchObject({ fileId: 'file-7', jti: undefined })
  })

  it('takes links of the key before as long as that one is accepted', async () => {
    const other = await testKey(Buffer.alloc(32, 9))
    const next = other.withPrevious([{ key, acceptedUntilSeconds: NOW_SECONDS + 30 }])
    expect(verify({ key: next }).isFrom(principal)).toBe(true)
    expect(() => verify({ key: other })).toThrow(refused)
    expect(() => verify({ key: next, now: new Date((NOW_SECONDS + 30) * 1000) })).toThrow(refused)
  })

  it('refuses a link from the moment it expires', () => {
    expect(() => verify({ now: expiresAt })).toThrow(refused)
  })

  it('refuses a link for another cid', () => {
    expect(() => verify({ cid: `${cid}a` })).toThrow(refused)
  })

  it('refuses a link of another key, so that a rotation ends it', async () => {
    const other = await testKey(Buffer.alloc(32, 8))
    expect(() => verify({ key: other })).toThrow(refused)
  })

  const [payload = '', mac = ''] = share.split('.')
  const later = Buffer.from(JSON.stringify({ f: 'file-7', e: NOW_SECONDS * 2, o: '' })).toString('base64url')
  it.each([
    ['empty', ''],
    ['without a signature', payload],
    ['with an empty signature', `${payload}.`],
    ['with a third part', `${share}.x`],
    ['with a later expiry', `${later}.${mac}`],
    ['with a shorter signature', share.slice(0, -4)],
    ['with padding', `${share}=`],
    ['with a space', `${share} `],
    ['of a million characters', 'a'.repeat(1_000_000)],
  ])('refuses a link %s', (_, text) => {
    expect(() => verify({ share: text })).toThrow(refused)
  })

  it('refuses every change of one character', () => {
    for (let at = 0; at < share.length; at += 1) {
      for (const letter of 'A_9') {
        if (share[at] === letter) continue
        expect(() => verify({ share: share.slice(0, at) + letter + share.slice(at + 1) })).toThrow(refused)
      }
    }
  })

  it('refuses a token as a link, and a link is refused as a token', async () => {
    const token = await mintToken(claimsOf(), key)
    const [, tokenPayload = '', tokenMac = ''] = token.split('.')
    for (const text of [token, `${tokenPayload}.${tokenMac}`]) expect(() => verify({ share: text })).toThrow(refused)
    for (const text of [`pk_live_${share}`, `pk_live_${token.slice(8).split('.')[0]}.${share}`]) {
      await expect(verifyToken(text, key, NOW)).rejects.toThrow(LadeError)
    }
  })
})
