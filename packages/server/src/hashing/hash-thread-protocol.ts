/** What the hashing thread is asked: to take a block, to end a stream with its digest, to forget a stream. */
export type HashCall =
  | { readonly stream: number; readonly block: Uint8Array }
  | { readonly stream: number; readonly end: 'digest' | 'discard' }

/** Answers blocks and digests, in the order in which they were asked; a discard has no answer. */
export interface HashReply {
  readonly digestHex?: string
}
