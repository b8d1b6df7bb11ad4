import { expect, test } from 'vitest'
import { newDealId } from './deal-id.ts'

const NOW = 1_790_000_000_000

test('a deal id is 32 hex digits, of which the first eight grow by the millisecond', () => {
  const ids = [0, 1, 4096].map((later) => newDealId(NOW + later))
  for (const id of ids) expect(id).toMatch(/^d-0x[0-9a-f]{32}$/)
  expect(ids.map((id) => id.slice(0, 12))).toEqual(['d-0xc4506c00', 'd-0xc4506c01', 'd-0xc4507c00'])
  expect(newDealId(2 ** 32).slice(0, 12)).toBe('d-0x00000000')
})

test('deals of one millisecond have ids of their own', () => {
  expect(new Set(Array.from({ length: 10_000 }, () => newDealId(NOW))).size).toBe(10_000)
})
