import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { type ProverClient, statusOnly } from './prover-client.ts'
import { isPassing, unusable } from './stage-failure.ts'

const Found = z.object({ pieceCid: z.string().max(200) })
const FIRST_WAIT_MS = 50

/** True when the prover has the piece and would add it to a data set. */
export async function isFound(client: ProverClient, pieceCid: string, signal: AbortSignal): Promise<boolean> {
  const path = `/pdp/piece?${new URLSearchParams({ pieceCid })}`
  const found = await client.askJson({ method: 'GET', path, signal }, Found, {
    otherwise: ({ status }) => (status === 404 ? { pieceCid: '' } : undefined),
  })
  return found.pieceCid === pieceCid
}

/**
 * True when the prover has the piece; it then keeps it as long as one that was just uploaded.
 *
 * Curio drops a piece two hours after its upload if no data set has it. Looking for it does not change that, but announcing an upload of it does.
 */
export async function isKept(client: ProverClient, pieceCid: string, signal: AbortSignal): Promise<boolean> {
  if (!(await isFound(client, pieceCid, signal))) return false
  return client.ask(
    { method: 'POST', path: '/pdp/piece', json: { pieceCid }, signal },
    statusOnly(200),
    () => true,
    // The bytes are gone meanwhile, and have to be sent.
    ({ status }) => (status === 201 ? false : undefined),
  )
}

export interface PollOptions {
  /** How long the question is repeated. */
  readonly untilMs: number
  /** The longest wait between two questions; the first waits are shorter. */
  readonly pollMs: number
  readonly signal: AbortSignal
}

/**
 * Asks until the answer is yes. Failures that may pass count as no.
 *
 * @throws {LadeError} `stage_failed` when time runs out, for the last failure if that is why; the reason of `signal`.
 */
export async function untilTrue(
  ask: () => Promise<boolean>,
  { untilMs, pollMs, signal }: PollOptions,
  complaint: string,
): Promise<void> {
  let last: unknown
  let waitMs = Math.min(FIRST_WAIT_MS, pollMs)
  for (const end = performance.now() + untilMs; ; ) {
    try {
      if (await ask()) return
      last = undefined
    } catch (error) {
      if (!isPassing(error)) throw error
      last = error
    }
    if (performance.now() + waitMs > end) throw last ?? unusable(complaint)
    await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    waitMs = Math.min(2 * waitMs, pollMs)
  }
}
