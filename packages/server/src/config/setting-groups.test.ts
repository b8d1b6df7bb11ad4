import { expect, test } from 'vitest'
import { SETTING_GROUPS } from './setting-groups.ts'
import { SETTINGS } from './settings.ts'

test('the groups contain every setting exactly once', () => {
  expect(SETTING_GROUPS.flatMap(({ keys }) => keys).toSorted()).toEqual(Object.keys(SETTINGS).toSorted())
})

test('the five settings that matter most come first', () => {
  expect(SETTING_GROUPS[0]?.keys).toHaveLength(5)
})
