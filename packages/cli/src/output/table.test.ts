import { describe, expect, it } from 'vitest'
import { widthOf } from './printable.ts'
import type { Style } from './style.ts'
import { type Column, formatFacts, formatTable } from './table.ts'

const asIs = (text: string) => text
const style: Style = { bold: asIs, faint: asIs, good: asIs, doubtful: asIs, bad: asIs }

const COLUMNS: readonly Column[] = [
  { title: 'cid', minimum: 9 },
  { title: 'size', align: 'right' },
  { title: 'expires', rank: 1 },
  { title: 'name', minimum: 8 },
]
const ROWS = [
  ['bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e', '11 B', 'in 7 days', 'hello.txt'],
  ['bafy', '1.0 MiB', 'in 30 days', '猫.jpg'],
]

describe('formatTable', () => {
  it('puts columns one below the other, and cuts nothing without a width', () => {
    expect(formatTable(COLUMNS, ROWS, { style })).toEqual([
      'cid                                                             size  expires     name',
      'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e     11 B  in 7 days   hello.txt',
      'bafy                                                         1.0 MiB  in 30 days  猫.jpg',
    ])
  })

  it('cuts the widest column until the table fits', () => {
    const lines = formatTable(COLUMNS, ROWS, { width: 60, style })
    expect(lines[1]).toBe('bafkreifzjut3t…eei66wof36n5e     11 B  in 7 days   hello.txt')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60)
  })

  it('leaves out whole columns where cutting is not enough', () => {
    expect(formatTable(COLUMNS, ROWS, { width: 32, style })).toEqual([
      'cid              size  name',
      'bafkre…36n5e     11 B  hello.txt',
      'bafy          1.0 MiB  猫.jpg',
    ])
  })

  it('lets nothing in a cell break the line or reach the terminal', () => {
    const lines = formatTable(COLUMNS, [['a\x1b[31m', '1', 'b\n', 'c']], { style })
    expect(lines).toHaveLength(2)
    expect(lines[1]).not.toMatch(/\p{Cc}/u)
  })

  it('keeps what may not be cut even where the table is too wide then', () => {
    const lines = formatTable([{ title: 'jti' }], [['0123456789']], { width: 5, style })
    expect(lines).toEqual(['jti', '0123456789'])
  })
})

describe('formatFacts', () => {
  it('aligns what stands behind the names', () => {
    expect(
      formatFacts(
        [
          ['cid', 'bafk'],
          ['url', 'http://x'],
          ['longer', '1'],
        ],
        style,
      ),
    ).toEqual(['  cid     bafk', '  url     http://x', '  longer  1'])
  })
})
