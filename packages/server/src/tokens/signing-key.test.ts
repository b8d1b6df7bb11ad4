import { inspect } from 'node:util'
import { DAY_MS } from '@lade/core/time'
import { describe, expect, it } from 'vitest'
import { SigningKey } from './signing-key.ts'

const issuedAt = 1_800_000_000
const after = (days: number) => new Date(issuedAt * 1000 + days * DAY_MS)

describe('SigningKey', () => {
  it('counts whole days', async () => {
    const key = await SigningKey.fromBytes(Buffer.alloc(32), issuedAt)
    expect([0, 0.99, 1, 90.5, -1].map((days) => key.ageDays(after(days)))).toEqual([0, 0, 1, 90, 0])
  })

  it('is overdue once it is more than 90 days old', async () => {
    const key = await SigningKey.fromBytes(Buffer.alloc(32), issuedAt)
    expect(key.isOverdue(after(90))).toBe(false)
    expect(key.isOverdue(new Date(after(90).getTime() + 1))).toBe(true)
  })

  it('has no age and is not overdue when its date is not known', async () => {
    const key = await SigningKey.fromBytes(Buffer.alloc(32))
    expect(key.ageDays(after(1000))).toBeUndefined()
    expect(key.isOverdue(after(1000))).toBe(false)
  })

  it('has an id that tells keys apart and does not hold the key', async () => {
    const ids = await Promise.all([1, 2].map(async (byte) => (await SigningKey.fromBytes(Buffer.alloc(32, byte))).id))
    expect(ids[0]).toMatch(/^[0-9a-f]{16}$/)
    expect(ids[0]).not.toBe(ids[1])
    expect((await SigningKey.fromBytes(Buffer.alloc(32, 1))).id).toBe(ids[0])
  })

  it('derives another key for each purpose, and the same for the same', async () => {
    const key = await SigningKey.fromBytes(Buffer.alloc(32))
    const [a, again, b] = ['a', 'a', 'b'].map((purpose) => key.derive(purpose).export().toString('hex'))
    expect(a).toBe(again)
    expect(a).not.toBe(b)
    expect(a).not.toBe(Buffer.alloc(32).toString('hex'))
  })

  it('does not print its bytes', async () => {
    const bytes = Buffer.from('0123456789abcdef0123456789abcdef')
    const key = await SigningKey.fromBytes(bytes)
    const printed = inspect(key, { depth: 9, showHidden: true }) + JSON.stringify(key)
    for (const encoding of ['utf8', 'hex', 'base64'] as const) expect(printed).not.toContain(bytes.toString(encoding))
  })

  it('refuses fewer than 32 bytes with a TypeError', async () => {
    await expect(SigningKey.fromBytes(Buffer.alloc(31))).rejects.toThrow(TypeError)
  })
})
