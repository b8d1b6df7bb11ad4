import { digestField } from '@lade/node/hashing/digest-field'
import { sha256Hex } from '@lade/node/hashing/sha256'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { announcedSha256, checkBodyDigest, contentSha256 } from './body-digest.ts'
import { requestOf } from './testing-request.ts'

const BODY = Buffer.from('{"hello": "world"}')
const HEX = sha256Hex(BODY)
/** RFC 9530, appendix B, of this body with a line feed, and of sha-512. */
const OF_LINE = 'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:'
const SHA_512 = 'sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:'

const withFields = (content?: string, representation?: string) =>
  requestOf({
    lines: [
      ...(content === undefined ? [] : ['Content-Digest', content]),
      ...(representation === undefined ? [] : ['Repr-Digest', representation]),
    ],
  })

describe('announcedSha256', () => {
  it('reads either field', () => {
    expect(announcedSha256(withFields(digestField(HEX)))).toBe(HEX)
    expect(announcedSha256(withFields(undefined, digestField(HEX)))).toBe(HEX)
    expect(announcedSha256(withFields(digestField(HEX), digestField(HEX)))).toBe(HEX)
    expect(announcedSha256(withFields(`${SHA_512}, ${digestField(HEX)}`))).toBe(HEX)
  })

  it('is undefined where no sha-256 stands', () => {
    for (const field of [undefined, '', SHA_512, 'md5=:AA==:', 'unknown=1']) {
      expect(announcedSha256(withFields(field, field))).toBeUndefined()
    }
  })

  it('tells the digest of the content from that of the representation', () => {
    expect(contentSha256(withFields(undefined, digestField(HEX)))).toBeUndefined()
  })

  it('error: refuses two that contradict each other', () => {
    expect(() => announcedSha256(withFields(digestField(HEX), OF_LINE))).toThrow(
      expect.objectContaining({ code: 'bad_request' }),
    )
  })

  it.each([
    'sha-256',
    'sha-256=abc',
    'sha-256=:AA==:',
    `sha-256="${HEX}"`,
    `sha-256=:${HEX}:`,
    `${OF_LINE}, ${OF_LINE}`,
    `${OF_LINE}, sha-256=:AA==:`,
    OF_LINE.replace('=:', ':').slice(1),
    `SHA-256=${OF_LINE.slice('sha-256='.length)}`,
  ])('error: refuses %s', (field) => {
    expect(() => announcedSha256(withFields(field))).toThrow(expect.objectContaining({ code: 'bad_request' }))
  })
})

describe('checkBodyDigest', () => {
  it('takes the body of the RFC, and nothing else under its digest', () => {
    checkBodyDigest(withFields(OF_LINE), Buffer.from('{"hello": "world"}\n'))
    expect(() => checkBodyDigest(withFields(OF_LINE), BODY)).toThrow(
      expect.objectContaining({ code: 'digest_mismatch', evidence: { expected: OF_LINE, actual: digestField(HEX) } }),
    )
  })

  it('takes any body that has its digest, and none that was changed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.nat(), (bytes, place) => {
        const request = withFields(digestField(sha256Hex(bytes)))
        checkBodyDigest(request, bytes)
        const changed = Uint8Array.from(bytes)
        const at = place % changed.length
        changed[at] = (changed[at] ?? 0) ^ 1
        expect(() => checkBodyDigest(request, changed)).toThrow(expect.objectContaining({ code: 'digest_mismatch' }))
      }),
    )
  })

  it('asks nothing of a body without a digest', () => {
    checkBodyDigest(withFields(), BODY)
  })
})
