import { unexpected } from '../http/answer-error.ts'
import { type Http, type HttpRequest, unreachable } from '../http/http.ts'
import { type Waits, wait } from '../http/retry.ts'
import { beginningOf } from './answer-head.ts'

/** A stretch of a file. */
export interface ByteSpan {
  /** The first byte. */
  readonly from: number
  /** One after the last. */
  readonly end: number
}

export interface ResumingReaderOptions {
  readonly http: Http
  readonly request: HttpRequest
  /** What is to be read. */
  readonly span: ByteSpan
  readonly sizeBytes: number
  /** The validator of what is read; without one, a connection that breaks is the end. */
  readonly etag: string | undefined
  /** An answer whose body begins no later than the span. @default the first read asks for one */
  readonly answer?: Response | undefined
}

/** No byte for so long, and the connection is taken for broken. */
const STALL_MS = 60_000

type Chunk = Uint8Array<ArrayBuffer>

/** Reads a span of a file, and goes on where it was when the connection breaks. */
export class ResumingReader {
  readonly #options: ResumingReaderOptions
  readonly #waits: Waits
  /** Of the next byte that is handed over. */
  #position: number
  /** Bytes that an answer has before that one. */
  #skipBytes = 0
  #isClosed = false
  #body: ReadableStreamDefaultReader<Chunk> | undefined

  constructor(options: ResumingReaderOptions) {
    this.#options = options
    this.#waits = options.http.newWaits()
    this.#position = options.span.from
    if (options.answer !== undefined) this.#body = this.#bodyOf(options.answer)
  }

  /**
   * The next bytes, never empty; undefined once the span is whole.
   *
   * @throws {LadeError} `unreachable` when the budget is spent, what a new request is refused with, and `unexpected_answer`
   *   when the file is another one meanwhile.
   */
  async next(): Promise<Chunk | undefined> {
    const { span, request } = this.#options
    while (this.#position < span.end) {
      this.#body ??= this.#bodyOf(await this.#ask())
      const { done, value, error } = await this.#read(this.#body)
      request.signal?.throwIfAborted()
      if (this.#isClosed) throw new Error('the reader is closed')
      if (done) {
        await this.#takeUpAgain(error)
        continue
      }
      const skipped = Math.min(this.#skipBytes, value.length)
      this.#skipBytes -= skipped
      const chunk = value.subarray(skipped, skipped + span.end - this.#position)
      if (chunk.length === 0) continue
      this.#position += chunk.length
      this.#waits.renew()
      return chunk
    }
    this.close()
    return undefined
  }

  /** Ends what is still coming; a read that waits fails. */
  close(): void {
    this.#isClosed = true
    this.#drop()
  }

  #drop(): void {
    this.#body?.cancel().catch(() => {})
    this.#body = undefined
  }

  async #takeUpAgain(error: unknown): Promise<void> {
    const { http, request, etag } = this.#options
    this.#drop()
    const delayMs = etag === undefined ? undefined : this.#waits.next(undefined)
    if (delayMs === undefined)
      throw unreachable(http.baseUrl, error ?? new Error('The connection was lost during the response.'))
    await wait(delayMs, request.signal)
  }

  async #ask(): Promise<Response> {
    const { http, request, span, etag } = this.#options
    const range = {
      range: `bytes=${this.#position}-${span.end - 1}`,
      ...(etag === undefined ? {} : { 'if-range': etag }),
    }
    const response = await http.send({ ...request, headers: { ...request.headers, ...range }, waits: this.#waits })
    if (etag === undefined || response.headers.get('etag') === etag) return response
    response.body?.cancel().catch(() => {})
    throw unexpected(response, 'The file changed during the download.')
  }

  #bodyOf(response: Response): ReadableStreamDefaultReader<Chunk> {
    this.#skipBytes = this.#position - beginningOf(response)
    if (this.#skipBytes < 0 || response.body === null)
      throw unexpected(response, 'The response is not the requested content.')
    return response.body.getReader()
  }

  /** The next chunk, or how the body ended; never rejects. */
  async #read(body: ReadableStreamDefaultReader<Chunk>): Promise<Read> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stalled = new Promise<Read>((resolve) => {
      const error = new Error(`No data arrived for ${STALL_MS / 1000} seconds.`)
      timer = setTimeout(() => resolve({ done: true, error }), STALL_MS)
    })
    const read = body.read().then(
      ({ done, value }): Read => (done ? { done, error: undefined } : { done, value }),
      (error: unknown): Read => ({ done: true, error }),
    )
    try {
      return await Promise.race([read, stalled])
    } finally {
      clearTimeout(timer)
    }
  }
}

type Read =
  | { readonly done: false; readonly value: Chunk; readonly error?: never }
  | { readonly done: true; readonly value?: never; readonly error: unknown }
