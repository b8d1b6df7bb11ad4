import { setTimeout as sleep } from 'node:timers/promises'
import type { PieceToPark } from '../../prover.ts'
import { isFound, isKept, untilTrue } from './find-piece.ts'
import { type ProverClient, readLocation, statusOnly } from './prover-client.ts'
import { isPassing, unusable } from './stage-failure.ts'

const UPLOAD = /^\/pdp\/piece\/uploads\/([0-9a-fA-F-]{1,64})$/
const FINALIZE_ATTEMPTS = 3
/** The slowest hashing of a body that is still waited for. */
const HASHED_BYTES_PER_SECOND = 16 * 1024 * 1024

export interface PushOptions {
  /** How often all of the bytes are sent at most. */
  readonly attempts: number
  /** The wait before the second attempt; it doubles from one to the next. */
  readonly retryDelayMs: number
  /** How long a stored piece may take until it is found. */
  readonly findMs: number
  readonly pollMs: number
  /** For the answer to a body that has been sent, beside the time that its hashing takes. */
  readonly headMs: number
  /** Told of every attempt but the first. */
  readonly onRetry: () => void
}

/**
 * Sends a piece, unless it is there. A transfer that breaks begins again from the start.
 *
 * @see Curio, `pdp/handlers_upload.go`: an upload is opened, filled, and finalized under the CID that its bytes must have.
 */
export async function pushPiece(
  client: ProverClient,
  piece: PieceToPark,
  options: PushOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const { attempts, retryDelayMs, findMs, pollMs, signal } = options
  const ask = (): Promise<boolean> => isFound(client, piece.pieceCid, signal)
  if (await isKept(client, piece.pieceCid, signal)) return
  for (let attempt = 1; ; attempt += 1) {
    try {
      await send(client, piece, options)
      break
    } catch (error) {
      if (!isPassing(error) || attempt >= attempts) throw error
    }
    await sleep(retryDelayMs * 2 ** (attempt - 1), undefined, { signal }).catch(() => signal.throwIfAborted())
    // What failed may have been the answer alone.
    if (await isFoundByChance(ask)) return
    options.onRetry()
  }
  await untilTrue(ask, { untilMs: findMs, pollMs, signal }, 'The prover received the bytes but cannot find the piece.')
}

/** False also where nobody says. */
async function isFoundByChance(ask: () => Promise<boolean>): Promise<boolean> {
  try {
    return await ask()
  } catch (error) {
    if (isPassing(error)) return false
    throw error
  }
}

async function send(
  client: ProverClient,
  { pieceCid, sizeBytes, chunks }: PieceToPark,
  { headMs, signal }: PushOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const open = { method: 'POST', path: '/pdp/piece/uploads', signal } as const
  const id = await client.ask(open, statusOnly(201), (answer) => readLocation(answer, client.origin, UPLOAD))
  const path = `/pdp/piece/uploads/${id}`
  const bytes = { lengthBytes: sizeBytes, chunks }
  const times = { headMs: headMs + Math.ceil((1000 * sizeBytes) / HASHED_BYTES_PER_SECOND) }
  const lost = ({ status }: { readonly status: number }): boolean => status === 404
  const isSent = await client.ask(
    { method: 'PUT', path, bytes, times, signal },
    statusOnly(204),
    () => true,
    (answer) => (lost(answer) ? false : undefined),
  )
  if (!isSent) throw forgotten()

  const finalize = { method: 'POST', path, json: { pieceCid }, times, signal } as const
  for (let attempt = 1; ; attempt += 1) {
    const isKnown = await client
      .ask(
        finalize,
        statusOnly(200),
        () => true,
        (answer) => (lost(answer) ? false : undefined),
      )
      .catch((error: unknown) => {
        if (!isPassing(error) || attempt === FINALIZE_ATTEMPTS) throw error
      })
    if (isKnown === undefined) continue
    // An upload is finalized once: where the first answer was lost, the second says that there is no such upload.
    if (isKnown || attempt > 1) return
    throw forgotten()
  }
}

function forgotten(): Error {
  return unusable('The prover no longer knows the upload.')
}
