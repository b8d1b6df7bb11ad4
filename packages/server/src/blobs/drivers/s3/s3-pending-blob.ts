import type { PendingBlob } from '../../blob-store.ts'
import type { BufferList } from '../../buffer-list.ts'
import { requireSha256 } from '../../store-arguments.ts'
import { PartBuffer } from './part-buffer.ts'
import { PendingUpload, type PendingUploadParts } from './pending-upload.ts'
import { putWhole } from './put-whole.ts'
import { asPortError, S3Failure, translated } from './s3-failure.ts'

/** S3 numbers parts from 1 to this. */
const MOST_PARTS = 10_000
const MIB = 1024 * 1024

export interface S3PendingBlobParts extends PendingUploadParts {
  /** Undefined where nobody knows it: then it takes parts as soon as it does not fit into one. */
  readonly sizeBytes: number | undefined
  readonly buffers: readonly BufferList[]
  /** Called once it is committed, with the digest, or aborted. */
  readonly onEnd: (sha256: string | undefined) => void
}

/** A blob on its way in: in memory while it fits into one part, and else part by part. */
export class S3PendingBlob implements PendingBlob {
  readonly put: string
  readonly #parts: S3PendingBlobParts
  readonly #partBytes: number
  #upload: PendingUpload | undefined
  #filling: PartBuffer | undefined
  #writtenBytes = 0
  #busy: Promise<void> | undefined
  #failure: Error | undefined
  #ended: 'committed' | 'aborted' | undefined
  #isSwept = false

  private constructor(parts: S3PendingBlobParts) {
    this.#parts = parts
    this.put = parts.put
    this.#partBytes = partBytesFor(parts.sizeBytes, parts.calls.settings.partBytes)
  }

  /** Begins the upload at once when one is needed, so that a store that is down is found before any byte is asked for. */
  static async begin(parts: S3PendingBlobParts): Promise<S3PendingBlob> {
    const pending = new S3PendingBlob(parts)
    if (parts.sizeBytes !== undefined && parts.sizeBytes > pending.#partBytes)
      pending.#upload = await PendingUpload.begin(parts)
    return pending
  }

  /** True when nothing of it is in the store, where another process could find it. */
  get isInMemory(): boolean {
    return this.#upload === undefined
  }

  /** Makes every later call fail but `abort`. */
  sweep(): void {
    this.#isSwept = true
  }

  write(chunk: Uint8Array): Promise<void> {
    return this.#step(() => this.#append(chunk))
  }

  flush(): Promise<void> {
    return this.#step(() => this.#flush())
  }

  async commit(sha256: string): Promise<void> {
    requireSha256(sha256)
    await this.#step(async () => {
      const { calls, keys, onEnd, put, isOwnKey } = this.#parts
      if (this.#upload === undefined) {
        const whole = this.#filling ?? this.#newBuffer()
        this.#filling = whole
        await putWhole(calls, keys.blob({ sha256, put }), await whole.checked(sha256), { isOwnKey })
        this.#releaseBuffer()
      } else {
        // An upload has a part, though it be empty.
        if (this.#filling !== undefined || this.#upload.isEmpty) await this.#ship(this.#upload)
        await this.#upload.publish(sha256)
      }
      this.#ended = 'committed'
      onEnd(sha256)
    })
  }

  async abort(): Promise<void> {
    if (this.#ended === undefined) this.#upload?.interrupt()
    await this.#busy?.catch(() => {}) // its own caller has been told
    if (this.#ended !== undefined) return
    await translated(async () => this.#upload?.discard())
    this.#ended = 'aborted'
    this.#releaseBuffer()
    this.#parts.onEnd(undefined)
  }

  /** One call at a time, none after the end, and none after a failure but `abort`. */
  async #step(work: () => Promise<void>): Promise<void> {
    if (this.#ended !== undefined) throw new TypeError(`This pending blob is ${this.#ended}.`)
    if (this.#busy !== undefined) throw new TypeError('A pending blob takes one call at a time.')
    if (this.#failure !== undefined) throw this.#failure
    try {
      if (this.#isSwept) throw new S3Failure('commit', { kind: 'permanent', code: 'PendingPlaceSwept' })
      this.#busy = work()
      await this.#busy
    } catch (error) {
      this.#failure = asPortError(error)
      throw this.#failure
    } finally {
      this.#busy = undefined
    }
  }

  async #append(chunk: Uint8Array): Promise<void> {
    this.#upload?.requireSound()
    for (let offset = 0; offset < chunk.length; ) {
      // A full buffer is all there is of a blob until another byte comes: only then it is a part.
      if (this.#filling?.roomBytes === 0) await this.#makeRoom(this.#filling)
      this.#filling ??= this.#newBuffer()
      offset += this.#filling.append(chunk.subarray(offset))
    }
    this.#writtenBytes += chunk.length
  }

  async #makeRoom(full: PartBuffer): Promise<void> {
    if (full.filledBytes < this.#partBytes) {
      // More came than was said: no part but the last may be this small.
      this.#filling = this.#newBuffer(this.#partBytes)
      this.#filling.append(full.bytes)
      full.release()
      return
    }
    this.#upload ??= await PendingUpload.begin(this.#parts)
    await this.#ship(this.#upload)
  }

  async #flush(): Promise<void> {
    if (this.#upload === undefined) return
    // A part that is not the last has a least size, so that what is left over goes now only when nothing comes after it.
    const isAll = this.#writtenBytes >= (this.#parts.sizeBytes ?? Infinity)
    if (isAll && this.#filling !== undefined) await this.#ship(this.#upload)
    await this.#upload.flush()
  }

  /** Hands the buffer on; it is given back by whoever sends it. */
  async #ship(upload: PendingUpload): Promise<void> {
    const part = this.#filling ?? this.#newBuffer()
    this.#filling = part
    await upload.send(part)
    this.#filling = undefined
  }

  /** A blob in memory takes what it says it needs. */
  #newBuffer(sizeBytes = (this.isInMemory ? this.#parts.sizeBytes : undefined) ?? this.#partBytes): PartBuffer {
    return new PartBuffer({ sizeBytes, lists: this.#parts.buffers })
  }

  #releaseBuffer(): void {
    this.#filling?.release()
    this.#filling = undefined
  }
}

/** The size of a part: the usual one, or as many whole MiB as make 10,000 of them enough. */
export function partBytesFor(sizeBytes: number | undefined, usualBytes: number): number {
  if (sizeBytes === undefined || sizeBytes <= usualBytes * MOST_PARTS) return usualBytes
  return Math.ceil(sizeBytes / MOST_PARTS / MIB) * MIB
}
