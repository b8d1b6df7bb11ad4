import { LadeError } from '@lade/core/errors'
import { chunkMemory, freeChunk } from '@lade/node/hashing/chunk-memory'
import { SharedBlocks } from './shared-blocks.ts'

/**
 * A body as the door takes it: it pushes chunks and can be paused. `http.IncomingMessage` is one as it stands.
 *
 * It ends with `end`; a `close` or an `error` before that is a body cut short. (`aborted` of an `IncomingMessage` is not
 * listened to: it comes before the `error` that says why, and `close` always follows.)
 */
export interface BodySource {
  /** True when nothing more will come. */
  readonly destroyed?: boolean
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'end' | 'close', listener: () => void): unknown
  off(event: 'data', listener: (chunk: Uint8Array) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'end' | 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
}

/** How a body is taken in. Sizes are bytes. */
export interface BodyIntakeOptions {
  /** The length the sender declared; more and less are both refused. Undefined where the end of the body tells. */
  readonly sizeBytes: number | undefined
  /** The size of a block. */
  readonly blockBytes: number
  /** True when nobody else looks at the chunks, so that their memory may be given back at once. @default false */
  readonly ownsChunks?: boolean | undefined
  /** True when the taker keeps a block instead of giving it back, so that each has memory of its own. @default false */
  readonly keepsBlocks?: boolean
  readonly signal?: AbortSignal | undefined
  /** Called with the running total on every chunk that arrives: the sign of life of this body. */
  readonly onProgress?: ((receivedBytes: number) => void) | undefined
}

/** One is filled while the others are with the taker, whose readers need not be equally fast. */
const BLOCKS_PER_BODY = 4
/** What a body has instead while few blocks are in use: so much lies ready that no reader stands still when another one is held up. */
const BLOCKS_IN_CALM = 12
/** As long as all bodies together have fewer than this. */
const CALM_BLOCKS = 20
/** From here on further blocks are small ones, so that hundreds of bodies take little memory. */
const CONTENDED_BLOCKS = 24
const SMALL_BLOCK_BYTES = 65_536
/** From here on a body has one at a time. */
const MAX_SMALL_BLOCKS = 256

/** From here on a body has shared blocks; it is hashed on another thread then. */
const SHARED_FROM_BYTES = 256 * 1024

/** The usual block: larger ones gain nothing, smaller ones cost system calls. */
export const DEFAULT_BLOCK_BYTES = 1024 * 1024

/** Memory for blocks, shared by all bodies. It holds nothing that anyone can observe. */
const sharedBlocks = new SharedBlocks(DEFAULT_BLOCK_BYTES)
const smallBlocks = new SharedBlocks(SMALL_BLOCK_BYTES)

/**
 * Turns the chunks of a body into blocks of one size, receiving the next while the last is being used.
 *
 * Never holds more than four blocks and one chunk, or twelve while few bodies arrive, or blocks of 64 KiB while many do, and one of them while
 * hundreds do: with all blocks taken the source is paused.
 * Listens from its construction and lets data flow from `start`.
 */
export class BodyIntake {
  readonly #source: BodySource
  readonly #options: BodyIntakeOptions
  readonly #isShared: boolean
  readonly #mostBytes: number
  #receivedBytes = 0
  #filling: Buffer | undefined
  #filledBytes = 0
  /** Full blocks that nobody has taken. */
  readonly #ready: Uint8Array[] = []
  /** What arrived and found no block to go to. */
  #waiting: Arrived[] = []
  #blocksInUse = 0
  #isStarted = false
  #isPaused = true
  #isListening = true
  #hasEnded = false
  #failure: { readonly error: unknown } | undefined
  #wake: () => void = () => {}

  constructor(source: BodySource, options: BodyIntakeOptions) {
    this.#source = source
    this.#options = options
    this.#mostBytes = options.sizeBytes ?? Infinity
    // A small body brings a buffer of its own size, which costs little memory. Shared blocks cost no memory anew, and threads hash them
    // without a copy.
    const isBig = options.blockBytes === sharedBlocks.blockBytes && this.#mostBytes >= SHARED_FROM_BYTES
    this.#isShared = isBig && options.keepsBlocks !== true
    source.pause()
    source.on('data', this.#accept)
    source.on('end', this.#finish)
    source.on('close', this.#cutShort)
    source.on('error', this.#cutShort)
    options.signal?.addEventListener('abort', this.#abort, { once: true })
    if (options.signal?.aborted === true) this.#abort()
    else if (source.destroyed === true) this.#cutShort()
  }

  /** Lets the body flow. */
  start(): void {
    this.#isStarted = true
    this.#regulate()
  }

  /**
   * The next full block, or what is left of the body; `undefined` after its last byte. Give each back with `release`.
   *
   * @throws {LadeError} `incomplete_body`, `bad_request` when the body is too long.
   * @throws the signal's reason, or the source's own LadeError, untouched.
   */
  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      const block = this.#ready.shift()
      if (block !== undefined) return block
      // A source may end while it is paused; what waits for a block is still to come then.
      if (this.#hasEnded && this.#waiting.length === 0) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** Gives a block back when nothing reads it any more. */
  release(block: Uint8Array): void {
    this.#giveBack(block)
    this.#pack()
  }

  /** Ends the body from the taker's side: `next` rejects with `error` from now on, unless the body has failed before. */
  fail(error: unknown): void {
    this.#fail(error)
  }

  /** Stops listening and leaves the source paused. Blocks that are still with the taker stay the taker's. */
  close(): void {
    if (this.#filling !== undefined) this.#giveBack(this.#filling)
    for (const block of this.#ready) this.#giveBack(block)
    this.#filling = undefined
    this.#ready.length = 0
    this.#forgetWaiting()
    this.#detach()
  }

  #forgetWaiting(): void {
    for (const { memory } of this.#waiting) freeChunk(memory)
    this.#waiting = []
  }

  readonly #accept = (chunk: Uint8Array): void => {
    if (chunk.length === 0) return
    this.#receivedBytes += chunk.length
    if (this.#receivedBytes > this.#mostBytes) {
      this.#fail(new LadeError('bad_request', { reason: 'The body is longer than declared.' }))
      return
    }
    try {
      this.#options.onProgress?.(this.#receivedBytes)
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#waiting.push({ chunk, memory: this.#options.ownsChunks === true ? chunkMemory(chunk) : undefined })
    this.#pack()
  }

  /** Moves what waits into blocks, and holds the source back while there is no block to fill. */
  #pack(): void {
    for (let arrived = this.#waiting[0]; arrived !== undefined; arrived = this.#waiting[0]) {
      const { chunk, memory } = arrived
      this.#filling ??= this.#takeBlock()
      if (this.#filling === undefined) break
      const room = this.#filling.length - this.#filledBytes
      const fits = chunk.length <= room ? chunk : chunk.subarray(0, room)
      // Not set() or copy(), which go word by word where memory is shared.
      this.#filling.fill(fits, this.#filledBytes, this.#filledBytes + fits.length)
      this.#filledBytes += fits.length
      if (fits === chunk) {
        this.#waiting.shift()
        freeChunk(memory)
      } else {
        this.#waiting[0] = { chunk: chunk.subarray(room), memory }
      }
      const isLast = this.#waiting.length === 0 && (this.#receivedBytes === this.#mostBytes || this.#hasEnded)
      if (this.#filledBytes === this.#filling.length || isLast) this.#hand(this.#filling)
    }
    this.#regulate()
  }

  #hand(block: Uint8Array): void {
    this.#ready.push(block.subarray(0, this.#filledBytes))
    this.#filling = undefined
    this.#filledBytes = 0
    this.#wake()
  }

  #regulate(): void {
    const hasRoom = this.#filling !== undefined || this.#mayTake()
    // After its last byte a body has only its end to say, which a paused stream would not.
    const isDone = this.#receivedBytes === this.#mostBytes && this.#waiting.length === 0
    const mustPause = !hasRoom && !isDone
    if (mustPause === this.#isPaused || !this.#isStarted || !this.#isListening) return
    this.#isPaused = mustPause
    if (mustPause) this.#source.pause()
    else this.#source.resume()
  }

  /** One is sure: whoever has it will give it back, and goes on then. */
  #mayTake(): boolean {
    if (this.#blocksInUse === 0 || !this.#isShared) return this.#blocksInUse < BLOCKS_PER_BODY
    if (this.#blocksInUse < BLOCKS_PER_BODY)
      return sharedBlocks.lent < CONTENDED_BLOCKS || smallBlocks.lent < MAX_SMALL_BLOCKS
    return this.#blocksInUse < BLOCKS_IN_CALM && sharedBlocks.lent < CALM_BLOCKS
  }

  #takeBlock(): Buffer | undefined {
    if (!this.#mayTake()) return undefined
    this.#blocksInUse += 1
    if (this.#isShared) return (sharedBlocks.lent < CONTENDED_BLOCKS ? sharedBlocks : smallBlocks).take()
    return Buffer.allocUnsafeSlow(Math.min(this.#options.blockBytes, this.#mostBytes))
  }

  #giveBack(block: Uint8Array): void {
    this.#blocksInUse -= 1
    if (!this.#isShared) return
    if (smallBlocks.owns(block)) smallBlocks.give(block)
    else sharedBlocks.give(block)
  }

  readonly #finish = (): void => {
    if (this.#receivedBytes < (this.#options.sizeBytes ?? 0)) {
      this.#cutShort()
      return
    }
    this.#hasEnded = true
    this.#detach()
    // The end is what tells that this block is the last one. One that has not all of its bytes is handed on when they are in it.
    if (this.#filling !== undefined && this.#waiting.length === 0) this.#hand(this.#filling)
    this.#wake()
  }

  readonly #cutShort = (cause?: unknown): void => {
    const { sizeBytes: expectedBytes } = this.#options
    const evidence = { ...(expectedBytes !== undefined && { expectedBytes }), receivedBytes: this.#receivedBytes }
    this.#fail(LadeError.is(cause) ? cause : new LadeError('incomplete_body', evidence, { cause }))
  }

  readonly #abort = (): void => {
    this.#fail(this.#options.signal?.reason)
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.#forgetWaiting()
    this.#detach()
    this.#source.pause()
    this.#wake()
  }

  #detach(): void {
    if (!this.#isListening) return
    this.#isListening = false
    const source = this.#source
    source.off('data', this.#accept)
    source.off('end', this.#finish)
    source.off('close', this.#cutShort)
    source.off('error', this.#cutShort)
    // A connection that breaks after the body's fate is decided is nobody's error here, and must not be an unhandled one.
    source.on('error', ignore)
    this.#options.signal?.removeEventListener('abort', this.#abort)
  }
}

function ignore(): void {}

/** A chunk, or what is left of it, with the memory that is given back after its last byte. */
interface Arrived {
  readonly chunk: Uint8Array
  readonly memory: ArrayBuffer | undefined
}
