import { KIND_TYPES } from '@lade/core/wire'
import type { Dialect } from './sql.ts'

/** Like {@link fileKindOf} of core, as an expression over a column of media types. */
export function fileKindSql(column: string, { before }: Pick<Dialect, 'before'>): string {
  const essence = `rtrim(${before(`lower(${column})`, "';'")}, ' \t')`
  const cases = KIND_TYPES.map(({ kind, prefixes = [], types = [], suffixes = [] }) => {
    const isOfKind = [
      ...(types.length === 0 ? [] : [`${essence} IN (${types.map((type) => `'${type}'`).join(', ')})`]),
      ...prefixes.map((prefix) => `${essence} LIKE '${prefix}%'`),
      ...suffixes.map((suffix) => `${essence} LIKE '%${suffix}'`),
    ]
    return `WHEN ${isOfKind.join(' OR ')} THEN '${kind}'`
  })
  return `CASE ${cases.join(' ')} ELSE 'other' END`
}
