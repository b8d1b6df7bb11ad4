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
   * Puts {@link ERASED_ADDRESS} in the place of the IP addresses that files were charged to on days before `day`, where all of these files
   * ended before `endedBefore`. Answers of how many addresses and days.
   */
  oldAddresses(request: { readonly day: string; readonly endedBefore: number; readonly limit: number }): Promise<number>
  /** Forgets tokens that expired before a time. Answers how many. */
  oldTokens(request: { readonly expiredBefore: number; readonly limit: number }): Promise<number>
}
