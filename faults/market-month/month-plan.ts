import { PLAN } from '../plan.ts'

/** From one day of the month to another, with fractions. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** When a prover is down, of those numbered from 0. */
export interface Outage extends Span {
  readonly prover: number
}

export interface MonthPlan {
  readonly days: number
  /** Files are uploaded at the beginning of each day before this one. */
  readonly uploadDays: number
  readonly filesPerDay: number
  /** Files that outlive the month. */
  readonly longFiles: number
  readonly leastDeals: number
  /** A tenth of the time of all provers. */
  readonly outages: readonly Outage[]
  /** When the newest 20 blocks are replaced. Not after a prover was down: it proves what it has missed late in the period. */
  readonly reorganisations: readonly number[]
  /** When gas costs 100 times as much. */
  readonly dear: readonly Span[]
}

const MONTH: MonthPlan = {
  days: 30,
  uploadDays: 21,
  filesPerDay: 12,
  longFiles: 6,
  leastDeals: 500,
  outages: [
    { prover: 0, from: 4.3, to: 5.8 },
    { prover: 1, from: 8.1, to: 12.6 },
    { prover: 2, from: 15.2, to: 16.7 },
    { prover: 0, from: 19.6, to: 21.1 },
  ],
  reorganisations: [3.1, 7.3, 14.2, 24.15],
  dear: [
    { from: 6.4, to: 7.1 },
    { from: 17.5, to: 18.7 },
  ],
}

const WEEK: MonthPlan = {
  days: 6,
  uploadDays: 4,
  filesPerDay: 8,
  longFiles: 2,
  leastDeals: 40,
  outages: [{ prover: 1, from: 1.4, to: 3.2 }],
  reorganisations: [4.3],
  dear: [{ from: 2.9, to: 3.9 }],
}

export const MONTH_PLAN = PLAN.isFull ? MONTH : WEEK
