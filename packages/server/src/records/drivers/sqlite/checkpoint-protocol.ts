import type { WriteFailure } from './writer-protocol.ts'

/** What SQLite says of its log, in pages; all are -1 where there is none. */
export interface LogState {
  readonly log: number
  readonly checkpointed: number
}

/** What the checkpoint thread says after a round: nothing when it went well. */
export interface RoundReply {
  readonly failure?: WriteFailure
}
