import { expect, test } from 'vitest'
import { findingsOf } from './check-stored-bytes.ts'

const FINE = { damaged: [], damagedCount: 0, checkedBytes: 10, isComplete: true, withoutChunksCount: 0 }

test('is content with bytes that match their digests', () => {
  expect(findingsOf(FINE)).toEqual([expect.objectContaining({ check: 'storedBytes', state: 'ok' })])
})

test('names what is damaged, and says how many more there are', () => {
  const [finding] = findingsOf({ ...FINE, damaged: [{ object: 'ab12', kind: 'inline' }], damagedCount: 3 })
  expect(finding).toMatchObject({ state: 'broken', sentence: expect.stringContaining('ab12 (inline) and 2 more') })
})

test('says how many files of an older version are to be read yet', () => {
  expect(findingsOf({ ...FINE, withoutChunksCount: 2 })).toContainEqual(
    expect.objectContaining({ check: 'chunkDigests', state: 'unknown', sentence: expect.stringContaining('2 files') }),
  )
})
