import type { IncomingMessage, ServerResponse } from 'node:http'
import { HEADER } from '@lade/core/wire'
import { LRUCache } from 'lru-cache'
import { publicCaching } from './file-headers.ts'
import { framingProblem } from './framing.ts'
import { PRECONDITIONS } from './preconditions.ts'

/** One answer, ready to be written. */
interface CachedResponse {
  /** But `Cache-Control`, which depends on when it is answered. */
  readonly headers: readonly string[]
  readonly bytes: Uint8Array
  readonly expiresAt: number
  /** How long other caches may keep it at most. */
  readonly maxSeconds: number
  readonly generation: number
}

export interface ResponseCacheOptions {
  /** Memory for the answers and their addresses. @default 64 MiB */
  readonly maxBytes?: number
  /** The records' generation: an answer holds only as long as it does not change. */
  readonly generation: () => number
  readonly now: () => number
  readonly nextRequestId: () => string
  /** Only requests to this host are answered, where retrieval has a host for itself. */
  readonly host?: string | undefined
}

/** About what the runtime keeps for one entry besides its texts and its bytes. */
const ENTRY_BYTES = 512

/** Any of these makes an answer differ from the plain one. */
const VARYING = [
  ...PRECONDITIONS,
  'range',
  'if-none-match',
  'if-range',
  'authorization',
  'service-worker',
  'expect',
  'transfer-encoding',
]

/**
 * Whole answers for small public files, by request target: what a plain `GET /p/{cid}` costs when nothing that is served has changed
 * since the last one. Any such change of the records, by any process, makes every answer stale at once, so nothing that was
 * removed or has expired is served from here.
 */
export class ResponseCache {
  readonly #files: LRUCache<string, CachedResponse>
  readonly #options: ResponseCacheOptions

  constructor(options: ResponseCacheOptions) {
    this.#options = options
    this.#files = new LRUCache({ maxSize: options.maxBytes ?? 64 * 1024 * 1024 })
  }

  /** The generation to hand to `keep`, read before the records are. */
  generation(): number {
    return this.#options.generation()
  }

  /**
   * Answers when it can; false leaves the request untouched.
   *
   * @param requestId - of the request, where it has one. @default a new one
   */
  answer(request: IncomingMessage, response: ServerResponse, requestId?: string): boolean {
    const { url, method, headers } = request
    if (method !== 'GET' || url === undefined) return false
    const cached = this.#files.get(url)
    if (cached === undefined) return false
    const { host } = this.#options
    if (host !== undefined && headers.host !== host) return false
    if (headers['content-length'] !== undefined || VARYING.some((name) => headers[name] !== undefined)) return false
    if (framingProblem(request) !== undefined) return false
    const { expiresAt, maxSeconds } = cached
    const now = this.#options.now()
    if (cached.generation !== this.#options.generation() || expiresAt <= now) {
      this.#files.delete(url)
      return false
    }
    response.writeHead(200, [
      ...cached.headers,
      'cache-control',
      publicCaching({ maxSeconds, expiresAt, now }),
      HEADER.requestId,
      requestId ?? this.#options.nextRequestId(),
    ])
    response.end(cached.bytes)
    return true
  }

  /** Keeps the answer to a plain GET of this request target. */
  keep(
    url: string,
    answer: {
      headers: Record<string, string>
      bytes: Uint8Array
      expiresAt: number
      maxSeconds: number
      generation: number
    },
  ): void {
    const { bytes, expiresAt, maxSeconds, generation } = answer
    const headers = Object.entries(answer.headers).flat()
    // One file has more addresses than memory could hold (the case of a hex digit is free), so they count, too.
    const weightBytes = bytes.length + url.length + headers.join('').length + ENTRY_BYTES
    if (weightBytes > this.#files.maxSize / 16) return
    this.#files.set(url, { headers, bytes, expiresAt, maxSeconds, generation }, { size: weightBytes })
  }
}
