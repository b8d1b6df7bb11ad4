import { describe, expect, test } from 'vitest'
import { bytesText, comparedBytes, countText, waitText } from './amounts-text.ts'

describe('bytesText', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1_048_575, '1,048,575 bytes'],
    [1_048_576, '1 MB'],
    [115_343_360, '110 MB'],
    [1023.96 * 1_048_576, '1 GiB'],
    [1_610_612_736, '1.5 GiB'],
    [5 * 1024 ** 3, '5 GiB'],
    [5000 * 1024 ** 3, '5,000 GiB'],
  ])('%i bytes are %s', (bytes, text) => expect(bytesText(bytes)).toBe(text))
})

test('two amounts that would look equal are told to the byte, and equal ones are not', () => {
  expect(comparedBytes(104_857_601, 104_857_600)).toEqual(['104,857,601 bytes', '104,857,600 bytes'])
  expect(comparedBytes(104_857_600, 104_857_600)).toEqual(['100 MB', '100 MB'])
})

test.each([
  [1, '1 file'],
  [2000, '2,000 files'],
])('%i files are %s', (count, text) => expect(countText(count, 'file')).toBe(text))

test.each([
  [0.2, '1 second'],
  [119, '119 seconds'],
  [300, '5 minutes'],
  [18_000, '5 hours'],
])('%d seconds are %s', (seconds, text) => expect(waitText(seconds)).toBe(text))
