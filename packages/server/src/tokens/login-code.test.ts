import { describe, expect, it } from 'vitest'
import { codeDigest, loginCodeId, newLoginCode } from './login-code.ts'

describe('newLoginCode', () => {
  it('has six digits, zeros in front included, and a challenge of 256 bits that is no option of a command', () => {
    const codes = Array.from({ length: 2000 }, newLoginCode)
    for (const { challenge, code } of codes) {
      expect(code).toMatch(/^\d{6}$/)
      // Without the rule, none of 2000 beginning with a hyphen would happen once in 10^13.
      expect(challenge).toMatch(/^\w[\w-]{42}$/)
    }
    expect(new Set(codes.map(({ challenge }) => challenge)).size).toBe(2000)
    // Each digit leads a tenth of the codes; none of 2000 beginning with 0 happens once in 10^91.
    expect(new Set(codes.map(({ code }) => code[0])).size).toBe(10)
  })
})

describe('codeDigest', () => {
  const one = { challenge: 'challenge', code: '012345' }

  it('depends on the challenge as much as on the code', () => {
    const digests = [one, { ...one, challenge: 'other' }, { ...one, code: '012346' }].map(codeDigest)
    expect(new Set(digests).size).toBe(3)
    expect(codeDigest({ ...one })).toBe(digests[0])
  })

  it.each([' 012345', '012 345\n', '012-345'])('lets %j be the same code', (code) => {
    expect(codeDigest({ ...one, code })).toBe(codeDigest(one))
  })

  it.each(['12345', '0123456', '０12345', '', '012345.'])('does not take %j for the same code', (code) => {
    expect(codeDigest({ ...one, code })).not.toBe(codeDigest(one))
  })

  it('tells neither the challenge nor the code', () => {
    for (const kept of [loginCodeId(one.challenge), codeDigest(one)]) {
      expect(kept).toMatch(/^[0-9a-f]{64}$/)
    }
    expect(loginCodeId(one.challenge)).not.toBe(codeDigest(one))
  })
})
