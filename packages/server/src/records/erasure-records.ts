/** The principal of sponsored files whose IP address was erased. */
export const ERASED_ADDRESS = 'ip:'

/** Whose sign-ins are erased. */
export interface EraseSignInsRequest {
  readonly principal: string
  /** Of its tokens and sessions; undefined for an IP address, which has none. */
  readonly sub: string | undefined
  readonly email: string | undefined
  /** Who erases, as `NewAuditEntry` has it. */
  readonly by: string
  readonly now: number
}

/** Some files of a principal. */
export interface EraseFilesRequest {
  readonly principal: string
  readonly now: number
  readonly limit: number
}

/** What went with some files: the digests whose bytes are to be deleted. */
export interface ErasedFiles {
  readonly files: number
  readonly deleted: readonly string[]
}

/** The place of a file among those that have ended. */
export interface EndedFilePlace {
  readonly endedAt: number
  readonly sequence: number
}

/** How many files left the records, and the last one that was looked at; undefined when there are no more. */
export interface ThinnedFiles {
  readonly files: number
  readonly last: EndedFilePlace | undefined
}

/**
 * Erasure of what is known of people: of one of them when somebody asks for it, and of everybody after a while.
 *
 * What stays of a file is what 410 and the checks of quotas need: its ids, size, times and charge, under the principal. An erased type reads
 * `application/octet-stream`.
 */
export interface ErasureRecords {
  /**
   * Revokes all tokens of a user or wallet that were issued before `now`, erases their labels and email addresses, and ends sessions, login
   * codes, limits, and what the operator wrote to block it. Adds `caller.erased` to the audit log.
   *
   * @returns how many tokens and sessions this ended.
   */
  signIns(request: EraseSignInsRequest): Promise<{ readonly tokens: number; readonly sessions: number }>
  /** Ends live files, oldest first, and lets go of bytes that nobody else has uploaded without waiting for anything. Fewer than `limit`: no more. */
  endFiles(request: EraseFilesRequest): Promise<ErasedFiles>
  /**
   * Erases name, type and owner of files that have ended, by ascending sequence, and lets go of bytes that were to stay for a while.
   *
   * @param request.after - those of a greater sequence.
   * @returns undefined as `last` when there are no more.
   */
  endedFiles(
    request: EraseFilesRequest & { readonly after: number },
  ): Promise<ErasedFiles & { readonly last: number | undefined }>
  /** Erases name, type and owner of files of anybody that ended before a time. Answers of how many. */
  oldFiles(request: { readonly endedBefore: number; readonly limit: number }): Promise<number>
  /**
   * Takes files that `oldFiles` has been through, or `endedFiles`, out of the records, in the order of their ends: with their deals, pieces,
   * copies and audits. Their names stay known as ended, for 410, and their charges stay counted on their days.
   *
   * Not yet those with a piece that a prover has still, or that has money in escrow; nor what decides which content a name leads to.
   *
   * @param request.after - those behind this one.
   */
  thinEnded(request: {
    readonly endedBefore: number
    readonly after: EndedFilePlace | undefined
    readonly limit: number
  }): Promise<ThinnedFiles>
  /**
   * Forgets objects without bytes that nothing refers to any more, by ascending number; looks at `limit` of them. Those that opaque names are
   * bound to, or that are blocked, stay.
   *
   * @param request.after - those of a greater number.
   * @returns undefined as `last` when there are no more.
   */
  forgetObjects(request: {
    readonly after: number
    readonly limit: number
  }): Promise<{ readonly objects: number; readonly last: number | undefined }>
  /**
   * Puts {@link ERASED_ADDRESS} in the place of the IP addresses that files were charged to on days before `day`, where all of these files
   * ended before `endedBefore`. Answers of how many addresses and days.
   */
  oldAddresses(request: { readonly day: string; readonly endedBefore: number; readonly limit: number }): Promise<number>
  /** Forgets tokens that expired before a time. Answers how many. */
  oldTokens(request: { readonly expiredBefore: number; readonly limit: number }): Promise<number>
}
