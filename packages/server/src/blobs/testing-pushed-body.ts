import { EventEmitter } from 'node:events'
import type { BodySource } from './body-intake.ts'

/**
 * A body whose every event a test decides, and which keeps count of what it was asked.
 *
 * What is pushed while it is paused waits, as in a socket's buffer, and `pauseCount` tells how often it was held back.
 */
export class PushedBody extends EventEmitter implements BodySource {
  destroyed = false
  pauseCount = 0
  /** Bytes that were handed to listeners. */
  deliveredBytes = 0
  #isFlowing = false
  readonly #queue: (() => void)[] = []

  pause(): void {
    this.#isFlowing = false
    this.pauseCount += 1
  }

  resume(): void {
    this.#isFlowing = true
    this.#drain()
  }

  push(chunk: Uint8Array): this {
    return this.#enqueue(() => {
      this.deliveredBytes += chunk.length
      this.emit('data', chunk)
    })
  }

  end(): this {
    return this.#enqueue(() => this.emit('end'))
  }

  /** Breaks off at once, as a socket does whether or not it is paused. */
  break(error?: Error): void {
    this.destroyed = true
    this.#queue.length = 0
    if (error !== undefined) this.emit('error', error)
    this.emit('close')
  }

  #enqueue(event: () => void): this {
    this.#queue.push(event)
    this.#drain()
    return this
  }

  #drain(): void {
    while (this.#isFlowing) {
      const event = this.#queue.shift()
      if (event === undefined) return
      event()
    }
  }
}
