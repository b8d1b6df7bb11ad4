import type {
  BlockCallerRequest,
  BlockedCallerEntry,
  BlockedCallerList,
  BlockList,
  BlockResult,
  ContentBlockEntry,
} from '@lade/core/wire'
import type { CallOptions } from './call-options.ts'

export type {
  BlockCallerRequest,
  BlockedCallerEntry,
  BlockedCallerList,
  BlockList,
  BlockResult,
  ContentBlockEntry,
} from '@lade/core/wire'

/** Why content is blocked, and what becomes of its bytes. */
export interface BlockOptions extends CallOptions {
  /** One line; owners of the content are told it. */
  readonly reason: string
  /** Ends the files, and deletes their bytes at once. @default false */
  readonly delete?: boolean
}

/** A page of what is blocked. */
export interface BlockPageOptions extends CallOptions {
  readonly cursor?: string
  /** @default 100 */
  readonly limit?: number
}

/** Content that the operator blocks. */
export interface BlockOperations {
  /** Blocks content by any of its ids, on every instance within 2 seconds. Blocking again replaces the reason. */
  add(cid: string, options: BlockOptions): Promise<BlockResult>
  /** Unblocks it. Files that were ended stay so. @throws {LadeError} `not_found`. */
  remove(cid: string, options?: CallOptions): Promise<ContentBlockEntry>
  /** Newest first, with the denylists that are in force. */
  page(options?: BlockPageOptions): Promise<BlockList>
}

/** Callers that the operator refuses. */
export interface BlockedCallerOperations {
  /** Blocks a user, a wallet, an address or a network, on every instance within 2 seconds. */
  add(request: BlockCallerRequest, options?: CallOptions): Promise<BlockedCallerEntry>
  /** Lets a caller in again. @throws {LadeError} `not_found`. */
  remove(id: number, options?: CallOptions): Promise<BlockedCallerEntry>
  /** Newest first. */
  page(options?: BlockPageOptions): Promise<BlockedCallerList>
}
