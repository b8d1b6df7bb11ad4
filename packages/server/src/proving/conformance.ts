import { describe, test } from 'vitest'
import { ADDITION_CASES } from './conformance/addition-cases.ts'
import { ProverBench } from './conformance/bench.ts'
import { LIFETIME_CASES } from './conformance/lifetime-cases.ts'
import { PARKING_CASES } from './conformance/parking-cases.ts'
import { POSSESSION_CASES } from './conformance/possession-cases.ts'
import type { Prover } from './prover.ts'
import type { TestPiece } from './testing-pieces.ts'

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

/** A promise of `Prover`, tried on a prover of its own. */
export interface ProverCase {
  /** The behaviour, as a sentence. */
  readonly title: string
  /** What a prover under test must offer for the case to say anything. */
  readonly needs?: readonly Exclude<keyof ProverUnderTest, 'prover' | 'offer' | 'discard'>[]
  /** False for subjects that the case says nothing about. */
  suits?(subject: ProverSubject): boolean
  /** True when `Prover.prove` is called. */
  readonly isAboutProofs?: boolean
  /** @default at once */
  readonly additions?: 'at once' | 'when settled'
  run(bench: ProverBench): Promise<void>
}

const CASES: readonly ProverCase[] = [...PARKING_CASES, ...ADDITION_CASES, ...POSSESSION_CASES, ...LIFETIME_CASES]

/** The promises of `Prover`, for every driver. A case that a subject has no means for is shown as skipped. */
export function describeProver(name: string, subject: ProverSubject): void {
  describe(`Prover: ${name}`, () => {
    for (const { title, needs = [], suits, isAboutProofs, additions = 'at once', run } of CASES) {
      test.skipIf(suits?.(subject) === false)(title, async (context) => {
        const opened = await subject.open({ additions })
        try {
          const isMissing = needs.some((hook) => opened[hook] === undefined)
          const hasNoProofs = isAboutProofs === true && opened.prover.auditedBy !== 'proof'
          if (isMissing || hasNoProofs) return context.skip()
          await run(new ProverBench(opened, subject))
        } finally {
          await opened.prover.close()
          await opened.discard?.()
        }
      })
    }
  })
}
