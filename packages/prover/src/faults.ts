/** What a caller asked, as far as a fault is chosen by it. */
export interface AskedRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
}

/**
 * Something that goes wrong with one answer. `before` happens without the request having had any effect, `after` with all
 * of its effect.
 */
export type AnswerFault =
  /** An error instead of the answer. @default status 500 */
  | {
      readonly kind: 'refuse'
      readonly when: 'before' | 'after'
      readonly status?: number
      readonly retryAfterSeconds?: number
    }
  /** The answer comes this much later. */
  | { readonly kind: 'late'; readonly when: 'before' | 'after'; readonly delayMs: number }
  /** No answer ever; the connection stays open until either side ends it. */
  | { readonly kind: 'never'; readonly when: 'before' | 'after' }
  /** The connection is cut instead. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'after' }
  /** The whole answer is written to the connection twice. Answers that are streams are sent once. */
  | { readonly kind: 'twice' }

/** Something that is wrong with a held piece. Its bytes on the disk are left as they are. */
export type PieceFault =
  /** The piece is nowhere to be found. */
  | { readonly kind: 'lost' }
  /** One byte reads as another, for proofs and retrievals alike. */
  | { readonly kind: 'flipped'; readonly offsetBytes: number }

/**
 * What goes wrong, for tests. Every function is asked each time, so that a fault can come and go.
 *
 * @example
 * startProver({ dir, faults: { answer: ({ path }) => (path === '/pdp/piece' ? { kind: 'never', when: 'after' } : undefined) } })
 */
export interface ProverFaults {
  answer?(request: AskedRequest): AnswerFault | undefined
  /** @param pieceCid - of version 2, in base32. */
  piece?(pieceCid: string): PieceFault | undefined
  /** True when the chain rejects this transaction, which then has no effect. @param txHash - 0x and 64 hex digits. */
  isRejected?(txHash: string): boolean
}
