import { generateKeyPairSync } from 'node:crypto'
import { DAY_MS } from '@lade/core/time'
import { describe, expect, it } from 'vitest'
import { memoryLog } from '../testing/running/running-service.ts'
import { keyAgeReminder } from './key-age-reminder.ts'
import { SigningKey } from './signing-key.ts'
import { SigningKeys } from './signing-keys.ts'

const ISSUED_AT = 1_800_000_000
const onDay = (days: number) => ISSUED_AT * 1000 + days * DAY_MS

describe('keyAgeReminder', () => {
  const start = async (key?: SigningKey) => {
    const lines: string[] = []
    const clock = { now: onDay(0) }
    const keys = new SigningKeys(key)
    const remind = keyAgeReminder({ keys, log: memoryLog(lines), now: () => clock.now })
    const saidOn = (days: number): number => {
      clock.now = onDay(days)
      const before = lines.length
      remind()
      return lines.length - before
    }
    return { keys, lines, saidOn }
  }
  const keyOf = (byte: number, issuedAt?: number) => SigningKey.fromBytes(Buffer.alloc(32, byte), issuedAt)

  it('says nothing until the key is more than 90 days old, and then once a day', async () => {
    const { lines, saidOn } = await start(await keyOf(1, ISSUED_AT))
    expect([0, 89, 90].map(saidOn)).toEqual([0, 0, 0])
    expect([90.1, 90.2, 91, 91.1, 91.2, 95].map(saidOn)).toEqual([1, 0, 0, 1, 0, 1])
    expect(lines[0]).toContain('overdue')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ level: 40, ageDays: 95 })
  })

  it('looks at a key that took its place anew', async () => {
    const { keys, saidOn } = await start(await keyOf(1, ISSUED_AT))
    expect(saidOn(91)).toBe(1)
    keys.replace(await keyOf(2, ISSUED_AT + 1))
    expect(saidOn(91.1)).toBe(1)
    keys.replace(await keyOf(3, ISSUED_AT + 91 * 86_400))
    expect(saidOn(93)).toBe(0)
  })

  it('says nothing of a key whose age is not known, and nothing without a key', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    for (const key of [await keyOf(1), await SigningKey.fromPrivateKey(privateKey), undefined]) {
      expect((await start(key)).saidOn(1000)).toBe(0)
    }
  })
})
