import { setImmediate } from 'node:timers/promises'
import { measured } from '@lade/node/budget/measured'
import type { ProveOptions } from './prover.ts'

const MIB = 1024 * 1024
/** What reading costs, which the store verifies by the MiB. It is not measured: others run on the same thread meanwhile. */
const READ_MS_PER_MIB = 1

/** The bytes of a piece that is here. */
export interface PieceBytes {
  readonly sizeBytes: number
  /** Exactly these bytes; at most about 1 MiB is asked for at once. */
  read(offsetBytes: number, lengthBytes: number): Promise<Uint8Array>
  /** These bytes in order, for as many as there are. A chunk is valid until the next one is asked for. @default read, again and again */
  chunks?(range: { readonly offset: number; readonly length: number }): AsyncIterable<Uint8Array>
  /** As `PieceDigest.subtreeRoots`, believed when they lead to the piece. Without them the first proof about more than 127 MiB reads all of it. */
  readonly subtreeRoots?: Uint8Array
}

/** Reads a piece for a proof: counts what that costs, stops when nobody waits for it any more, and leaves the event loop to others. */
export class PieceSource {
  readonly #bytes: PieceBytes
  readonly #options: ProveOptions
  #whole: Promise<Uint8Array> | undefined

  constructor(bytes: PieceBytes, options: ProveOptions) {
    this.#bytes = bytes
    this.#options = options
  }

  /** The bytes are not to be written to. */
  async read(offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
    this.#options.signal?.throwIfAborted()
    const { sizeBytes } = this.#bytes
    if (sizeBytes > MIB) return this.#read(offsetBytes, lengthBytes)
    // To verify any of it, the store reads all of it.
    this.#whole ??= this.#read(0, sizeBytes)
    return (await this.#whole).subarray(offsetBytes, offsetBytes + lengthBytes)
  }

  /** Hands a range to `take`, chunk by chunk, with a turn of the event loop after each. */
  async each(range: { readonly offset: number; readonly length: number }, take: (chunk: Uint8Array) => void) {
    const { signal } = this.#options
    signal?.throwIfAborted()
    for await (const chunk of this.#bytes.chunks?.(range) ?? this.#chunksOf(range)) {
      this.#spend((READ_MS_PER_MIB * chunk.length) / MIB)
      this.measured(() => take(chunk))
      await setImmediate()
      signal?.throwIfAborted()
    }
  }

  /** Counts the processor time of a task that waits for nothing, for whoever asks for it: the question costs as much as a small task. */
  measured<Result>(task: () => Result): Result {
    const { onProcessorMs } = this.#options
    return onProcessorMs === undefined ? task() : measured(task, onProcessorMs)
  }

  #read(offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
    // A range that begins anywhere has bytes of one MiB more.
    this.#spend(READ_MS_PER_MIB * (1 + lengthBytes / MIB))
    return this.#bytes.read(offsetBytes, lengthBytes)
  }

  #spend(processorMs: number): void {
    this.#options.onProcessorMs?.(processorMs)
  }

  async *#chunksOf({ offset, length }: { offset: number; length: number }): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < length; at += MIB) yield this.#bytes.read(offset + at, Math.min(MIB, length - at))
  }
}
