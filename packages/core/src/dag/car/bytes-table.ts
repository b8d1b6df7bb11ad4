import { freeMemory } from './free-memory.ts'
import { growingUint32, grownLength } from './growing-array.ts'

/** The largest prime below 2^31, so that a product with a multiplier below 2^22 is exact. */
const PRIME = 2 ** 31 - 1

/**
 * Numbers byte strings, such as multihashes, from 0 in the order in which they first appear.
 *
 * The bytes lie end to end in one buffer beside an open-addressed table, which takes about half of what a `Map` of strings
 * does and gives the collector nothing to visit.
 */
export class BytesTable {
  #bytes = new Uint8Array(1024)
  readonly #ends = growingUint32()
  /** Number + 1 of the string in each slot; 0 for an empty one. At most half of them are taken. */
  #slots = new Uint32Array(64)
  /** Senders choose what they link to, so a hash that they could predict would let them fill one run of slots. */
  readonly #multiplier = 2 ** 16 + Math.floor(Math.random() * (2 ** 22 - 2 ** 16))

  /** How many strings it holds. */
  get size(): number {
    return this.#ends.length
  }

  /** How many bytes they have in all. */
  get sizeBytes(): number {
    return this.#startOf(this.size)
  }

  /** The number of `bytes`, which are copied when they are new. */
  numberOf(bytes: Uint8Array): number {
    const slot = this.#slotOf(bytes)
    const taken = this.#slots[slot] ?? 0
    if (taken > 0) return taken - 1
    this.#append(bytes)
    this.#slots[slot] = this.size
    if (this.size * 2 > this.#slots.length) this.#grow()
    return this.size - 1
  }

  /** The number of `bytes`; undefined when they have not appeared. */
  find(bytes: Uint8Array): number | undefined {
    const taken = this.#slots[this.#slotOf(bytes)] ?? 0
    return taken > 0 ? taken - 1 : undefined
  }

  /** The string of a number, as a view that is good until the next one is added. */
  bytesOf(number: number): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(this.#startOf(number), this.#ends.at(number))
  }

  /** Gives its memory back. It is not to be used afterwards. */
  free(): void {
    freeMemory(this.#bytes)
    freeMemory(this.#slots)
    this.#ends.free()
  }

  #startOf(number: number): number {
    return number === 0 ? 0 : this.#ends.at(number - 1)
  }

  /** The slot that holds `bytes`, or the empty one where they belong. */
  #slotOf(bytes: Uint8Array): number {
    const mask = this.#slots.length - 1
    let slot = this.#hash(bytes) & mask
    for (;;) {
      const taken = this.#slots[slot] ?? 0
      if (taken === 0 || isEqual(this.bytesOf(taken - 1), bytes)) return slot
      slot = (slot + 1) & mask
    }
  }

  #hash(bytes: Uint8Array): number {
    let hash = bytes.length
    for (let at = 0; at < bytes.length; at += 2) {
      hash = (hash * this.#multiplier + (bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0) + 1) % PRIME
    }
    return hash
  }

  #append(bytes: Uint8Array): void {
    const start = this.sizeBytes
    if (start + bytes.length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(grownLength(this.#bytes.length), start + bytes.length))
      grown.set(this.#bytes)
      freeMemory(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, start)
    this.#ends.push(start + bytes.length)
  }

  #grow(): void {
    const slotCount = this.#slots.length * 2
    freeMemory(this.#slots)
    this.#slots = new Uint32Array(slotCount)
    for (let number = 0; number < this.size; number += 1) {
      this.#slots[this.#slotOf(this.bytesOf(number))] = number + 1
    }
  }
}

/** True when both have the same bytes. */
export function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false
  return true
}
