import type { Row, SampledVariant } from './sample.ts'
import { median } from './statistics.ts'

/** How a row came out. */
export interface Verdict {
  baseline: SampledVariant
  ladeMedian: number
  baselineMedian: number
  /** Of the medians. */
  ratio: number
  /** The smallest and the largest ratio of a single round: how far the machine's noise reaches. */
  ratioRange: [number, number]
  /** Absent when the row has no target. */
  reached: boolean | undefined
}

/** Compares Lade with the baseline whose median is best. */
export function judge(row: Row): Verdict {
  const baseline = row.baselines.reduce((best, next) => (medianOf(next) > medianOf(best) ? next : best))
  const ladeMedian = medianOf(row.lade)
  const baselineMedian = medianOf(baseline)
  const ratio = ladeMedian / baselineMedian
  const roundRatios = row.lade.samples.map(({ value }, round) => value / (baseline.samples[round]?.value ?? Number.NaN))
  return {
    baseline,
    ladeMedian,
    baselineMedian,
    ratio,
    ratioRange: [Math.min(...roundRatios), Math.max(...roundRatios)],
    reached: row.targetRatio === undefined ? undefined : ratio >= row.targetRatio,
  }
}

/** The median of the values of a variant. */
export function medianOf(variant: SampledVariant): number {
  return median(variant.samples.map(({ value }) => value))
}
