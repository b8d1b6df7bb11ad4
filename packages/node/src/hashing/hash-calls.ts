import type { StreamResult, StreamSpec } from './hash-streams.ts'

/**
 * What a thread is asked, about one body of many. Blocks lie in shared memory, so that only their addresses cross over.
 *
 * A body gets its blocks in order, and is closed or discarded. The first call of a body opens it, and its last block may close it: a body of
 * one block takes one call.
 */
export type HashCall =
  | ({
      readonly call: 'block'
      readonly block: Uint8Array
      /** True to close the body behind this block. */
      readonly isLast: boolean
    } & OpeningCall)
  | ({ readonly call: 'close' } & OpeningCall)
  | { readonly call: 'discard'; readonly body: number }

interface OpeningCall {
  readonly body: number
  /** What is computed, in the first call of a body. */
  readonly open: OpenBody | undefined
}

/** How a body is opened. */
export interface OpenBody {
  readonly streams: readonly StreamSpec[]
  readonly sizeBytes: number | undefined
  /** True to hash sha2-256 by node:crypto in any case. */
  readonly withoutAddon: boolean
}

/** What a thread answers to each call: the results when a body was closed, and otherwise that it is done. */
export interface HashAnswer {
  /** Processor time that the call took, in milliseconds. */
  readonly processorMs: number
  /** About how much memory the thread holds for the body after a block. */
  readonly heldBytes?: number
  readonly results?: readonly StreamResult[]
}

export type HashReply = HashAnswer | { readonly error: unknown; readonly processorMs: number }
