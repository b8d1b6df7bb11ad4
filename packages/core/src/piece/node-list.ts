import { NODE_BYTES } from './piece-size.ts'

/** Nodes one behind the other in one array, which doubles when it is full. */
export class NodeList {
  #bytes = new Uint8Array(0)
  #sizeBytes = 0

  get count(): number {
    return this.#sizeBytes / NODE_BYTES
  }

  push(node: Uint8Array): void {
    if (this.#sizeBytes === this.#bytes.length) {
      const grown = new Uint8Array(Math.max(8 * NODE_BYTES, 2 * this.#sizeBytes))
      grown.set(this.#bytes)
      this.#bytes = grown
    }
    this.#bytes.set(node, this.#sizeBytes)
    this.#sizeBytes += NODE_BYTES
  }

  /** Every node so far, 32 bytes each, in an array of exactly that size. */
  toBytes(): Uint8Array {
    return this.#bytes.slice(0, this.#sizeBytes)
  }
}
