import type { BlockAnswer, BlockQuestion } from '@lade/core/dag'

/** What the reading thread is asked about a block. */
export interface ReadingCall {
  readonly question: BlockQuestion
  /** The multicodec of the block's CID. */
  readonly codec: number
  readonly bytes: Uint8Array
}

/** What it answers to each call, in the order of the calls, and the processor time that this took. */
export interface ReadingAnswer {
  readonly answer: BlockAnswer
  readonly processorMs: number
}

export type ReadingReply = ReadingAnswer | { readonly error: unknown; readonly processorMs: number }
