import type {
  AdminFileList,
  AdminJobs,
  AdminLimits,
  AdminLimitsRequest,
  AdminOverview,
  AdminPrincipal,
  AdminPrincipalList,
  AdminUploadList,
  AuditPage,
  PersonalDataErased,
} from '@lade/core/wire'
import type { CallOptions } from './call-options.ts'
import type { BlockedCallerOperations, BlockOperations } from './moderation-options.ts'

export type {
  AdminFileList,
  AdminJobs,
  AdminLimits,
  AdminLimitsRequest,
  AdminOverview,
  AdminPrincipal,
  AdminPrincipalList,
  AdminUploadList,
  AuditPage,
  PersonalDataErased,
} from '@lade/core/wire'

/** Which page of a listing. */
export interface AdminPageOptions extends CallOptions {
  readonly cursor?: string | undefined
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined
  readonly q?: string | undefined
}

export interface AdminPrincipalsOptions extends AdminPageOptions {
  /** @default 'principal' */
  readonly order?: 'principal' | 'stored' | 'today' | undefined
}

export interface AdminFilesOptions extends AdminPageOptions {
  /** Only files of this caller. */
  readonly principal?: string | undefined
}

/**
 * What operators may read and do. Everything here needs a token with the scope `admin`, which only `lade keys mint` gives. A principal is named
 * as it is listed, by an IP address, or by the email address of a user.
 */
export interface AdminOperations {
  /** Totals over all callers, and the last 30 days. @throws {LadeError} `insufficient_scope`, `admin_refused`. */
  overview(options?: CallOptions): Promise<AdminOverview>
  /** A page of callers. */
  principals(options?: AdminPrincipalsOptions): Promise<AdminPrincipalList>
  /** One caller, also one that nobody knows yet. @throws {LadeError} `bad_request`, `invalid_email`. */
  principal(principal: string, options?: CallOptions): Promise<AdminPrincipal>
  /** Sets limits of one caller. @throws {LadeError} `bad_request`, `invalid_email`. */
  setLimits(principal: string, limits: AdminLimitsRequest, options?: CallOptions): Promise<AdminLimits>
  /** A page of the live files of anybody, newest first. */
  files(options?: AdminFilesOptions): Promise<AdminFileList>
  /** Uploads in flight. */
  uploads(options?: CallOptions): Promise<AdminUploadList>
  /** Leases, provers, the scrub and its findings. */
  jobs(options?: CallOptions): Promise<AdminJobs>
  /** A page of the audit log, newest first. */
  audit(options?: AdminPageOptions): Promise<AuditPage>
  /** The whole audit log as JSON lines, oldest first, as it is read. */
  auditLines(options?: CallOptions): AsyncIterable<string>
  /**
   * Everything that is kept of a caller as JSON lines, each with its `kind`, as they are read.
   *
   * @throws {LadeError} `bad_request`, `invalid_email`.
   */
  personalData(caller: string, options?: CallOptions): AsyncIterable<string>
  /**
   * Erases what is kept of a caller: ends its tokens, sessions and files, deletes their bytes, and erases names, labels and email addresses.
   * It can be repeated.
   *
   * @throws {LadeError} `bad_request`, `invalid_email`.
   */
  erasePersonalData(caller: string, options?: CallOptions): Promise<PersonalDataErased>
  readonly blocks: BlockOperations
  readonly blockedCallers: BlockedCallerOperations
}
