import { expect, test } from 'vitest'
import { choiceText } from './choice-text.ts'

test.each([
  [[], ''],
  [['GET'], 'GET'],
  [['GET', 'HEAD'], 'GET or HEAD'],
  [['GET', 'HEAD', 'POST'], 'GET, HEAD or POST'],
])('%j is "%s"', (words, text) => {
  expect(choiceText(words)).toBe(text)
})
