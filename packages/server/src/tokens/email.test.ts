import { createHash } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { describe, expect, it } from 'vitest'
import { normalizeEmail, userIdOf } from './email.ts'

describe('normalizeEmail', () => {
  it.each([
    ['ada@example.org', 'ada@example.org'],
    ['  Ada@Example.ORG\n', 'ada@example.org'],
    ["o'neil+tag.x@sub-1.example.co", "o'neil+tag.x@sub-1.example.co"],
    ['a@xn--mnchen-3ya.de', 'a@xn--mnchen-3ya.de'],
    [`${'a'.repeat(64)}@b.co`, `${'a'.repeat(64)}@b.co`],
  ])('spells %j as %s', (text, expected) => {
    expect(normalizeEmail(text)).toBe(expected)
    expect(normalizeEmail(normalizeEmail(text))).toBe(expected)
  })

  it.each([
    '',
    ' ',
    'ada',
    '@example.org',
    'ada@',
    'a@b@c.org',
    'a@localhost',
    'a@1.2.3.4',
    'a@[1.2.3.4]',
    '.a@b.co',
    'a.@b.co',
    'a..b@b.co',
    'a b@c.co',
    'a@b..co',
    'a@-b.co',
    'a@b-.co',
    'a@b.co.',
    '"a"@b.co',
    'a@b.co\0',
    'a\r\nbcc: x@b.co',
    'ä@b.co',
    // The Kelvin sign, which becomes an ASCII k in lower case.
    '\u212A@b.co',
    `${'a'.repeat(65)}@b.co`,
    `a@${'b.'.repeat(126)}co`,
  ])('refuses %j', (text) => {
    const refused = () => normalizeEmail(text)
    expect(refused).toThrow(
      expect.objectContaining({ code: 'invalid_email', evidence: { reason: expect.any(String) } }),
    )
    expect(refused).toThrow(LadeError)
  })
})

describe('userIdOf', () => {
  it('is the first 16 hex digits of the sha2-256 of the normal spelling', () => {
    const expected = createHash('sha256').update('test@example.com').digest('hex').slice(0, 16)
    expect(userIdOf(' TEST@example.com ')).toBe(expected)
    expect(expected).toBe('973dfe463ec85785')
  })
})
