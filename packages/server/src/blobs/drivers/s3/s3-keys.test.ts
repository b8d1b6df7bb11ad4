import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { S3Keys } from './s3-keys.ts'

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })

describe('S3Keys', () => {
  test('names blobs, markers and what is in quarantine under one prefix', () => {
    const keys = new S3Keys('lade/')
    const sha256 = 'ab'.repeat(32)
    expect(keys.blob({ sha256, put: '' })).toBe(`lade/objects/ab/${sha256}`)
    expect(keys.blob({ sha256, put: '01ef' })).toBe(`lade/objects/ab/${sha256}/01ef`)
    expect(keys.marker('instance-1', '7f')).toBe('lade/pending/instance-1/7f')
    expect(keys.waiting('instance-1', '7f')).toBe('lade/pending/instance-1/7f.bytes')
    expect(keys.quarantined(sha256, new Date(0))).toBe(`lade/quarantine/${sha256}-19700101T000000000Z`)
  })

  test('knows the key of a blob, and takes no other for one', () => {
    const keys = new S3Keys('lade/')
    const sha256 = 'ab'.repeat(32)
    for (const put of ['', '01ef']) expect(keys.nameOf(keys.blob({ sha256, put }))).toEqual({ sha256, put })
    const blob = `lade/objects/ab/${sha256}`
    const others = [sha256, `lade/objects/aa/${sha256}`, `objects/ab/${sha256}`, '']
    for (const key of [...others, `${blob}x`, `${blob}/`, `${blob}/A`, `${blob}/01/ef`]) {
      expect(keys.nameOf(key)).toBeUndefined()
    }
  })

  test('has every blob greater than any string behind the key to list from', () => {
    const after = fc.oneof(fc.string(), hex(1), hex(2), hex(9), hex(64), hex(65))
    fc.assert(
      fc.property(fc.constantFrom('', 'a/b/'), hex(64), hex(3), after, (prefix, sha256, put, text) => {
        const keys = new S3Keys(prefix)
        if (sha256 <= text) return
        expect(keys.blob({ sha256, put: '' }) > keys.before(text)).toBe(true)
        expect(keys.blob({ sha256, put }) > keys.before(text)).toBe(true)
      }),
    )
  })
})
