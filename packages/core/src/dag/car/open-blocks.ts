import type { CID } from 'multiformats/cid'

/** What the blocks on the way to the current one may take in all. Others are read again when the walk is back at them. */
const MAX_HELD_BYTES = 1024 * 1024

/** A block whose links a walk is going through. */
export interface OpenBlock<Content> {
  readonly cid: CID
  /** Undefined when it was dropped, and has to be read again. */
  content: Content | undefined
  readonly sizeBytes: number
  readonly count: number
  /** The place of the next link. */
  next: number
  /** Where in the file the next part begins; 0 where there is no file. */
  offset: number
  /** The names that lead to the directory; only in walks through trees. */
  readonly names?: readonly string[]
}

/**
 * The blocks on the way from the root of a walk to where it is, each with links left. Of all but the last, 1 MiB of content stays in
 * memory.
 */
export class OpenBlocks<Content> {
  readonly #readAgain: (cid: CID) => Promise<Content>
  readonly #blocks: OpenBlock<Content>[] = []
  #heldBytes = 0
  /** Those before it were dropped. */
  #firstHeld = 0

  constructor(readAgain: (cid: CID) => Promise<Content>) {
    this.#readAgain = readAgain
  }

  /** Adds a block, as the last. */
  push(block: OpenBlock<Content>): void {
    this.#closeFinished()
    this.#blocks.push(block)
    this.#heldBytes += block.sizeBytes
    while (this.#heldBytes > MAX_HELD_BYTES && this.#firstHeld < this.#blocks.length - 1) {
      const held = this.#blocks[this.#firstHeld]
      this.#firstHeld += 1
      if (held?.content === undefined) continue
      held.content = undefined
      this.#heldBytes -= held.sizeBytes
    }
  }

  /** The last block and its content; undefined when no block has links left. */
  async last(): Promise<{ readonly block: OpenBlock<Content>; readonly content: Content } | undefined> {
    this.#closeFinished()
    const block = this.#blocks.at(-1)
    if (block === undefined) return undefined
    if (block.content === undefined) {
      block.content = await this.#readAgain(block.cid)
      this.#heldBytes += block.sizeBytes
    }
    return { block, content: block.content }
  }

  #closeFinished(): void {
    for (let block = this.#blocks.at(-1); block?.next === block?.count; block = this.#blocks.at(-1)) {
      if (block === undefined) return
      this.#blocks.pop()
      if (block.content !== undefined) this.#heldBytes -= block.sizeBytes
      this.#firstHeld = Math.min(this.#firstHeld, Math.max(0, this.#blocks.length - 1))
    }
  }
}
