import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

// The table of faults says what is tested where. It must not name tests that were moved or removed.

const PAGE = new URL('../faults/README.md', import.meta.url)
const ROWS = 169
const HOLDS = ['yes', 'part', 'no', 'open', 'see']

interface Row {
  readonly number: number
  readonly holds: string
  /** The tests, and the reason where something is missing. */
  readonly where: string
}

function rowsOf(page: string): Row[] {
  return [...page.matchAll(/^\| R(\d+) \| [^|]+ \| ([^|]+) \| (.+) \|$/gm)].map(
    ([, number, holds = '', where = '']) => ({
      number: Number(number),
      holds,
      where,
    }),
  )
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target)
}

describe('the table of faults', () => {
  const page = readFileSync(PAGE, 'utf8')
  const rows = rowsOf(page)

  test('has every row once, in order', () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1))
  })

  test('names only files that exist', () => {
    expect(linksIn(page).filter((target) => !existsSync(new URL(target, PAGE)))).toEqual([])
  })

  test('names a test wherever it says that something holds, and a reason wherever it does not', () => {
    const without = ({ holds, where }: Row) => {
      const links = linksIn(where).length
      return holds === 'yes' || holds === 'part' ? links === 0 : where.trim() === ''
    }
    expect(rows.filter((row) => !HOLDS.includes(row.holds) || without(row))).toEqual([])
  })
})
