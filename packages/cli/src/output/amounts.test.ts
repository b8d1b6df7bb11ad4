import { describe, expect, it } from 'vitest'
import { countOf, formatBytes } from './amounts.ts'

describe('formatBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [48_213, '47.1 KiB'],
    [102_348, '99.9 KiB'],
    [102_400, '100 KiB'],
    [1_048_524, '1.0 MiB'],
    [1_048_576, '1.0 MiB'],
    [104_857_600, '100 MiB'],
    [5 * 2 ** 40, '5.0 TiB'],
    [2 ** 53, '8.0 PiB'],
  ])('shows %i bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })
})

describe('countOf', () => {
  it('has one and many, and separates thousands', () => {
    expect([countOf(0, 'file'), countOf(1, 'file'), countOf(1234, 'file')]).toEqual([
      '0 files',
      '1 file',
      '1,234 files',
    ])
  })
})
