import { describe, expect, test } from 'vitest'
import { compare, readBaseline } from './baseline.ts'
import type { Row } from './sample.ts'

const variant = (name: string, value: number) => ({ name, samples: [{ value }] })
const row = (what: string, lade: number, baseline: number): Row => ({
  what,
  unit: '/s',
  targetRatio: 2,
  lade: variant('Lade', lade),
  baselines: [variant('a slow one', baseline / 2), variant('the best one', baseline)],
  others: [],
})

describe('rows and the baseline', () => {
  test('are compared by the ratio to the best variant', () => {
    const rows = [row('as before', 200, 100), row('a little slower', 181, 100), row('too slow', 179, 100)]
    const baseline = { 'as before': 2, 'a little slower': 2, 'too slow': 2, 'not measured': 9 }
    expect(compare(rows, baseline, 0.9)).toEqual({
      slower: [{ what: 'too slow', ratio: 1.79, least: 1.8 }],
      unknown: [],
    })
    expect(compare(rows, baseline, 0.5).slower).toEqual([])
    expect(compare([row('halved', 99, 100)], { halved: 2 }, 0.5).slower).toHaveLength(1)
  })

  test('that the baseline does not have are named', () => {
    expect(compare([row('new', 1, 1)], {}, 0.9)).toEqual({ slower: [], unknown: ['new'] })
  })

  test('the baseline has ratios', () => {
    for (const ratio of Object.values(readBaseline())) expect(ratio).toBeGreaterThan(0)
  })
})
