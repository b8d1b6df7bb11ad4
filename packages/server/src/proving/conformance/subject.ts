import type { Prover } from '../prover.ts'
import type { TestPiece } from '../testing-pieces.ts'

/** A prover of the kind under test, and what a case can do behind its back. Absent: this kind has no such thing. */
export interface ProverUnderTest {
  readonly prover: Prover
  /** Puts bytes to where the prover has them or fetches them from, and answers the `sourceUrl`. */
  offer(piece: TestPiece): string
  /** Does what it is asked next to change something, and does not answer. */
  loseNextAnswer?(): void
  /** Ends whoever is behind the prover and starts it again with what it had. */
  restart?(): Promise<void>
  /** Sees to it that additions are confirmed, or rejected, from now on; until then they are pending. */
  settleAdditions?(as: 'confirmed' | 'rejected'): void
  spoil?(pieceCid: string, how: 'lost' | 'rotten'): void
  /** Is not there any more for whoever asks. */
  vanish?(): Promise<void> | void
  /** How many pieces its data sets have altogether. */
  countStored?(): Promise<number>
  /** The CID of a piece in a data set, by the ids that the driver gave. */
  storedCid?(dataSetId: string, pieceId: string): Promise<string | undefined>
  discard?(): Promise<void>
}

/** How the suite gets a prover to test, and what its kind promises. */
export interface ProverSubject {
  /** Opens a prover that has nothing, before every test. */
  open(options: { readonly additions: 'at once' | 'when settled' }): Promise<ProverUnderTest>
  /**
   * What becomes of bytes that are not the piece's: `refused` for good, `failed` where the prover does not say why, and `unseen` where
   * it is this process, which has checked them long ago.
   */
  readonly wrongBytes: 'refused' | 'failed' | 'unseen'
  /** True when it fetches the bytes itself, and `chunks` are never asked for. */
  readonly isPulling?: boolean
}
