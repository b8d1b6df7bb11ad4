import { printable, shorten, widthOf } from './printable.ts'
import type { Style } from './style.ts'

/** A column of a table. */
export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** How few columns of the terminal it may be cut to. Absent: it is never cut. */
  readonly minimum?: number
  /** The table leaves out the columns with the highest rank first when it does not fit. Absent: it is never left out. */
  readonly rank?: number
}

export interface TableOptions {
  /** Columns of the terminal. Absent: nothing is cut or left out. */
  readonly width?: number | undefined
  readonly style: Style
}

const GAP = 2

/**
 * Lines of a table: the titles, then the rows, with the columns one below the other.
 *
 * What does not fit into the width is cut in its middle, and whole columns are left out when that is not enough. Cells
 * are made printable; no line ends in blanks.
 */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string[] {
  const cells = rows.map((row) => row.map(printable))
  const natural = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[at] ?? ''))),
  )
  const shown = layOut(columns, natural, options.width ?? Number.POSITIVE_INFINITY)
  const line = (texts: readonly string[]) =>
    shown
      .map(({ at, width }) => pad(shorten(texts[at] ?? '', width), width, columns[at]?.align))
      .join(' '.repeat(GAP))
      .trimEnd()
  return [options.style.faint(line(columns.map(({ title }) => title))), ...cells.map(line)]
}

interface ShownColumn {
  readonly at: number
  readonly width: number
}

function layOut(columns: readonly Column[], natural: readonly number[], width: number): ShownColumn[] {
  let shown = columns.map((column, at) => ({ at, ...column, width: natural[at] ?? 0 }))
  const least = () => lengthOf(shown.map((column) => Math.min(column.width, column.minimum ?? column.width)))
  for (;;) {
    const ranks = shown.map(({ rank = 0 }) => rank)
    const highest = Math.max(0, ...ranks)
    if (least() <= width || highest === 0) break
    shown = shown.filter(({ rank = 0 }) => rank !== highest)
  }
  // The widest column that may still give gives first, so that what is short stays whole.
  while (lengthOf(shown.map((column) => column.width)) > width) {
    const giving = shown.filter((column) => column.width > (column.minimum ?? column.width))
    const widest = giving.reduce<(typeof shown)[number] | undefined>(
      (found, column) => (found === undefined || column.width > found.width ? column : found),
      undefined,
    )
    if (widest === undefined) break
    widest.width -= 1
  }
  return shown
}

function lengthOf(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP * Math.max(0, widths.length - 1)
}

function pad(text: string, width: number, align: Column['align']): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'right' ? blanks + text : text + blanks
}

/**
 * Facts one below the other, each behind its name; indented by two.
 *
 * @example
 * formatFacts([['cid', 'bafk…'], ['size', '17 B']], style) // ['  cid   bafk…', '  size  17 B']
 */
export function formatFacts(facts: readonly (readonly [name: string, value: string])[], style: Style): string[] {
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `  ${style.faint(name.padEnd(width))}  ${printable(value)}`)
}
