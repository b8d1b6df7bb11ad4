import type { OverQuota } from '../quota-rule/decide-quota.ts'
import type { FileRecord, NewFile } from './file-record.ts'
import type { AskingToken, DayLeft } from './limit-records.ts'

/** What somebody claims: the sponsored file under a key, by the secret that was announced with its upload. */
export interface ClaimQuestion {
  readonly key: string
  /** The sha2-256 of the secret, 64 lower-case hex digits. */
  readonly digest: string
  /** Who claims. */
  readonly principal: string
  readonly now: number
}

/**
 * `open` is the live sponsored file. `taken` is the claimant's own live file of the same bytes, where the sponsored one has ended: a claim
 * whose answer was lost. `absent`: nobody's upload announced this secret for this key, or its file has ended.
 */
export type FoundClaim =
  | { readonly outcome: 'open'; readonly file: FileRecord }
  | { readonly outcome: 'taken'; readonly file: FileRecord }
  | { readonly outcome: 'absent' }

/** A claim of the file that `find` found. */
export interface TakeRequest {
  /** The sequence of the sponsored file. */
  readonly sponsored: number
  readonly digest: string
  readonly now: number
  readonly day: string
  readonly capBytes: number
  readonly capFiles: number
  readonly capStoredBytes?: number | undefined
  /** What the claimant asks with, where that has a quota of its own. */
  readonly token?: AskingToken | undefined
  /** What the claimant gets. */
  readonly file: NewFile
}

/**
 * `recorded`: the claimant has a file of its own, charged to its day. `retry`: it had one, which stays as it was, and nothing is charged. In
 * both the sponsored file has ended. `gone`: it had ended before, or somebody else has claimed it.
 */
export type TakeOutcome =
  | {
      readonly outcome: 'recorded' | 'retry'
      readonly file: FileRecord
      readonly usedBytes: number
      readonly day?: DayLeft
    }
  | (OverQuota & { readonly day?: DayLeft })
  | { readonly outcome: 'gone' }

/**
 * Claims of sponsored files. An upload that records a file keeps the digest that it announced (`NewFile.claimDigest`) with it; a retry
 * changes nothing, so that nobody who shares its principal gets the file.
 */
export interface ClaimRecords {
  find(question: ClaimQuestion): Promise<FoundClaim>
  /**
   * Gives a sponsored file to an account, without a byte being moved: the account gets a file of the same object, later than all others, with
   * the deal of the sponsored one, which ends. What the address was charged stays charged.
   */
  take(request: TakeRequest): Promise<TakeOutcome>
}
