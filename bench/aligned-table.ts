/**
 * Lays out rows of cells in columns as wide as their widest cell. The first column is set left, the others right.
 *
 * @example
 * alignedTable([['what', 'n'], ['a', '10']]) // 'what   n\na     10'
 */
export function alignedTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n')
}
