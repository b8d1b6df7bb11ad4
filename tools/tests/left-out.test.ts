import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { describeLeftOut, OTHER_SUITES } from './left-out.ts'
import { LONG_TESTS } from './long-tests.ts'
import { MEASURING_TESTS } from './measuring-tests.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('what a run left out', () => {
  test('has a line for each reason, the most frequent first, and one for each suite that did not run', () => {
    const [faults] = OTHER_SUITES.filter(({ project }) => project === 'faults')
    if (faults === undefined) throw new Error('there is no suite of faults')
    expect(describeLeftOut(['no caddy', 'no nginx', undefined, 'no nginx'], [faults])).toEqual([
      'Left out:',
      '  2 tests: no nginx',
      '  1 test: no caddy',
      '  1 test: no reason given',
      '  faults (kills, power cuts, failing disks): npm run test:long',
    ])
  })

  test('is nothing if all tests ran', () => {
    expect(describeLeftOut([], [])).toEqual([])
  })
})

test.each([...LONG_TESTS, ...MEASURING_TESTS])('%s, which is listed by name, exists', (file) => {
  expect(existsSync(join(ROOT, file))).toBe(true)
})
