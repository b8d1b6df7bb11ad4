import { LadeError } from '@lade/core/errors'
import { expect } from 'vitest'
import type { Prover } from '../../prover.ts'
import { testPiece, toPark } from '../../testing-pieces.ts'
import { type HttpProverOptions, openHttpProver } from './http-prover.ts'
import { startPeer, type Talk } from './testing-peer.ts'

export const NEVER = new AbortController().signal
export const MiB = 1024 * 1024
export const NONCE = 'ab'.repeat(32)
export const PIECE = testPiece(1000)
export const ADDITION = { nonce: NONCE, dataSetId: null, pieceCids: [PIECE.pieceCid] }
const TIMES = { connectMs: 300, headMs: 300, bodyMs: 300, idleMs: 300 }
/** For those whose answers never come to an end anyway. */
const SHORT_TIMES = { ...TIMES, headMs: 100, bodyMs: 100 }
const QUICK = { times: TIMES, transactionMs: 300, attempts: 1, findMs: 300, pollMs: 20, retryDelayMs: 10 }

/** A prover over HTTP that waits for nobody long. */
export const openProver = (origin: string, options: Partial<HttpProverOptions> = {}): Prover =>
  openHttpProver({ origin, kind: 'reference', ...QUICK, ...options })

/** The evidence of the `stage_failed` that an action has to end with. */
export async function failureOf(action: Promise<unknown>) {
  const failure = await action.then(
    (result) => new Error(`it succeeded with ${JSON.stringify(result)}`),
    (error: unknown) => error,
  )
  if (!LadeError.has(failure, 'stage_failed')) throw failure
  return failure.evidence
}

/** Every call of a prover that asks something, to be tried against one and the same bad answer. */
export const CALLS: readonly (readonly [string, (prover: Prover) => Promise<unknown>])[] = [
  ['check', (prover) => prover.check()],
  ['park', (prover) => prover.park(toPark(PIECE), NEVER)],
  ['add', (prover) => prover.add(ADDITION)],
  ['progress', (prover) => prover.progress({ ...ADDITION, transaction: `0x${NONCE}` })],
  ['remove', (prover) => prover.remove({ dataSetId: '1', pieceId: '0', pieceCid: PIECE.pieceCid, nonce: NONCE })],
  ['prove', (prover) => prover.prove({ pieceCid: PIECE.pieceCid, sizeBytes: 1000, seed: Buffer.alloc(32), count: 1 })],
  ['read', (prover) => prover.read({ pieceCid: PIECE.pieceCid, offset: 0, length: 100 })],
]

/** Expects every call to fail soon, and so that it may be tried again, with whoever talks like that. */
export async function failEverywhere(talk: Talk): Promise<void> {
  const { origin } = await startPeer(talk)
  for (const [, call] of CALLS) {
    const prover = openProver(origin, { times: SHORT_TIMES, transactionMs: 100 })
    const started = performance.now()
    const { reason, retryAfterSeconds } = await failureOf(call(prover))
    expect(retryAfterSeconds).toBeGreaterThan(0)
    expect(reason.length).toBeLessThan(300)
    expect(performance.now() - started).toBeLessThan(2000)
    await prover.close()
  }
}
