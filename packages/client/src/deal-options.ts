import type { ChallengeResult, DealEntry, DealProofs } from '@lade/core/wire'
import type { CallOptions } from './call-options.ts'

export type { ChallengeResult, DealEntry, DealProofs } from '@lade/core/wire'

export interface DealListOptions extends CallOptions {
  /** Deals a page, 1 to 1000. @default 100 */
  readonly limit?: number | undefined
  /** @default all of them */
  readonly status?: DealEntry['status'] | undefined
}

/** How much longer a deal is to last: one of the three. A term that is long enough already stays. */
export type ExtendDealOptions = CallOptions &
  (
    | {
        /** To be added to the term, at least 1. */
        readonly days: number
        readonly until?: undefined
        readonly termDays?: undefined
      }
    | {
        /** The deal ends then, or up to a day later. */
        readonly until: Date
        readonly days?: undefined
        readonly termDays?: undefined
      }
    | {
        /** The whole term from the upload. */
        readonly termDays: number
        readonly days?: undefined
        readonly until?: undefined
      }
  )

/** The storage agreements of one caller. @see docs/protocol/deals.md */
export interface DealOperations {
  /** All of them, newest first, page by page as they are read. Scope `list`. */
  list(options?: DealListOptions): AsyncIterable<DealEntry>
  /** One of them. Scope `list`. @throws {LadeError} `not_found`. */
  get(dealId: string, options?: CallOptions): Promise<DealEntry>
  /**
   * Makes the term of one of them longer. Scope `pin`. A call whose answer was lost is sent again and extends the deal once.
   *
   * @returns the deal as it is now.
   * @throws {LadeError} `invalid_term`, whose reason says how many days are left; `deal_ended`; `not_found`.
   */
  extend(dealId: string, options: ExtendDealOptions): Promise<DealEntry>
  /**
   * Says how many provers are to hold the file of one of them. Scope `pin`. Copies are made and released after the answer: `provedCopies` of `get`
   * tells when.
   *
   * @param copies - 1 to 16.
   * @returns the deal as it is now.
   * @throws {LadeError} `not_enough_provers` with `asked` and `available`; `not_placed`, when no prover gets the file; `deal_ended`;
   *   `not_found`.
   */
  setRedundancy(dealId: string, copies: number, options?: CallOptions): Promise<DealEntry>
  /** The last audits of its copies, with what was answered. Nothing is checked here. Scope `list`. @throws {LadeError} `not_found`. */
  proofs(dealId: string, options?: CallOptions): Promise<DealProofs>
}

export interface ChallengeOptions extends CallOptions {
  /** 1 to 128 characters that nobody could know before. @default 32 random hex digits */
  readonly nonce?: string | undefined
}

/** A proof that a file is held, which was checked here. */
export interface CheckedChallenge {
  /** As the service gave it, for whoever is to check it again. */
  readonly answer: ChallengeResult
  /** Piece CID v2 of what was proved to be there: of the file, also of one in an aggregate; of a file in several pieces, of one of these. */
  readonly pieceCid: string
  /**
   * True when that piece is what the cid names by itself, so that nobody had to be believed. False when only the service says that it is the
   * file, or a part of it.
   */
  readonly isPieceOfCid: boolean
}
