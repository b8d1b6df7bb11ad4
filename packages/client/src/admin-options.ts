import type { AdminOverview } from '@lade/core/wire'
import type { CallOptions } from './call-options.ts'
import type { BlockedCallerOperations, BlockOperations } from './moderation-options.ts'

export type { AdminOverview } from '@lade/core/wire'

/** What operators may read and do. Everything here needs a token with the scope `admin`, which only `lade keys mint` gives. */
export interface AdminOperations {
  /** Totals over all callers, and what was staged in the last 30 days. @throws {LadeError} `insufficient_scope`, `admin_refused`. */
  overview(options?: CallOptions): Promise<AdminOverview>
  readonly blocks: BlockOperations
  readonly blockedCallers: BlockedCallerOperations
}
