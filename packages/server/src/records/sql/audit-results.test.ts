import { expect, test } from 'vitest'
import { decodeAuditResults, encodeAuditResults } from './audit-results.ts'

const NOW = Date.UTC(2026, 10, 21)

test('results of audits come back as they were', () => {
  const results = [
    { at: NOW, passed: true, cause: null },
    { at: NOW - 1, passed: false, cause: 'Proof 0 is about leaf 7 instead of 9. Ünïcödé 🛰️' },
    { at: NOW - 2, passed: false, cause: null },
    { at: NOW - 3, passed: false, cause: '' },
    { at: 0, passed: true, cause: null },
  ]
  expect(decodeAuditResults(encodeAuditResults(results))).toEqual(results)
  expect(decodeAuditResults(encodeAuditResults([]))).toEqual([])
})

test('30 results of audits that passed take 210 bytes', () => {
  const results = Array.from({ length: 40 }, (_, index) => ({ at: NOW - index, passed: true, cause: null }))
  const bytes = encodeAuditResults(results)
  expect(bytes).toHaveLength(210)
  expect(decodeAuditResults(bytes)).toEqual(results.slice(0, 30))
})

test('a long cause is cut between characters', () => {
  const results = [{ at: NOW, passed: false, cause: '🛰'.repeat(300) }]
  expect(decodeAuditResults(encodeAuditResults(results))[0]?.cause).toBe('🛰'.repeat(250))
})
