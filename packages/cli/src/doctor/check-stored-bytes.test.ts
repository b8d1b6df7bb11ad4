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

test('advises to heal only what a backup can heal', () => {
  const advice = (kind: 'inline' | 'wrong') =>
    findingsOf({ ...FINE, damaged: [{ object: 'ab12', kind }], damagedCount: 1 })[0]
  expect(advice('inline')?.sentence).toBe('1 file is damaged: ab12 (inline). Upload the files again.')
  expect(advice('wrong')?.sentence).toContain(
    'Upload the files again. Or repair them from a backup with "lade backup DIR --heal"',
  )
})

test('says how many files of an older version are to be read yet', () => {
  expect(findingsOf({ ...FINE, withoutChunksCount: 2 })).toContainEqual(
    expect.objectContaining({ check: 'chunkDigests', state: 'unknown', sentence: expect.stringContaining('2 files') }),
  )
  expect(findingsOf({ ...FINE, withoutChunksCount: 1 })[1]?.sentence).toMatch(/^1 file from an older version has no /)
})
