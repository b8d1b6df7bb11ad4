import { LadeError } from '@lade/core/errors'
import type { Prover } from '../proving/prover.ts'
import type { PlacementContext } from './placement-context.ts'
import { doubledMs, type PlacementSchedule } from './placement-schedule.ts'

/**
 * What came of asking a prover. `refused`: no, for good. `silent`: nothing, nothing in time, or nothing that makes sense; it may be
 * different later, and no sooner than `retryAfterMs`.
 */
export type ProverAnswer<Result> =
  | { readonly outcome: 'answered'; readonly result: Result }
  | { readonly outcome: 'refused'; readonly reason: string }
  | { readonly outcome: 'silent'; readonly reason: string; readonly retryAfterMs: number }

/**
 * Asks a prover, and waits no longer than `deadlineMs`. What it answers later is not heard.
 *
 * @throws the reason of the context's signal as soon as that aborts; what `ask` throws that is not `stage_failed`.
 */
export async function askProver<Result>(
  context: Pick<PlacementContext, 'signal' | 'outages'>,
  prover: Prover,
  deadlineMs: number,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<ProverAnswer<Result>> {
  const { signal, outages } = context
  try {
    const result = await inTime(signal, deadlineMs, ask)
    outages.answered(prover.name)
    return { outcome: 'answered', result }
  } catch (error) {
    signal.throwIfAborted()
    if (!LadeError.has(error, 'stage_failed')) throw error
    const { reason, retryAfterSeconds } = error.evidence
    if (retryAfterSeconds === undefined) {
      outages.answered(prover.name)
      return { outcome: 'refused', reason }
    }
    outages.wasSilent(prover.name)
    return { outcome: 'silent', reason, retryAfterMs: 1000 * retryAfterSeconds }
  }
}

/** When to ask again after `failuresBefore` failures and this one: not sooner than the prover said. */
export function retryAt(
  { now, schedule }: { now: () => number; schedule: PlacementSchedule },
  { failuresBefore, retryAfterMs }: { failuresBefore: number; retryAfterMs: number },
): number {
  const asked = Math.min(retryAfterMs, schedule.maxRetryAfterMs)
  return now() + Math.max(asked, doubledMs(schedule.firstRetryMs, failuresBefore, schedule.maxRetryMs))
}

async function inTime<Result>(
  stopping: AbortSignal,
  deadlineMs: number,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  stopping.throwIfAborted()
  const ending = new AbortController()
  let end = (_reason: unknown): void => {}
  const ended = new Promise<never>((_resolve, reject) => {
    end = (reason) => {
      reject(reason)
      ending.abort(reason)
    }
  })
  const stop = (): void => end(stopping.reason)
  const seconds = Math.ceil(deadlineMs / 1000)
  const timer = setTimeout(() => {
    const reason = `The prover did not respond within ${seconds} s.`
    end(new LadeError('stage_failed', { reason, retryAfterSeconds: 1 }))
  }, deadlineMs)
  stopping.addEventListener('abort', stop, { once: true })
  try {
    // Whichever of the two settles later is heard by nobody, also when it rejects.
    return await Promise.race([ask(ending.signal), ended])
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
  }
}
