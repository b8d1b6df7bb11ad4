import type { Prover } from '../../prover.ts'
import { additionsAt } from './additions.ts'
import { type Authorization, type Hex, nonceAuthorization } from './authorization.ts'
import { CircuitBreaker, type CircuitBreakerOptions } from './circuit-breaker.ts'
import type { ExchangeTimes } from './exchange.ts'
import { askForProofs, readPiece } from './possession.ts'
import { ProverClient, statusOnly, type TraceCall } from './prover-client.ts'
import { pullPiece } from './pull-piece.ts'
import { pushPiece } from './push-piece.ts'
import { type StorageSigner, signedAuthorization } from './signed-authorization.ts'
import { refused, unusable } from './stage-failure.ts'

export type { StorageSigner } from './signed-authorization.ts'

/** FilecoinWarmStorageService of Filecoin's mainnet, and of the Calibration network. */
export const WARM_STORAGE = {
  314: '0x8408502033C418E1bbC97cE9ac48E5528F371A9f',
  314159: '0x02925630df557F957f70E112bA06e50965417CA0',
} as const satisfies Record<number, Hex>

const NOBODY = '0x0000000000000000000000000000000000000000'
const MINIMUM_BYTES = 127
/** 1 GiB with its padding. */
const MAXIMUM_BYTES = 1_065_353_216
const PIECES_PER_ADDITION = 40
const PING_TEXT = 'curio-pdp'

/** Which prover, of which kind, who pays, and the timeouts. Times are milliseconds. */
export interface HttpProverOptions {
  /** Scheme, host and perhaps port, as `URL.origin` writes it. Nothing else is ever called. */
  readonly origin: string
  /**
   * `reference`: the prover of this repository, which proves on demand. `curio`: a storage provider that is sent the bytes, and
   * `curio-pull` one that fetches them; both prove to their own chain and are audited by retrieval.
   */
  readonly kind: 'reference' | 'curio' | 'curio-pull'
  /** The prover's account. Needed for `curio`, where it is the one that is paid. @default none */
  readonly account?: Hex
  /** Who pays; needed for `curio`. */
  readonly signer?: StorageSigner
  /** The contract that data sets are recorded with. @default FilecoinWarmStorageService of the chain; for `reference` none */
  readonly recordKeeper?: Hex
  /** The chain of the contract. @default 314, Filecoin's mainnet */
  readonly chainId?: number
  /** Sent as `Authorization: Bearer`. @default none */
  readonly bearer?: { reveal(): string }
  /** @default 10 s to connect, 30 s for a head, 30 s for the body of an answer, 30 s for a request that stands still */
  readonly times?: Partial<ExchangeTimes>
  /** For answers that wait until a transaction is sent. @default 150_000 */
  readonly transactionMs?: number
  /** How often the bytes of a piece are sent at most. @default 3 */
  readonly attempts?: number
  /** The wait before they are sent again, doubled from one to the next. @default 1000 */
  readonly retryDelayMs?: number
  /** A piece has to be there after this long and as long as its bytes take at 1 MiB a second. @default 300_000 */
  readonly parkMs?: number
  /** How long a piece that has come may take until it is found. @default 120_000 */
  readonly findMs?: number
  /** How often a prover is asked how it is getting on. @default 1000 */
  readonly pollMs?: number
  readonly breaker?: CircuitBreakerOptions
  /** Sends each call with the headers of the trace that it belongs to. @default without */
  readonly trace?: TraceCall
  /** Told of every transfer that begins again. @default nobody */
  readonly onRetry?: () => void
}

const BYTES_PER_MS = 1024 * 1.024

/**
 * A prover that is reached over HTTP, by the calls of Curio's PDP service.
 *
 * Repetitions are safe: a piece that is there is not sent again, and what follows from one nonce happens once. There is one gap. When the
 * answer to the making of a data set is lost, Curio does not say any more which one it made; `add` is then refused for good, and nothing
 * is added to the data set that nobody knows.
 *
 * @throws {TypeError} when something is missing that the kind needs.
 *
 * @example
 * const prover = openHttpProver({ origin: 'http://127.0.0.1:8090', kind: 'reference' })
 * await prover.check()
 */
export function openHttpProver(options: HttpProverOptions): Prover {
  const { origin, kind, account = null, bearer, transactionMs = 150_000, findMs = 120_000, pollMs = 1000 } = options
  if (URL.parse(origin)?.origin !== origin || !/^https?:/.test(origin)) throw new TypeError(`${origin} is no origin`)
  const { parkMs = 300_000, attempts = 3, retryDelayMs = 1000, trace, onRetry = () => {} } = options
  const times = { connectMs: 10_000, headMs: 30_000, bodyMs: 30_000, idleMs: 30_000, ...options.times }
  const closing = new AbortController()
  const breaker = new CircuitBreaker(options.breaker)
  const client = new ProverClient({
    origin,
    ...(bearer && { bearer }),
    times,
    breaker,
    closing: closing.signal,
    ...(trace && { trace }),
  })
  const authorization = authorizationOf(options)

  return {
    name: origin,
    isLocal: false,
    limits: { minimumBytes: MINIMUM_BYTES, maximumBytes: MAXIMUM_BYTES, piecesPerAddition: PIECES_PER_ADDITION },
    announcesBlocks: kind !== 'reference',
    auditedBy: kind === 'reference' ? 'proof' : 'retrieval',
    account,
    ...additionsAt({ client, authorization, transactionMs }),
    async park(piece, signal) {
      signal.throwIfAborted()
      const { sizeBytes } = piece
      if (sizeBytes < MINIMUM_BYTES) throw refused(`The prover accepts no piece below ${MINIMUM_BYTES} bytes.`)
      if (sizeBytes > MAXIMUM_BYTES) throw refused(`The prover accepts no piece above ${MAXIMUM_BYTES} bytes.`)
      const untilMs = Math.ceil(parkMs + sizeBytes / BYTES_PER_MS)
      const deadline = AbortSignal.timeout(untilMs)
      const waits = { findMs, pollMs, signal: AbortSignal.any([signal, deadline]) }
      try {
        if (kind === 'curio-pull') await pullPiece(client, piece, { ...waits, authorization, untilMs })
        else await pushPiece(client, piece, { ...waits, attempts, retryDelayMs, headMs: times.headMs, onRetry })
      } catch (error) {
        if (error !== deadline.reason || !deadline.aborted) throw error
        throw unusable(`The prover did not accept the piece within ${Math.ceil(untilMs / 1000)} seconds.`)
      }
    },
    async prove({ pieceCid, seed, count }, { signal } = {}) {
      if (kind !== 'reference') throw refused('The prover proves only onchain, not on request.')
      return askForProofs(client, { pieceCid, seed, count }, { headMs: transactionMs, signal })
    },
    read: (range) => readPiece(client, range, times),
    async check() {
      const isProver = await client.ask({ method: 'GET', path: '/pdp/ping' }, statusOnly(200), ({ body }) =>
        body.toString('utf8').startsWith(PING_TEXT),
      )
      if (!isProver) throw unusable('The server at this address is not a prover.')
    },
    async close() {
      closing.abort()
    },
  }
}

function authorizationOf(options: HttpProverOptions): Authorization {
  const { kind, account, signer, chainId = 314 } = options
  if (kind === 'reference') return nonceAuthorization({ recordKeeper: options.recordKeeper ?? NOBODY })
  if (signer === undefined || account === undefined)
    throw new TypeError('Curio needs a signer and an account to be paid')
  const recordKeeper = options.recordKeeper ?? (WARM_STORAGE as Record<number, Hex>)[chainId]
  if (recordKeeper === undefined) throw new TypeError(`chain ${chainId} has no record keeper that is known here`)
  return signedAuthorization({ signer, payee: account, recordKeeper, chainId })
}
