import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'
import type { Addition, AdditionProgress, Prover } from '../prover.ts'
import { type TestPiece, toPark } from '../testing-pieces.ts'
import type { ProverSubject, ProverUnderTest } from './subject.ts'

/** A signal that is never aborted. */
export const NEVER = new AbortController().signal

export function newNonce(): string {
  return randomBytes(32).toString('hex')
}

/** The evidence of the `stage_failed` that an action has to end with. */
export async function failureOf(action: Promise<unknown>) {
  const failure = await action.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!LadeError.has(failure, 'stage_failed')) throw new Error('it did not fail as it should have', { cause: failure })
  expect(failure.evidence.reason).not.toBe('')
  expect(failure.evidence.reason).not.toMatch(/\p{Cc}/u)
  return failure.evidence
}

/** What a case works on. */
export class ProverBench {
  readonly opened: ProverUnderTest
  readonly subject: ProverSubject

  constructor(opened: ProverUnderTest, subject: ProverSubject) {
    this.opened = opened
    this.subject = subject
  }

  get prover(): Prover {
    return this.opened.prover
  }

  /** Parks pieces one after another; answers their CIDs. */
  async park(...pieces: readonly TestPiece[]): Promise<string[]> {
    for (const piece of pieces) await this.prover.park(toPark(piece, { sourceUrl: this.opened.offer(piece) }), NEVER)
    return pieces.map(({ pieceCid }) => pieceCid)
  }

  /** Asks until the addition is no longer pending. */
  async settled(addition: Addition & { readonly transaction: string }): Promise<AdditionProgress> {
    let { transaction } = addition
    for (const until = Date.now() + 10_000; Date.now() < until; await sleep(20)) {
      const progress = await this.prover.progress({ ...addition, transaction })
      if (progress.state !== 'pending') return progress
      transaction = progress.transaction ?? transaction
    }
    throw new Error('the addition is still pending after ten seconds')
  }

  /** Adds, waits for the confirmation, and sees whether each id is that of its piece. */
  async add(addition: Addition) {
    const transaction = await this.prover.add(addition)
    const progress = await this.settled({ ...addition, transaction })
    if (progress.state !== 'confirmed') throw new Error(`the addition is ${JSON.stringify(progress)}`)
    expect(progress.pieceIds).toHaveLength(addition.pieceCids.length)
    const { storedCid } = this.opened
    for (const [index, pieceId] of progress.pieceIds.entries()) {
      if (storedCid !== undefined) expect(await storedCid(progress.dataSetId, pieceId)).toBe(addition.pieceCids[index])
    }
    return progress
  }

  /** Where the prover under test can be asked how many pieces it has stored, it has to be so many. */
  async expectStored(count: number): Promise<void> {
    if (this.opened.countStored !== undefined) expect(await this.opened.countStored()).toBe(count)
  }
}
