import { readFileSync, writeFileSync } from 'node:fs'
import type { Row } from './sample.ts'
import { judge } from './verdict.ts'

const FILE = new URL('baseline.json', import.meta.url)

/** Ratios by the names of their rows, as a quiet machine measured them. */
export type Baseline = Readonly<Record<string, number>>

/** A row whose ratio is too small. */
export interface Slower {
  readonly what: string
  readonly ratio: number
  readonly least: number
}

export interface Comparison {
  readonly slower: readonly Slower[]
  /** Rows that the baseline does not have. */
  readonly unknown: readonly string[]
}

export function readBaseline(): Baseline {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Baseline
}

/** Puts the ratios of these rows into the baseline; those of others stay. */
export function keepBaseline(rows: readonly Row[], before: Baseline): void {
  const ratios = { ...before, ...Object.fromEntries(rows.map((row) => [row.what, rounded(judge(row).ratio)])) }
  const sorted = Object.entries(ratios).toSorted(([one], [other]) => (one < other ? -1 : 1))
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`)
}

/** @param leastShare - of the baseline's ratio, which a row has to reach. */
export function compare(rows: readonly Row[], baseline: Baseline, leastShare: number): Comparison {
  const known = rows.flatMap((row) => {
    const before = baseline[row.what]
    return before === undefined ? [] : [{ what: row.what, ratio: judge(row).ratio, least: before * leastShare }]
  })
  return {
    slower: known.filter(({ ratio, least }) => ratio < least),
    unknown: rows.map(({ what }) => what).filter((what) => baseline[what] === undefined),
  }
}

function rounded(ratio: number): number {
  return Math.round(ratio * 100) / 100
}
