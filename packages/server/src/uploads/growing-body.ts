import { EventEmitter } from 'node:events'
import { LadeError } from '@lade/core/errors'
import type { BodySource } from '../blobs/receive.ts'

export interface GrowingBodyOptions {
  /**
   * Asked when more bytes have come than are allowed.
   *
   * @returns how many may come in all: at least `receivedBytes`.
   * @throws whatever ends the body.
   */
  readonly allow: (receivedBytes: number) => Promise<number>
  /** Ends the beginning of the body; its reason is what `begin` rejects with. */
  readonly signal: AbortSignal
  /** Called with the running total on every chunk that arrives. */
  readonly onProgress: (receivedBytes: number) => void
}

/**
 * A body of unknown length, of which nothing is passed on before it is allowed.
 *
 * Bytes that are not allowed wait here with their source paused: no more than one chunk, and at the beginning what `begin` has taken. What
 * `allow` throws ends the body as an error of its source.
 */
export class GrowingBody extends EventEmitter implements BodySource {
  readonly #source: BodySource
  readonly #options: GrowingBodyOptions
  #held: Uint8Array[] = []
  #receivedBytes = 0
  #passedBytes = 0
  #allowedBytes = 0
  #hasEnded = false
  #isEndTold = false
  #failure: { readonly error: unknown } | undefined
  #isAsking = false
  #isWanted = false
  #beginBytes = 0
  #onBegun: (() => void) | undefined

  constructor(source: BodySource, options: GrowingBodyOptions) {
    super()
    this.#source = source
    this.#options = options
    source.on('data', this.#accept)
    source.on('end', this.#end)
    source.on('error', this.#cutShort)
    source.on('close', this.#cutShort)
    if (source.destroyed === true) this.#cutShort()
  }

  /** True when it broke off. */
  get destroyed(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Takes the beginning of the body, up to about `maxBytes`, before anybody listens.
   *
   * @returns the size of the body when it has ended by then; it is allowed as a whole.
   * @throws {LadeError} `incomplete_body`; the source's own LadeError, and the reason of `signal`.
   */
  async begin(maxBytes: number): Promise<number | undefined> {
    const { signal } = this.#options
    const abort = (): void => this.#fail(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    this.#beginBytes = maxBytes
    await new Promise<void>((resolve) => {
      this.#onBegun = resolve
      this.#source.resume()
      this.#step()
    })
    this.#onBegun = undefined
    signal.removeEventListener('abort', abort)
    if (this.#failure !== undefined) throw this.#failure.error
    if (!this.#hasEnded) return undefined
    this.#allowedBytes = this.#receivedBytes
    return this.#receivedBytes
  }

  pause(): void {
    this.#isWanted = false
    if (!this.#hasEnded) this.#source.pause()
  }

  resume(): void {
    this.#isWanted = true
    this.#pass()
  }

  /** Lets go of the source, which is left paused, and of what waits. */
  close(): void {
    const source = this.#source
    source.off('data', this.#accept)
    source.off('end', this.#end)
    source.off('error', this.#cutShort)
    source.off('close', this.#cutShort)
    // Nobody else listens to a connection that breaks now.
    source.on('error', () => {})
    this.removeAllListeners()
    this.#held = []
  }

  readonly #accept = (chunk: Uint8Array): void => {
    this.#held.push(chunk)
    this.#receivedBytes += chunk.length
    this.#options.onProgress(this.#receivedBytes)
    this.#step()
  }

  readonly #end = (): void => {
    this.#hasEnded = true
    this.#step()
  }

  readonly #cutShort = (cause?: unknown): void => {
    if (this.#hasEnded) return
    const evidence = { receivedBytes: this.#receivedBytes }
    this.#fail(LadeError.is(cause) ? cause : new LadeError('incomplete_body', evidence, { cause }))
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return
    this.#failure = { error }
    this.#held = []
    this.#source.pause()
    // Without a listener it would be thrown at whoever brought the news.
    if (this.listenerCount('error') > 0) this.emit('error', error)
    this.#step()
  }

  #step(): void {
    if (this.#onBegun === undefined) {
      this.#pass()
      return
    }
    const hasBegun = this.#receivedBytes > this.#beginBytes
    if (hasBegun) this.#source.pause()
    if (hasBegun || this.#hasEnded || this.#failure !== undefined) this.#onBegun()
  }

  /** Passes on what is allowed, asks for more, and lets the source flow while nothing waits. */
  #pass(): void {
    while (this.#isWanted && this.#failure === undefined) {
      const [chunk] = this.#held
      if (chunk === undefined || this.#passedBytes + chunk.length > this.#allowedBytes) break
      this.#held.shift()
      this.#passedBytes += chunk.length
      this.emit('data', chunk)
    }
    if (this.#failure !== undefined) return
    const isWaiting = this.#held.length > 0
    if (isWaiting && this.#receivedBytes > this.#allowedBytes) void this.#ask()
    if (this.#hasEnded) {
      if (isWaiting || !this.#isWanted || this.#isEndTold) return
      this.#isEndTold = true
      this.emit('end')
      return
    }
    if (this.#isWanted && !isWaiting) this.#source.resume()
    else this.#source.pause()
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      this.#allowedBytes = await this.#options.allow(this.#receivedBytes)
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#isAsking = false
    }
    this.#pass()
  }
}
