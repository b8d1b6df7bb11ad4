import type { MultipartUpload, StoredPart } from './multipart-upload.ts'
import type { PartBuffer } from './part-buffer.ts'
import { S3Failure } from './s3-failure.ts'
import type { Slots } from './slots.ts'

/** Parts of one upload in flight at once, as the SDK has them: many stores limit a connection. With the one that fills, what an upload holds. */
const PARTS_IN_FLIGHT = 4

/** A part waits for the next one only while so many others can be sent: a body that stalls keeps nobody else out. */
const LEAST_FREE_SLOTS = 8

interface NumberedPart {
  readonly number: number
  readonly part: PartBuffer
}

/** Sends the parts of one upload side by side, and remembers what became of them. */
export class PartSender {
  readonly #upload: MultipartUpload
  readonly #slots: Slots
  readonly #stop = new AbortController()
  readonly #inFlight = new Set<Promise<void>>()
  readonly #stored: StoredPart[] = []
  /** One that is hashed and sent together with the next, which costs half as much. */
  #held: NumberedPart | undefined
  #count = 0
  #failure: { readonly error: unknown } | undefined

  /** @param slots - shared by all uploads, so that many at once do not hold as many parts each. */
  constructor(upload: MultipartUpload, slots: Slots) {
    this.#upload = upload
    this.#slots = slots
  }

  /**
   * Starts to send the next part, once there is room for it in flight, or keeps it there until the one after it comes.
   *
   * @throws what an earlier part failed with.
   */
  async send(part: PartBuffer): Promise<void> {
    while (this.#inFlight.size + this.#heldCount >= PARTS_IN_FLIGHT) await Promise.race(this.#inFlight)
    await this.#slots.take()
    try {
      this.requireSound()
    } catch (error) {
      this.#slots.give()
      throw error
    }
    this.#count += 1
    const next = { number: this.#count, part }
    if (this.#held === undefined && this.#slots.free >= LEAST_FREE_SLOTS) {
      this.#held = next
      return
    }
    this.#startHeld()
    this.#start(next)
  }

  /** The parts, in order, when all that were sent are stored. @throws what any of them failed with. */
  async settle(): Promise<readonly StoredPart[]> {
    this.#startHeld()
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
    this.#startHeld()
    await Promise.all(this.#inFlight)
  }

  /** @throws what a part failed with. */
  requireSound(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get #heldCount(): number {
    return this.#held === undefined ? 0 : 1
  }

  #startHeld(): void {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) this.#start(held)
  }

  #start(next: NumberedPart): void {
    const sending = this.#transfer(next).finally(() => {
      this.#slots.give()
      this.#inFlight.delete(sending)
    })
    this.#inFlight.add(sending)
  }

  /** Never rejects: whoever sends or settles next is told. */
  async #transfer({ number, part }: NumberedPart): Promise<void> {
    const { signal } = this.#stop
    try {
      this.#stored.push(await this.#upload.send(number, await part.checked(), { signal }))
    } catch (error) {
      this.#failure ??= { error }
      this.#stop.abort()
    } finally {
      part.release()
    }
  }
}
