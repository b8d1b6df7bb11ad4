import type { Readable } from 'node:stream'
import type { ByteRange, OpenBlob } from '../../blob-store.ts'
import { requireRange } from '../../store-arguments.ts'
import type { S3Calls } from './s3-calls.ts'
import { isFailure, S3Failure, translated } from './s3-failure.ts'
import { getObject, headObject, type StoredObject } from './s3-objects.ts'
import { failureOf } from './sdk-error.ts'

/** A read that got this far since its last interruption is a healthy one, and may be interrupted as often again. */
const HEALTHY_BYTES = 1024 * 1024

/**
 * An object as it was found, read by GET requests that want the same version of it.
 *
 * One request serves a whole range, so that a store that finishes what it has begun also does so while the blob is
 * deleted. A connection that breaks is followed by a request for the rest.
 */
export class S3BlobBody implements OpenBlob {
  readonly sizeBytes: number
  readonly version = undefined
  readonly #calls: S3Calls
  readonly #key: string
  readonly #putAway: (putId: string) => Promise<boolean>
  #etag: string | undefined
  /** Undefined once another one has taken its place while it was read. */
  #putId: string | undefined
  #isClosed = false
  readonly #streams = new Set<Readable>()

  /** @param putAway - puts away the object that was put like this, if it is still the blob. */
  constructor(calls: S3Calls, key: string, stored: StoredObject, putAway: (putId: string) => Promise<boolean>) {
    this.sizeBytes = stored.sizeBytes
    this.#calls = calls
    this.#key = key
    this.#etag = stored.etag
    this.#putId = stored.putId
    this.#putAway = putAway
  }

  chunks(range?: ByteRange): AsyncIterable<Uint8Array> {
    return this.#read(requireRange(range, this.sizeBytes))
  }

  async quarantine(): Promise<boolean> {
    this.#requireOpen()
    const putId = this.#putId
    return putId !== undefined && (await translated(() => this.#putAway(putId)))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const stream of this.#streams) stream.destroy()
  }

  async *#read({ offset, length }: ByteRange): AsyncGenerator<Uint8Array> {
    const end = offset + length
    let position = offset
    let healthyAt = position + HEALTHY_BYTES
    let breaks = 0
    while (position < end) {
      this.#requireOpen()
      const stream = await translated(() => this.#openFrom(position, end))
      this.#streams.add(stream)
      const source = chunksOf(stream)
      try {
        for (let next = await source.next(); next !== undefined; next = await source.next()) {
          position += next.length
          if (position > end) throw new S3Failure('GetObject', { kind: 'permanent', code: 'TooManyBytes' })
          yield next
          this.#requireOpen()
        }
      } catch (error) {
        this.#requireOpen()
        // A reader that took its time may have let the connection grow old; that is no fault of the store.
        if (position >= healthyAt || source.wasLeftAlone()) breaks = 0
        healthyAt = position + HEALTHY_BYTES
        breaks += 1
        await translated(() => this.#pauseAfter(breaks, failureOf('GetObject', error)))
      } finally {
        stream.destroy()
        this.#streams.delete(stream)
      }
    }
    this.#requireOpen()
  }

  /** Waits until a broken read is taken up again. @throws `failure` when it was broken off too often. */
  async #pauseAfter(breaks: number, failure: S3Failure): Promise<void> {
    const { retries } = this.#calls
    const waitMs = retries.waitBefore(breaks, failure, 0)
    if (waitMs === undefined) throw failure
    await retries.pause(waitMs, this.#calls.closing, failure)
  }

  /** A stream of exactly the bytes from `first` to before `end`. */
  async #openFrom(first: number, end: number): Promise<Readable> {
    const isWhole = first === 0 && end === this.sizeBytes
    const range = isWhole ? {} : { range: `bytes=${first}-${end - 1}` }
    try {
      const { answer, body } = await getObject(this.#calls, this.#key, { ...range, ifMatch: this.#etag })
      const isAsAsked = isWhole || answer.ContentRange === `bytes ${first}-${end - 1}/${this.sizeBytes}`
      if (isAsAsked && answer.ContentLength === end - first) return body
      body.destroy()
      throw new S3Failure('GetObject', { kind: 'permanent', code: 'OtherRange' })
    } catch (error) {
      if (!isFailure(error, 'condition')) throw error
      await this.#adoptVersion(error)
      return this.#openFrom(first, end)
    }
  }

  /** What is there was replaced. Under one digest that is the same bytes, cut into other parts. */
  async #adoptVersion(changed: S3Failure): Promise<void> {
    const stored = await headObject(this.#calls, this.#key)
    if (stored?.sizeBytes !== this.sizeBytes || stored.etag === this.#etag) throw changed
    this.#etag = stored.etag
    this.#putId = undefined
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new TypeError('This body is closed.')
  }
}

interface ChunkSource {
  next(): Promise<Uint8Array | undefined>
  /** True when more time has passed since a chunk was given out than a connection may stand still. */
  wasLeftAlone(): boolean
}

const LEFT_ALONE_MS = 1_000

function chunksOf(stream: Readable): ChunkSource {
  const iterator: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]()
  let givenAt = performance.now()
  let heldMs = 0
  return {
    async next() {
      heldMs = performance.now() - givenAt
      const { value, done } = await iterator.next()
      givenAt = performance.now()
      return done === true ? undefined : value
    },
    wasLeftAlone: () => heldMs >= LEFT_ALONE_MS,
  }
}
