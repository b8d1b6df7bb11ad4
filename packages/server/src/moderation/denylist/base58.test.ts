import { randomBytes } from 'node:crypto'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, it } from 'vitest'
import { base58, base58Bytes } from './base58.ts'

describe('base58', () => {
  it('writes and reads what the library does, of every length and with zeros at the beginning', () => {
    for (let length = 0; length < 80; length += 1) {
      for (const zeros of [0, 1, 3]) {
        const bytes = Buffer.concat([Buffer.alloc(zeros), randomBytes(length)])
        const text = base58btc.baseEncode(bytes)
        expect(base58(bytes)).toBe(text)
        expect(base58Bytes(text)).toEqual(bytes)
      }
    }
    for (const bytes of [Buffer.alloc(34, 0xff), Buffer.from('hello')])
      expect(base58Bytes(base58(bytes))).toEqual(bytes)
  })

  it.each(['0', 'O', 'I', 'l', 'Qm!', 'Qm Qm', 'ä'])('reads nothing in %j', (text) => {
    expect(base58Bytes(text)).toBeUndefined()
  })
})
