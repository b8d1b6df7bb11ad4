import type { AuditDetail } from '@lade/core/wire'

/** Something that was done and must be known of later. It names people by their ids, never by email or IP address. */
export interface NewAuditEntry {
  /** Epoch milliseconds. */
  readonly at: number
  /** Who did it: a principal, `operator` (on the command line of the service), or `service`. */
  readonly actor: string
  /** What was done, as noun and past participle: `token.made`. */
  readonly action: string
  /** To what: a principal, `token:<jti>`, `key:<id>`. */
  readonly subject: string
  /** @default {} */
  readonly detail?: AuditDetail | undefined
}

/** How the audit log names a principal: it has no IP addresses. */
export function auditSubjectOf(principal: string): string {
  return principal.startsWith('ip:') ? 'address' : principal
}

/** An entry as it was written: one line of JSON, which holds the SHA-256 of the line before it. */
export interface AuditLine {
  readonly sequence: number
  readonly line: string
}

/**
 * The log of what operators and callers did. Entries are only ever added, each in the transaction of what it tells of where that changes the
 * records: the write of that adds it.
 */
export interface AuditLogRecords {
  /** Adds an entry about something that changes no records. */
  append(entry: NewAuditEntry): Promise<void>
  /** Adds an entry when this is not the signing key that was in use last. */
  keyInUse(request: { keyId: string; at: number }): Promise<void>
  /** Ascending, those after this sequence. */
  lines(request: { after: number; limit: number }): Promise<readonly AuditLine[]>
  /**
   * Newest first, those before this sequence.
   *
   * @param request.search - a part of the line, ASCII case folded.
   * @param request.from - only this entry, and later ones.
   */
  page(request: { before?: number; from?: number; limit: number; search?: string }): Promise<readonly AuditLine[]>
}
