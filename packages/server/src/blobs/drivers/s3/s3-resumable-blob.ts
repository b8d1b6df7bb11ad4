import { randomBytes } from 'node:crypto'
import type { ByteRange, ResumableBlob, ResumeOptions } from '../../blob-store.ts'
import type { BufferList } from '../../buffer-list.ts'
import { requireRange, requireSha256 } from '../../store-arguments.ts'
import { checked } from './checked-bytes.ts'
import { PartBuffer } from './part-buffer.ts'
import { writeMarker } from './pending-marker.ts'
import { putWhole } from './put-whole.ts'
import type { S3Calls } from './s3-calls.ts'
import { copyObject, joinObjects } from './s3-copy.ts'
import { asPortError, S3Failure, translated, unlessAbsent } from './s3-failure.ts'
import type { S3Keys } from './s3-keys.ts'
import { deleteObject, getObject, headObject, putObject, readSmallObject } from './s3-objects.ts'
import { partBytesFor } from './s3-pending-blob.ts'
import type { S3Puts } from './s3-puts.ts'
import { S3Segments, type SegmentObject } from './s3-segments.ts'
import type { Slots } from './slots.ts'

/** Segments of one upload in flight at once. */
const SEGMENTS_IN_FLIGHT = 3
/** How often a read of a segment that breaks off is continued. */
const READ_TRIES = 3

export interface S3ResumableParts {
  readonly calls: S3Calls
  readonly keys: S3Keys
  readonly puts: S3Puts
  readonly slots: Slots
  readonly buffers: readonly BufferList[]
}

/**
 * The bytes of an upload in several requests, as objects `pending/<holder>/<name>.bytes`: whole segments, and what is behind them as a tail,
 * which is read again when the blob is resumed. A commit has the store join them under the digest.
 *
 * A name is used once, so that a request that a gateway executes late changes nothing of what was kept since.
 */
export class S3ResumableBlob implements ResumableBlob {
  readonly put = randomBytes(12).toString('hex')
  readonly #parts: S3ResumableParts
  readonly #holder: string
  readonly #segments: S3Segments
  readonly #writer = randomBytes(6).toString('hex')
  readonly #inFlight = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #filling: PartBuffer | undefined
  #sentCount: number
  #tails = 0
  /** Tails that the place which was answered last does not name. */
  #outdated: string[] = []
  #failure: Error | undefined
  #isClosed = false

  private constructor(parts: S3ResumableParts, holder: string, segments: S3Segments) {
    this.#parts = parts
    this.#holder = holder
    this.#segments = segments
    this.#sentCount = segments.count
  }

  static async open(parts: S3ResumableParts, options: ResumeOptions): Promise<S3ResumableBlob | undefined> {
    const { calls, keys } = parts
    const { holder, place, keptBytes, sizeBytes } = options
    const segments =
      place === '' ? new S3Segments(partBytesFor(sizeBytes, calls.settings.partBytes)) : S3Segments.parse(place)
    if (segments === undefined || segments.sizeBytes !== keptBytes) return undefined
    const blob = new S3ResumableBlob(parts, holder, segments)
    const { tail } = segments
    const first = segments.objects(keys, holder)[0]
    if (tail === undefined) {
      const isThere = first === undefined || (await headObject(calls, first.key))?.sizeBytes === first.sizeBytes
      return isThere ? blob : undefined
    }
    const bytes = await unlessAbsent(() => readSmallObject(calls, keys.waiting(holder, tail.name)))
    if (bytes?.length !== tail.sizeBytes) return undefined
    blob.#buffer().append(bytes)
    return blob
  }

  async write(chunk: Uint8Array): Promise<void> {
    await this.#step(async () => {
      for (let offset = 0; offset < chunk.length; ) {
        if (this.#filling?.roomBytes === 0) await this.#send(this.#filling)
        offset += this.#buffer().append(chunk.subarray(offset))
      }
    })
  }

  keep(): Promise<string> {
    return this.#step(() => this.#keep())
  }

  async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
    await this.#step(() => this.#keep())
    const { calls } = this.#parts
    const objects = this.#segments.objects(this.#parts.keys, this.#holder)
    const { offset, length } = requireRange(range, this.#segments.sizeBytes)
    let before = 0
    for (const object of objects) {
      const from = Math.max(0, offset - before)
      const to = Math.min(object.sizeBytes, offset + length - before)
      before += object.sizeBytes
      if (from < to) yield* readObject(calls, object, from, to)
    }
  }

  async commit(sha256: string): Promise<void> {
    requireSha256(sha256)
    const { calls, keys, puts } = this.#parts
    await this.#step(async () => {
      await this.#keep()
      const objects = this.#segments.objects(keys, this.#holder)
      const to = keys.blob({ sha256, put: this.put })
      const marker = keys.marker(this.#holder, `${this.put}`)
      const onUpload = (name: { key: string; uploadId: string }) => writeMarker(calls, marker, { uploads: [name] })
      const [only] = objects
      if (only === undefined) await putWhole(calls, to, checked(Buffer.alloc(0)), { isOwnKey: true })
      else if (objects.length === 1)
        await copyObject(calls, { from: only.key, to, sizeBytes: only.sizeBytes, sha256, isOwnKey: true, onUpload })
      else {
        await writeMarker(calls, marker, { uploads: [], beginning: to })
        await joinObjects(calls, objects, { to, onUpload })
      }
      puts.remember({ sha256, put: this.put })
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stop.abort()
    await Promise.all(this.#inFlight)
    this.#filling?.release()
    this.#filling = undefined
  }

  async #step<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw new TypeError('This blob is closed.')
    if (this.#failure !== undefined) throw this.#failure
    try {
      return await work()
    } catch (error) {
      this.#failure ??= asPortError(error)
      throw this.#failure
    }
  }

  async #keep(): Promise<string> {
    if (this.#filling?.roomBytes === 0) await this.#send(this.#filling)
    await Promise.all(this.#inFlight)
    if (this.#failure !== undefined) throw this.#failure
    await this.#removeOutdated()
    const { calls, keys } = this.#parts
    const { tail } = this.#segments
    const filledBytes = this.#filling?.filledBytes ?? 0
    const isSame = tail?.sizeBytes === filledBytes && this.#tails > 0
    if (tail !== undefined && !isSame) this.#outdated.push(tail.name)
    if (this.#filling === undefined || filledBytes === 0) this.#segments.tail = undefined
    else if (!isSame) {
      this.#tails += 1
      const name = `${S3Segments.nameOf(this.#segments.count, this.#writer)}-${this.#tails}`
      await putObject(calls, keys.waiting(this.#holder, name), await this.#filling.checked(), { ifAbsent: false })
      this.#segments.tail = { name, sizeBytes: filledBytes }
    }
    return this.#segments.text
  }

  /** What stays is removed by the sweep of the holder. */
  async #removeOutdated(): Promise<void> {
    const { calls, keys } = this.#parts
    const outdated = this.#outdated
    this.#outdated = []
    for (const name of outdated) await deleteObject(calls, keys.waiting(this.#holder, name)).catch(() => {})
  }

  async #send(full: PartBuffer): Promise<void> {
    while (this.#inFlight.size >= SEGMENTS_IN_FLIGHT) await Promise.race(this.#inFlight)
    await this.#parts.slots.take()
    const index = this.#sentCount
    this.#sentCount += 1
    this.#filling = undefined
    this.#segments.add(this.#writer)
    const sending = this.#transfer(S3Segments.nameOf(index, this.#writer), full).finally(() => {
      this.#parts.slots.give()
      this.#inFlight.delete(sending)
    })
    this.#inFlight.add(sending)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Never rejects: the next call is told. */
  async #transfer(name: string, part: PartBuffer): Promise<void> {
    const { calls, keys } = this.#parts
    try {
      if (this.#stop.signal.aborted) throw new S3Failure('PutObject', { kind: 'permanent', code: 'Aborted' })
      await putObject(calls, keys.waiting(this.#holder, name), await part.checked(), { ifAbsent: false })
    } catch (error) {
      this.#failure ??= asPortError(error)
    } finally {
      part.release()
    }
  }

  #buffer(): PartBuffer {
    const { buffers } = this.#parts
    this.#filling ??= new PartBuffer({ sizeBytes: this.#segments.segmentBytes, lists: buffers })
    return this.#filling
  }
}

/** Goes on behind the last byte that came, when a connection breaks. */
async function* readObject(
  calls: S3Calls,
  { key }: SegmentObject,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  let at = from
  for (let attempt = 1; at < to; attempt += 1) {
    try {
      const { body } = await translated(() => getObject(calls, key, { range: `bytes=${at}-${to - 1}` }))
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        at += chunk.length
        yield chunk
      }
      if (at < to) throw new S3Failure('GetObject', { kind: 'transient', code: 'ShortBody' })
    } catch (error) {
      if (attempt >= READ_TRIES) throw asPortError(error)
    }
  }
}
