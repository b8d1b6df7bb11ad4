import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFirstDealId } from './find-first-deal.ts'

describe('findFirstDealId', () => {
  test('finds it in few questions, also while there is no deal', async () => {
    const id = fc.bigInt({ min: 1n, max: 2n ** 63n })
    const count = fc.bigInt({ min: 0n, max: 2n ** 40n })
    await fc.assert(
      fc.asyncProperty(id, count, async (first, deals) => {
        let questions = 0
        const last = first + deals - 1n
        const found = await findFirstDealId(last, async (dealId) => {
          questions += 1
          return dealId >= first && dealId <= last
        })
        expect(found).toBe(first)
        expect(questions).toBeLessThanOrEqual(66)
      }),
    )
  })
})
