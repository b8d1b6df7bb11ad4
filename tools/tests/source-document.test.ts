import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const list = new URL('../../acceptance/source-document.md', import.meta.url)
const ROW = /^\| (?<section>\d[^|]*) \| (?<rule>[^|]+) \| \[[^\]]+\]\((?<path>[^)]+)\): (?<title>.+) \|$/
const rows = readFileSync(list, 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))

test('every rule of the source document names a test that there is', () => {
  expect(rows.length).toBeGreaterThanOrEqual(115)
  const missing = rows.filter((row) => {
    const { path, title } = ROW.exec(row)?.groups ?? {}
    return path === undefined || title === undefined || !readFileSync(new URL(path, list), 'utf8').includes(title)
  })
  expect(missing).toEqual([])
})
