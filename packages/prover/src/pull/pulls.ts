import { setTimeout as sleep } from 'node:timers/promises'
import { LadeError } from '@lade/core/errors'
import type { PieceName } from '../pieces/piece-name.ts'
import type { PieceStore } from '../pieces/piece-store.ts'
import type { AllowedHosts } from './allowed-hosts.ts'
import { callAllowed, ForbiddenHost, type Resolve } from './call-allowed.ts'

export type PullStatus = 'pending' | 'inProgress' | 'retrying' | 'complete' | 'failed'

/** One piece and where it is. */
export interface PullSource {
  readonly piece: PieceName
  readonly sourceUrl: URL
}

export interface PullsOptions {
  readonly store: PieceStore
  readonly allowed: AllowedHosts
  /** How long a source may stand still. */
  readonly idleMs: number
  /** How long one attempt may take. */
  readonly attemptMs: number
  /** How often a source is asked at most. */
  readonly attempts: number
  /** The wait before the second attempt; it doubles from one to the next. */
  readonly retryDelayMs: number
  readonly resolve?: Resolve
  /** Told why a piece did not come; never with the query of its URL. */
  readonly onFailure?: (failure: { readonly pieceCid: string; readonly host: string; readonly reason: string }) => void
}

/** How many sources are read at once, and how many pieces may wait. */
const MAX_RUNNING = 4
const MAX_UNFINISHED = 120
/** Pulls are remembered for those who ask after them; the oldest finished ones go first. */
const MAX_REMEMBERED = 10_000

interface Item extends PullSource {
  status: PullStatus
}

/** What a caller is told of its pull. */
export interface PullAnswer {
  readonly status: PullStatus
  readonly pieces: readonly { readonly pieceCid: string; readonly status: PullStatus }[]
}

/**
 * Fetches pieces from where others hold them. Bytes that are not the piece, and bytes beyond its size, are never kept.
 *
 * Pulls are held in memory. After a restart the same request, which is also how one asks for the status, begins them anew,
 * and pieces that had come are complete at once.
 */
export class Pulls {
  readonly #options: PullsOptions
  readonly #byKey = new Map<string, readonly Item[]>()
  readonly #waiting: Item[] = []
  readonly #running = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  constructor(options: PullsOptions) {
    this.#options = options
  }

  /**
   * Begins a pull, or answers how the one with this key is going, whatever its sources were.
   *
   * @returns undefined when there is too much to do.
   */
  request(key: string, sources: readonly PullSource[]): PullAnswer | undefined {
    const known = this.#byKey.get(key)
    if (known !== undefined) return answerOf(known)
    if (this.#unfinishedCount() + sources.length > MAX_UNFINISHED) return undefined
    this.#forgetOldest()
    const items = sources.map((source): Item => ({ ...source, status: 'pending' }))
    this.#byKey.set(key, items)
    this.#waiting.push(...items)
    this.#startMore()
    return answerOf(items)
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#waiting.length = 0
    await Promise.all(this.#running)
  }

  #unfinishedCount(): number {
    return [...this.#byKey.values()].flat().filter((item) => !isFinished(item)).length
  }

  #forgetOldest(): void {
    if (this.#byKey.size < MAX_REMEMBERED) return
    const oldest = [...this.#byKey].find(([, items]) => items.every(isFinished))
    if (oldest !== undefined) this.#byKey.delete(oldest[0])
  }

  #startMore(): void {
    while (this.#running.size < MAX_RUNNING) {
      const item = this.#waiting.shift()
      if (item === undefined) return
      const run = this.#run(item).finally(() => {
        this.#running.delete(run)
        this.#startMore()
      })
      this.#running.add(run)
    }
  }

  async #run(item: Item): Promise<void> {
    const { attempts, retryDelayMs } = this.#options
    item.status = 'inProgress'
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(item)
      if (outcome === 'complete') {
        item.status = 'complete'
        return
      }
      const { reason, isFinal } = outcome
      if (isFinal || attempt >= attempts || this.#closing.signal.aborted) {
        item.status = 'failed'
        this.#options.onFailure?.({ pieceCid: item.piece.pieceCid, host: item.sourceUrl.host, reason })
        return
      }
      item.status = 'retrying'
      // Cut short by the end, after which the next attempt is the last.
      await sleep(retryDelayMs * 2 ** (attempt - 1), undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }

  async #attempt({ piece, sourceUrl }: Item): Promise<'complete' | Miss> {
    const { store, allowed, idleMs, attemptMs, resolve } = this.#options
    if (store.get(piece.pieceCid) !== undefined) return 'complete'
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(attemptMs)])
    try {
      const answer = await callAllowed(sourceUrl, { allowed, signal, idleMs, ...(resolve && { resolve }) })
      try {
        const miss = missOfHead(answer.statusCode ?? 0, answer.headers, piece)
        if (miss !== undefined) return miss
        const pending = await store.receive(answer, { maxBytes: piece.rawSizeBytes, idleMs })
        if (pending.pieceCid === piece.pieceCid) {
          await store.keep(pending)
          return 'complete'
        }
        await store.discard(pending)
        return { reason: 'other bytes than the piece', isFinal: true }
      } finally {
        answer.destroy()
      }
    } catch (error) {
      return { reason: reasonOf(error), isFinal: error instanceof ForbiddenHost || LadeError.has(error, 'too_large') }
    }
  }
}

/** Why an attempt brought nothing, and whether another one could. */
interface Miss {
  readonly reason: string
  readonly isFinal: boolean
}

function missOfHead(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  { rawSizeBytes }: PieceName,
): Miss | undefined {
  if (status !== 200) return { reason: `status ${status}`, isFinal: status !== 429 && status < 500 }
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity') return { reason: 'an encoded body', isFinal: true }
  const length = headers['content-length']
  if (length !== undefined && length !== String(rawSizeBytes)) return { reason: `a length of ${length}`, isFinal: true }
  return undefined
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isFinished({ status }: Item): boolean {
  return status === 'complete' || status === 'failed'
}

/** As Curio sums up: not finished as long as one piece is not, and failed only when all did. */
function answerOf(items: readonly Item[]): PullAnswer {
  const statuses = new Set(items.map(({ status }) => status))
  const unfinished = (['retrying', 'inProgress', 'pending'] as const).find((status) => statuses.has(status))
  const pieces = items.map(({ piece, status }) => ({ pieceCid: piece.pieceCid, status }))
  return { status: unfinished ?? (statuses.has('complete') ? 'complete' : 'failed'), pieces }
}
