import { LadeError } from '@lade/core/errors'
import type { BlobBody, BlobStore, ByteRange } from '../blobs/blob-store.ts'
import type { ObjectHandle, RecordStore } from '../records/record-store.ts'
import type { OpenObject } from './open-bytes.ts'
import { type ObjectId, openObject } from './open-object.ts'

/** How much is read at a time where less is asked for: blocks that are read one after the other mostly lie so, too. */
const WINDOW_BYTES = 65_536

/** Enough for a walk that goes to and fro between a directory's object and those of its files. */
const MAX_OPEN = 4

export interface OpenObjectsDeps {
  readonly records: RecordStore
  /** Undefined when no storage backend is bound. */
  readonly blobs: BlobStore | undefined
}

/** An open object, and what has been read of it and may be asked for next. */
interface Readable {
  readonly object: OpenObject
  window: Window | undefined
}

/** Bytes of an object from `offset` on. */
interface Window {
  readonly offset: number
  readonly bytes: Uint8Array
}

/**
 * Reads parts of objects, and keeps the last few of them open meanwhile: a DAG of three hundred leaves is read from one file
 * that is opened once. For one caller at a time; close it in the end.
 */
export class OpenObjects {
  readonly #deps: OpenObjectsDeps
  /** By what they are called; the one that was used last stands last. */
  readonly #open = new Map<ObjectHandle, Readable>()

  constructor(deps: OpenObjectsDeps) {
    this.#deps = deps
  }

  /**
   * The bytes of `range`: keep it small. Their memory is never written again.
   *
   * @throws {LadeError} `storage_offline`, `storage_failed`.
   */
  async read(object: ObjectId, range: ByteRange): Promise<Uint8Array> {
    const opened = await this.#openOnce(object)
    if (opened.object.kind === 'inline') return partOf({ offset: 0, bytes: opened.object.bytes }, range)
    const { body } = opened.object
    if (range.length >= WINDOW_BYTES) return readAll(body, range)
    if (opened.window === undefined || !isIn(opened.window, range)) {
      const length = Math.min(WINDOW_BYTES, object.sizeBytes - range.offset)
      opened.window = { offset: range.offset, bytes: await readAll(body, { offset: range.offset, length }) }
    }
    return partOf(opened.window, range)
  }

  async close(): Promise<void> {
    for (const handle of [...this.#open.keys()]) await this.#close(handle)
  }

  async #openOnce(object: ObjectId): Promise<Readable> {
    const { blobs, records } = this.#deps
    if (blobs === undefined) throw new LadeError('storage_offline', { retryAfterSeconds: 60 })
    const known = this.#open.get(object.object)
    const opened = known ?? { object: await openObject({ records, blobs }, object), window: undefined }
    this.#open.delete(object.object)
    this.#open.set(object.object, opened)
    const [oldest] = this.#open.keys()
    if (this.#open.size > MAX_OPEN && oldest !== undefined) await this.#close(oldest)
    return opened
  }

  async #close(handle: ObjectHandle): Promise<void> {
    const opened = this.#open.get(handle)
    this.#open.delete(handle)
    if (opened?.object.kind === 'blob') await opened.object.body.close()
  }
}

function partOf(window: Window, { offset, length }: ByteRange): Uint8Array {
  const start = offset - window.offset
  return window.bytes.subarray(start, start + length)
}

function isIn(window: Window, { offset, length }: ByteRange): boolean {
  return window.offset <= offset && offset + length <= window.offset + window.bytes.length
}

async function readAll(body: BlobBody, range: ByteRange): Promise<Uint8Array> {
  const bytes = new Uint8Array(range.length)
  let filled = 0
  for await (const chunk of body.chunks(range)) {
    bytes.set(chunk, filled)
    filled += chunk.length
  }
  return bytes
}
