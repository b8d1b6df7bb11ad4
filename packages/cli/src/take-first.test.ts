import { describe, expect, it } from 'vitest'
import { takeFirst } from './take-first.ts'

async function* counting(to: number, asked: number[]) {
  for (let at = 1; at <= to; at += 1) {
    asked.push(at)
    yield at
  }
}

describe('takeFirst', () => {
  it('takes as many as asked for, and one more to know whether there is one', async () => {
    const asked: number[] = []
    expect(await takeFirst(counting(10, asked), 3)).toEqual({ items: [1, 2, 3], hasMore: true })
    expect(asked).toEqual([1, 2, 3, 4])
  })

  it('takes all where there are not more', async () => {
    expect(await takeFirst(counting(3, []), 3)).toEqual({ items: [1, 2, 3], hasMore: false })
  })
})
