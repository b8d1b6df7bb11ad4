import type { FileRecord } from './file-record.ts'
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
  /** What was stored when it was last noted on a day, ascending. */
  readonly stored: readonly { readonly date: string; readonly bytes: number }[]
}

/** A caller that has uploaded something, has a token, or has limits of its own. */
export interface PrincipalTotals {
  readonly principal: string
  readonly storedBytes: number
  readonly storedFiles: number
  readonly todayBytes: number
  readonly todayFiles: number
  /** The last day with an upload; null without one. */
  readonly lastDay: string | null
  /** The last use of a token; null without a token that was used. */
  readonly seenAt: number | null
  /** As the latest token of a user has it. */
  readonly email: string | null
  readonly dailyLimit: number | null
  readonly storedLimit: number | null
}

/** Which callers to list. */
export interface ListPrincipalsRequest {
  readonly today: string
  readonly order: 'principal' | 'stored' | 'today'
  /** A part of the principal, ASCII case folded. */
  readonly search?: string | undefined
  /** Only this one. */
  readonly principal?: string | undefined
  readonly offset: number
  readonly limit: number
}

/** An upload that has not ended. */
export interface RunningUpload {
  readonly id: string
  readonly principal: string
  readonly instance: string
  readonly day: string
  readonly bytes: number
  readonly leaseUntil: number
}

/** Which files of all principals to list, newest first. */
export interface ListAllFilesRequest {
  readonly now: number
  readonly limit: number
  readonly before: number
  /** Only this file, and those staged after it. */
  readonly from: number
  /** A part of the name, the cid, the owner or the principal, ASCII case folded. */
  readonly search?: string | undefined
}

/** A lease, held or not. */
export interface LeaseRow {
  readonly name: string
  readonly holder: string
  readonly until: number
  readonly fence: number
}

/** Reads over all principals, for whoever runs the service. */
export interface AdminRecords {
  totals(request: { fromDay: string }): Promise<ServiceTotals>
  /** Notes what is stored on a day, in the place of what was noted of it before. */
  noteStored(request: { day: string; bytes: number }): Promise<void>
  principals(request: ListPrincipalsRequest): Promise<readonly PrincipalTotals[]>
  /** Live files. */
  files(request: ListAllFilesRequest): Promise<readonly FileRecord[]>
  /** The oldest lease first. */
  uploads(request: { limit: number; principal?: string | undefined }): Promise<readonly RunningUpload[]>
  leases(): Promise<readonly LeaseRow[]>
  removals(): Promise<{ readonly waiting: number; readonly orphans: number }>
}
