import type { ProverBench } from './bench.ts'
import type { ProverSubject, ProverUnderTest } from './subject.ts'

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
