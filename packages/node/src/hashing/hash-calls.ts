import type { StreamResult, StreamSpec } from './hash-streams.ts'

/**
 * What a thread is asked, about one body of many. Blocks lie in shared memory, so that only their addresses cross over.
 *
 * A body is opened once, gets its blocks in order, and is closed or discarded.
 */
export type HashCall =
  | {
      readonly call: 'open'
      readonly body: number
      readonly streams: readonly StreamSpec[]
      readonly sizeBytes: number | undefined
      /** True to hash sha2-256 by node:crypto in any case. */
      readonly withoutAddon: boolean
    }
  | { readonly call: 'block'; readonly body: number; readonly block: Uint8Array }
  | { readonly call: 'close' | 'discard'; readonly body: number }

/** What a thread answers to each call: the results when a body was closed, and otherwise that it is done. */
export interface HashAnswer {
  /** Processor time that the call took, in milliseconds. */
  readonly processorMs: number
  /** About how much memory the thread holds for the body after a block. */
  readonly heldBytes?: number
  readonly results?: readonly StreamResult[]
}

export type HashReply = HashAnswer | { readonly error: unknown; readonly processorMs: number }
