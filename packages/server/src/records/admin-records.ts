import type { UsageDay } from './usage-day.ts'

/** What all principals have together. */
export interface ServiceTotals {
  readonly storedBytes: number
  readonly storedFiles: number
  /** Those with stored files. */
  readonly principals: number
  readonly runningUploads: number
  readonly reservedBytes: number
  /** What was charged, ascending, only days with a charge. */
  readonly days: readonly UsageDay[]
}

/** Reads over all principals, for whoever runs the service. */
export interface AdminRecords {
  totals(request: { fromDay: string }): Promise<ServiceTotals>
}
