import { EventEmitter } from 'node:events'
import type { BodySource } from '../blobs/body-intake.ts'

/**
 * A body of which everything that arrives is kept: one that breaks off ends where it broke off. `cut` says why, then.
 *
 * @example
 * const body = new KeptBody(request, { signal })
 * const bytes = await receive(body)
 * if (body.cut !== undefined) throw body.cut
 */
export class KeptBody extends EventEmitter implements BodySource {
  readonly #source: BodySource
  readonly #signal: AbortSignal
  /** Undefined for a body that came to its end, or is on its way there. */
  cut: unknown
  #hasEnded = false
  #isPaused = true
  #isEndTold = false

  /** @param options.signal - cuts the body; its reason is why. */
  constructor(source: BodySource, { signal }: { readonly signal: AbortSignal }) {
    super()
    this.#source = source
    this.#signal = signal
    source.pause()
    source.on('data', this.#pass)
    source.on('end', this.#end)
    source.on('error', this.#cutShort)
    source.on('close', this.#cutShort)
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
    else if (source.destroyed === true) this.#cutShort()
  }

  pause(): this {
    this.#isPaused = true
    this.#source.pause()
    return this
  }

  resume(): this {
    this.#isPaused = false
    if (this.#hasEnded) queueMicrotask(() => this.#tellEnd())
    else this.#source.resume()
    return this
  }

  /** Stops listening, and leaves the source paused. */
  close(): void {
    this.#detach()
    this.#source.pause()
  }

  readonly #pass = (chunk: Uint8Array): void => {
    this.emit('data', chunk)
  }

  readonly #end = (): void => {
    this.#hasEnded = true
    this.#detach()
    this.#tellEnd()
  }

  readonly #cutShort = (cause?: unknown): void => {
    this.cut ??= cause ?? new Error('The connection ended before the body.')
    this.#end()
  }

  readonly #abort = (): void => {
    this.#source.pause()
    this.#cutShort(this.#signal.reason)
  }

  #tellEnd(): void {
    if (this.#isEndTold || this.#isPaused) return
    this.#isEndTold = true
    this.emit('end')
  }

  #detach(): void {
    const source = this.#source
    source.off('data', this.#pass)
    source.off('end', this.#end)
    source.off('error', this.#cutShort)
    source.off('close', this.#cutShort)
    // A connection that breaks afterwards is nobody's error here.
    source.on('error', ignore)
    this.#signal.removeEventListener('abort', this.#abort)
  }
}

function ignore(): void {}
