import { type CarFault, malformed } from './car-index.ts'
import { freeMemory } from './free-memory.ts'
import { readVarint } from './varint.ts'

/** The largest block that peers of the network take from each other. */
export const MAX_BLOCK_BYTES = 2 * 1024 * 1024
/** The largest header that is read; one root takes about 60 bytes. */
const MAX_HEADER_BYTES = 64 * 1024
/** More than the longest CID that is read has: four varints of nine bytes at the most, and a digest of 128. */
const MAX_CID_BYTES = 256

/** Takes the bytes of a frame, which are good for this call only, and where they lie in the CAR. */
export type TakeFrame = (bytes: Uint8Array, offsetBytes: number) => CarFault | undefined

/**
 * Cuts a CAR into its frames, each a varint and as many bytes: the header, then the sections.
 *
 * Chunks may be of any size. A frame that lies in its chunk whole is passed on as a view of it; of the others, one at a
 * time is gathered in a buffer that is kept for the next.
 */
export class CarFrames {
  readonly #sizeBytes: number
  readonly #takeFrame: TakeFrame
  #fault: CarFault | undefined
  /** How many bytes of the CAR came before the current chunk. */
  #before = 0
  #isHeaderTaken = false
  /** The frame that is being gathered, its varint first. */
  #gathered = new Uint8Array(MAX_CID_BYTES)
  #gatheredBytes = 0
  /** Where that frame begins in the CAR. */
  #frameOffset = 0
  /** How long that frame is with its varint, and how long the varint; undefined while the varint is not whole. */
  #span: { readonly wholeBytes: number; readonly prefixBytes: number } | undefined

  constructor({
    sizeBytes = Infinity,
    takeFrame,
  }: { readonly sizeBytes?: number | undefined; readonly takeFrame: TakeFrame }) {
    this.#sizeBytes = sizeBytes
    this.#takeFrame = takeFrame
  }

  /** The memory in which frames are gathered. */
  get heldBytes(): number {
    return this.#gathered.length
  }

  /** Takes the next bytes; answers the first fault, and reads nothing after it. */
  update(chunk: Uint8Array): CarFault | undefined {
    for (let at = 0; at < chunk.length && this.#fault === undefined; ) {
      at = this.#gatheredBytes === 0 ? this.#takeFrom(chunk, at) : this.#gatherFrom(chunk, at)
    }
    this.#before += chunk.length
    return this.#fault
  }

  /** Says whether the bytes end where a frame does. */
  finish(): CarFault | undefined {
    if (this.#fault !== undefined) return this.#fault
    if (this.#gatheredBytes > 0) return malformed(`The CAR ends inside the ${this.#name()}.`)
    return this.#isHeaderTaken ? undefined : malformed('The CAR has no header.')
  }

  /** Gives its memory back. It is not to be used afterwards. */
  free(): void {
    freeMemory(this.#gathered)
  }

  /** Takes the frame that begins at `at` if the chunk holds all of it, else keeps what there is of it. */
  #takeFrom(chunk: Uint8Array, at: number): number {
    this.#frameOffset = this.#before + at
    this.#span = this.#readSpan(chunk, at)
    if (this.#fault !== undefined) return chunk.length
    if (this.#span === undefined || this.#span.wholeBytes > chunk.length - at) {
      this.#makeRoom()
      this.#gathered.set(chunk.subarray(at))
      this.#gatheredBytes = chunk.length - at
      return chunk.length
    }
    const end = at + this.#span.wholeBytes
    this.#pass(chunk.subarray(at + this.#span.prefixBytes, end))
    return end
  }

  #gatherFrom(chunk: Uint8Array, at: number): number {
    // Until the varint is whole, one byte at a time: what follows it belongs to a frame of unknown length.
    const wanted = (this.#span?.wholeBytes ?? this.#gatheredBytes + 1) - this.#gatheredBytes
    const taken = chunk.subarray(at, at + wanted)
    this.#gathered.set(taken, this.#gatheredBytes)
    this.#gatheredBytes += taken.length
    if (this.#span === undefined) {
      this.#span = this.#readSpan(this.#gathered.subarray(0, this.#gatheredBytes), 0)
      this.#makeRoom()
    }
    if (this.#span?.wholeBytes === this.#gatheredBytes) {
      this.#gatheredBytes = 0
      this.#pass(this.#gathered.subarray(this.#span.prefixBytes, this.#span.wholeBytes))
    }
    return at + taken.length
  }

  #makeRoom(): void {
    const wholeBytes = this.#span?.wholeBytes ?? 0
    if (wholeBytes <= this.#gathered.length) return
    const roomier = new Uint8Array(wholeBytes)
    roomier.set(this.#gathered.subarray(0, this.#gatheredBytes))
    freeMemory(this.#gathered)
    this.#gathered = roomier
  }

  #pass(bytes: Uint8Array): void {
    const offsetBytes = this.#frameOffset + (this.#span?.prefixBytes ?? 0)
    this.#fault = this.#takeFrame(bytes, offsetBytes)
    this.#isHeaderTaken = true
  }

  /** Reads the varint of a frame; undefined when it is not whole, and when it is not one that can be taken. */
  #readSpan(bytes: Uint8Array, at: number) {
    const length = readVarint(bytes, at)
    if (length === 'short') return undefined
    const refuse = (predicate: string) => {
      this.#fault = malformed(`The ${this.#name()} ${predicate}.`)
      return undefined
    }
    if (length === 'malformed') return refuse('starts with a length that is not a minimal varint of 63 bits')
    const prefixBytes = length.end - at
    const wholeBytes = prefixBytes + length.value
    const limitBytes = this.#isHeaderTaken ? MAX_BLOCK_BYTES + MAX_CID_BYTES : MAX_HEADER_BYTES
    if (length.value === 0) return refuse('has a length of zero')
    if (length.value > limitBytes) {
      const limit = this.#isHeaderTaken
        ? `a block has at most ${MAX_BLOCK_BYTES}`
        : `the maximum is ${MAX_HEADER_BYTES}`
      return refuse(`announces ${length.value} bytes; ${limit}`)
    }
    if (this.#frameOffset + wholeBytes > this.#sizeBytes) return refuse('runs past the end of the CAR')
    return { wholeBytes, prefixBytes }
  }

  #name(): string {
    return this.#isHeaderTaken ? `section at byte ${this.#frameOffset}` : 'header'
  }
}
