import type { Readable } from 'node:stream'
import { chunkMemory, freeChunk } from '@lade/node/hashing/chunk-memory'
import type { ByteRange, OpenBlob } from '../../blob-store.ts'
import { requireRange } from '../../store-arguments.ts'
import type { S3Calls } from './s3-calls.ts'
import { isFailure, S3Failure, translated } from './s3-failure.ts'
import type { S3Keys } from './s3-keys.ts'
import { getObject } from './s3-objects.ts'
import type { FoundPut, S3Puts } from './s3-puts.ts'
import { quarantineObject } from './s3-quarantine.ts'
import { failureOf } from './sdk-error.ts'

/** A read that got this far since its last interruption is a healthy one, and may be interrupted as often again. */
const HEALTHY_BYTES = 1024 * 1024

export interface S3BlobBodyParts {
  readonly calls: S3Calls
  readonly keys: S3Keys
  readonly puts: S3Puts
  readonly found: FoundPut
}

/**
 * A put as it was found, read by GET requests that want the same version of it.
 *
 * One request serves a whole range, so that a store that finishes what it has begun also does so while the blob is
 * deleted. A connection that breaks is followed by a request for the rest. When the put is gone by then, another one of the digest
 * has taken its place, and gives the rest: its bytes are the same.
 */
export class S3BlobBody implements OpenBlob {
  readonly sizeBytes: number
  readonly version = undefined
  readonly #parts: S3BlobBodyParts
  readonly #calls: S3Calls
  #found: FoundPut
  #isClosed = false
  readonly #streams = new Set<Readable>()

  constructor(parts: S3BlobBodyParts) {
    this.#parts = parts
    this.#calls = parts.calls
    this.#found = parts.found
    this.sizeBytes = parts.found.object.sizeBytes
  }

  chunks(range?: ByteRange): AsyncIterable<Uint8Array> {
    return this.#read(requireRange(range, this.sizeBytes))
  }

  async quarantine(): Promise<boolean> {
    this.#requireOpen()
    // Of bytes that come from two puts nobody can say which of them are wrong.
    const isOne = this.#found.put === this.#parts.found.put
    return isOne && (await translated(() => quarantineObject(this.#parts, this.#found)))
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
          freeChunk(chunkMemory(next))
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
      const { keys } = this.#parts
      const ifMatch = this.#found.object.etag
      const { answer, body } = await getObject(this.#calls, keys.blob(this.#found), { ...range, ifMatch })
      const isAsAsked = isWhole || answer.ContentRange === `bytes ${first}-${end - 1}/${this.sizeBytes}`
      if (isAsAsked && answer.ContentLength === end - first) return body
      body.destroy()
      throw new S3Failure('GetObject', { kind: 'permanent', code: 'OtherRange' })
    } catch (error) {
      if (!isFailure(error, 'condition', 'absent')) throw error
      await this.#takeAnother(error)
      return this.#openFrom(first, end)
    }
  }

  /** What was read is gone, or is not what it was. Another put of the digest has the same bytes. */
  async #takeAnother(changed: S3Failure): Promise<void> {
    const { sha256, put, object } = this.#found
    this.#parts.puts.forget(this.#found)
    const found = await this.#parts.puts.find(sha256, isFailure(changed, 'absent') ? put : undefined)
    const isSame = found?.put === put && found.object.etag === object.etag
    if (found?.object.sizeBytes !== this.sizeBytes || isSame) throw changed
    this.#found = found
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
