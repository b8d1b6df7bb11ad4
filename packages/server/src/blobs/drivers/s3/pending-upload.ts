import { MultipartUpload, type StoredPart } from './multipart-upload.ts'
import type { PartBuffer } from './part-buffer.ts'
import { PartSender } from './part-sender.ts'
import { writeMarker } from './pending-marker.ts'
import type { S3Calls } from './s3-calls.ts'
import { copyObject } from './s3-copy.ts'
import { S3Failure } from './s3-failure.ts'
import type { S3Keys } from './s3-keys.ts'
import type { S3Leftovers } from './s3-leftovers.ts'
import { deleteObject } from './s3-objects.ts'
import { sweepMarker } from './s3-sweep.ts'
import type { Slots } from './slots.ts'

export interface PendingUploadParts {
  readonly calls: S3Calls
  readonly keys: S3Keys
  readonly slots: Slots
  readonly leftovers: S3Leftovers
  readonly holder: string
  /** Names this pending blob among those of its holder. */
  readonly id: string
  /** Names what it will be under its digest. */
  readonly put: string
  /** True when no other upload ever uses the key that it has then. */
  readonly isOwnKey: boolean
  /** The digest that will be committed, where it is known. */
  readonly expected: string | undefined
}

/**
 * A pending blob that goes to the store in parts.
 *
 * With an expected digest its parts go to where the blob will be, and nothing is there before the last call. Without one
 * they go to a place of their own, from where the store copies what was completed.
 */
export class PendingUpload {
  readonly #parts: PendingUploadParts
  readonly #upload: MultipartUpload
  readonly #sender: PartSender
  readonly #marker: string
  /** Resolves when the marker has the id of the upload. */
  readonly #marked: Promise<void>
  #mayHaveWaiting = false

  private constructor(parts: PendingUploadParts, upload: MultipartUpload, marked: Promise<void>) {
    this.#parts = parts
    this.#upload = upload
    this.#marked = marked
    // Whoever sends the first part is told.
    marked.catch(() => {})
    this.#sender = new PartSender(upload, parts.slots)
    this.#marker = parts.keys.marker(parts.holder, parts.id)
  }

  /** Begins an upload. Its marker is there before it, and has its id before it has any part. */
  static async begin(parts: PendingUploadParts): Promise<PendingUpload> {
    const { calls, keys, holder, id, put, expected } = parts
    const key = expected === undefined ? keys.waiting(holder, id) : keys.blob({ sha256: expected, put })
    const marker = keys.marker(holder, id)
    try {
      // An upload to a place that has its holder's name is found by that.
      if (expected !== undefined) await writeMarker(calls, marker, { uploads: [], beginning: key })
      const upload = await MultipartUpload.create(calls, key)
      const marked = writeMarker(calls, marker, {
        uploads: [upload.name],
        ...(upload.mayHaveTwin && { beginning: key }),
      })
      // The first marker already leads a sweep to the upload; the first part fills meanwhile.
      if (expected === undefined) await marked
      return new PendingUpload(parts, upload, marked)
    } catch (error) {
      parts.leftovers.add(marker)
      throw error
    }
  }

  async send(part: PartBuffer): Promise<void> {
    await this.#marked
    await this.#sender.send(part)
  }

  requireSound(): void {
    this.#sender.requireSound()
  }

  get isEmpty(): boolean {
    return this.#sender.isEmpty
  }

  /** Resolves when every part that was sent is stored. */
  async flush(): Promise<void> {
    await this.#sender.settle()
  }

  /** Makes the blob visible under `sha256`. */
  async publish(sha256: string): Promise<void> {
    const { expected } = this.#parts
    const stored = await this.#sender.settle()
    if (expected === undefined) {
      await this.#publishByCopy(stored, sha256)
    } else {
      // The parts are at the other digest's place, from where they cannot be moved without being visible there.
      if (expected !== sha256) throw new S3Failure('commit', { kind: 'permanent', code: 'NotTheExpectedDigest' })
      await this.#upload.complete(stored)
    }
    // The blob is committed, whatever becomes of the marker.
    await this.#forget().catch(() => this.#parts.leftovers.add(this.#marker))
  }

  /** Ends the sending of parts; only `discard` makes sense afterwards. */
  interrupt(): void {
    this.#sender.interrupt()
  }

  /** Removes everything that was uploaded. */
  async discard(): Promise<void> {
    // A part that arrives after the end of its upload would stay, and so would a marker.
    await this.#sender.stop()
    await this.#marked.catch(() => {})
    try {
      await this.#upload.abort()
      await this.#removeWaiting()
      await sweepMarker(this.#parts.calls, this.#marker)
    } catch (error) {
      this.#parts.leftovers.add(this.#marker)
      throw error
    }
  }

  async #publishByCopy(stored: readonly StoredPart[], sha256: string): Promise<void> {
    const { calls, keys, put, isOwnKey } = this.#parts
    this.#mayHaveWaiting = true
    await this.#upload.complete(stored)
    await copyObject(calls, {
      from: this.#upload.name.key,
      to: keys.blob({ sha256, put }),
      sizeBytes: stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      sha256,
      isOwnKey,
      onUpload: (name) => writeMarker(calls, this.#marker, { uploads: [this.#upload.name, name] }),
    })
  }

  /** The marker last: as long as it is there, a sweep comes back for the rest. */
  async #forget(): Promise<void> {
    await this.#removeWaiting()
    if (this.#upload.mayHaveTwin) await sweepMarker(this.#parts.calls, this.#marker)
    else await deleteObject(this.#parts.calls, this.#marker)
  }

  async #removeWaiting(): Promise<void> {
    if (this.#mayHaveWaiting) await deleteObject(this.#parts.calls, this.#upload.name.key)
  }
}
