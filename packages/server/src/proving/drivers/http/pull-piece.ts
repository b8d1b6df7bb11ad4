import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import type { PieceToPark } from '../../prover.ts'
import type { Authorization } from './authorization.ts'
import { isFound, isKept, untilTrue } from './find-piece.ts'
import type { ProverClient } from './prover-client.ts'
import { unusable } from './stage-failure.ts'

/** A source that could not be read may be readable again; the prover has given up on it for now. */
const FAILED_RETRY_SECONDS = 300

const Status = z.enum(['pending', 'inProgress', 'retrying', 'complete', 'failed'])
const Pull = z.object({
  status: Status,
  pieces: z.array(z.object({ pieceCid: z.string().max(200), status: Status })).max(100),
})

export interface PullOptions {
  readonly authorization: Authorization
  readonly findMs: number
  readonly pollMs: number
  /** How long the prover may take to fetch it. */
  readonly untilMs: number
  readonly signal: AbortSignal
}

/**
 * Has the prover fetch a piece, unless it is there. The same request again asks how it is going.
 *
 * Every call makes a pull of its own: one that failed stays failed for whoever asks after it.
 *
 * @see Curio, `pdp/handlers_pull.go`
 */
export async function pullPiece(client: ProverClient, piece: PieceToPark, options: PullOptions): Promise<void> {
  const { authorization, findMs, pollMs, untilMs, signal } = options
  const { pieceCid, sourceUrl } = piece
  const ask = (): Promise<boolean> => isFound(client, pieceCid, signal)
  if (await isKept(client, pieceCid, signal)) return
  const nonce = randomBytes(32).toString('hex')
  const extraData = await authorization.creation({ nonce, pieceCids: [pieceCid] })
  const json = { extraData, recordKeeper: authorization.recordKeeper, pieces: [{ pieceCid, sourceUrl }] }
  const question = { method: 'POST', path: '/pdp/piece/pull', json, signal } as const
  let isFailed = false
  // The first answer decides whether it is taken at all; later ones may be lost.
  const isComplete = async (): Promise<boolean> => {
    const { pieces } = await client.askJson(question, Pull)
    const status = pieces.find((item) => item.pieceCid === pieceCid)?.status
    isFailed = status === 'failed'
    return isFailed || status === 'complete'
  }
  if (!(await isComplete())) {
    await untilTrue(isComplete, { untilMs, pollMs, signal }, 'The prover did not fetch the piece in time.')
  }
  if (isFailed) throw unusable('The prover could not fetch the piece.', { retryAfterSeconds: FAILED_RETRY_SECONDS })
  await untilTrue(ask, { untilMs: findMs, pollMs, signal }, 'The prover fetched the piece but cannot find it.')
}
