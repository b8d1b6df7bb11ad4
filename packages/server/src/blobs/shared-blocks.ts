import { discardPages } from '@lade/node/memory/discard-pages'

/** What is used of the WebAssembly namespace, which the types of Node.js do not declare. */
declare const WebAssembly: {
  readonly Memory: new (limits: {
    readonly initial: number
    readonly maximum: number
    readonly shared: true
  }) => { readonly buffer: SharedArrayBuffer }
}

/** WebAssembly counts its memory in these. */
const WASM_PAGE_BYTES = 65_536
/** How many blocks are reserved together. What is reserved costs nothing until it is written to. */
const BLOCKS_PER_SLAB = 64
/** The memory of a block that was not used for as long goes back to the system; twice as long at the most. */
const IDLE_MS = 10_000

/**
 * Blocks of one size in shared memory, which begin at a page of the processor, kept for reuse.
 *
 * Other threads read them without a copy, and the disk can take them without the page cache. That is why they are cut out
 * of WebAssembly memory, the only kind that JavaScript can ask for with a known alignment; where no more of it can be
 * reserved they come from ordinary shared memory, and only the alignment is lost.
 *
 * The last block given back is the first to be taken again, so that few are ever touched. The memory of blocks that nobody has taken for
 * some ten seconds goes back to the system. Contents are not cleared: a taker reads only what it has written.
 */
export class SharedBlocks {
  readonly blockBytes: number
  /** Those without memory of the system: never written, or not for long. */
  readonly #empty: Buffer<SharedArrayBuffer>[] = []
  /** Those that have been written, the last one given back at the end. */
  readonly #spare: Buffer<SharedArrayBuffer>[] = []
  /** So many of the spare ones, the first, were not used since the last look. */
  #unused = 0
  #looks: NodeJS.Timeout | undefined
  /** What its blocks are cut out of. */
  readonly #memory = new WeakSet<ArrayBufferLike>()
  #lent = 0

  /** @throws {TypeError} when `blockBytes` is no whole number of 64 KiB. */
  constructor(blockBytes: number) {
    if (blockBytes % WASM_PAGE_BYTES !== 0) throw new TypeError('A block is a whole number of 64 KiB.')
    this.blockBytes = blockBytes
  }

  /** How many are taken and not given back. */
  get lent(): number {
    return this.#lent
  }

  take(): Buffer<SharedArrayBuffer> {
    this.#lent += 1
    if (this.#spare.length === 0 && this.#empty.length === 0) this.#reserve()
    const block = this.#spare.pop() ?? this.#empty.pop() ?? Buffer.from(new SharedArrayBuffer(this.blockBytes))
    this.#unused = Math.min(this.#unused, this.#spare.length)
    this.#memory.add(block.buffer)
    return block
  }

  /** True for a block that was taken here, or the beginning of one. */
  owns({ buffer }: Uint8Array): boolean {
    return this.#memory.has(buffer)
  }

  /** Gives back a block, or the beginning of one, that nothing reads or writes any more. */
  give({ buffer, byteOffset }: Uint8Array): void {
    if (!(buffer instanceof SharedArrayBuffer)) throw new TypeError('This block is not one of this list.')
    this.#lent -= 1
    this.#spare.push(Buffer.from(buffer, byteOffset, this.blockBytes))
    this.#looks ??= setInterval(() => this.#discardUnused(), IDLE_MS).unref()
  }

  #discardUnused(): void {
    const unused = this.#spare.splice(0, this.#unused)
    for (const block of unused) discardPages(block)
    this.#empty.push(...unused)
    this.#unused = this.#spare.length
    if (this.#unused > 0) return
    clearInterval(this.#looks)
    this.#looks = undefined
  }

  #reserve(): void {
    const slab = reserveShared(BLOCKS_PER_SLAB * this.blockBytes)
    if (slab === undefined) return
    for (let index = BLOCKS_PER_SLAB - 1; index >= 0; index -= 1) {
      this.#empty.push(Buffer.from(slab, index * this.blockBytes, this.blockBytes))
    }
  }
}

/** Shared memory that begins at a page; undefined where the process may not reserve any more. */
function reserveShared(sizeBytes: number): SharedArrayBuffer | undefined {
  const pages = sizeBytes / WASM_PAGE_BYTES
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }).buffer
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
