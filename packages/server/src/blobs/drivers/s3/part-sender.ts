import type { MultipartUpload, StoredPart } from './multipart-upload.ts'
import type { PartBuffer } from './part-buffer.ts'
import { S3Failure } from './s3-failure.ts'
import type { Slots } from './slots.ts'

/** Parts of one upload in flight at once, as the SDK has them: many stores limit a connection. With the one that fills, what an upload holds. */
const PARTS_IN_FLIGHT = 4

/** Sends the parts of one upload side by side, and remembers what became of them. */
export class PartSender {
  readonly #upload: MultipartUpload
  readonly #slots: Slots
  readonly #stop = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #stored: StoredPart[] = []
  #count = 0
  #failure: { readonly error: unknown } | undefined

  /** @param slots - shared by all uploads, so that many at once do not hold as many parts each. */
  constructor(upload: MultipartUpload, slots: Slots) {
    this.#upload = upload
    this.#slots = slots
  }

  /** Starts to send the next part, once there is room for it in flight. @throws what an earlier part failed with. */
  async send(part: PartBuffer): Promise<void> {
    while (this.#inFlight.size >= PARTS_IN_FLIGHT) await Promise.race(this.#inFlight)
    await this.#slots.take()
    try {
      this.requireSound()
    } catch (error) {
      this.#slots.give()
      throw error
    }
    this.#count += 1
    const sending = this.#transfer(this.#count, part).finally(() => {
      this.#slots.give()
      this.#inFlight.delete(sending)
    })
    this.#inFlight.add(sending)
  }

  /** The parts, in order, when all that were sent are stored. @throws what any of them failed with. */
  async settle(): Promise<readonly StoredPart[]> {
    await Promise.all(this.#inFlight)
    this.requireSound()
    return this.#stored.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0))
  }

  /** Ends what is in flight, and makes every later call fail. */
  interrupt(): void {
    this.#failure ??= { error: new S3Failure('UploadPart', { kind: 'permanent', code: 'Aborted' }) }
    this.#stop.abort()
  }

  /** As `interrupt`, and resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.interrupt()
    await Promise.all(this.#inFlight)
  }

  /** @throws what a part failed with. */
  requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Never rejects: whoever sends or settles next is told. */
  async #transfer(number: number, part: PartBuffer): Promise<void> {
    try {
      this.#stored.push(await this.#upload.send(number, part.seal(), { signal: this.#stop.signal }))
    } catch (error) {
      this.#failure ??= { error }
      this.#stop.abort()
    } finally {
      part.release()
    }
  }
}
