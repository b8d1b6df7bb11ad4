import type { FileHandle } from 'node:fs/promises'
import type { PieceFault } from '../faults.ts'

const BLOCK_BYTES = 256 * 1024

/** The bytes of a held piece, at most 256 KiB of them in memory unless more is asked for at once. */
export class PieceReader {
  readonly #handle: FileHandle
  readonly #fault: PieceFault | undefined

  constructor(handle: FileHandle, fault: PieceFault | undefined) {
    this.#handle = handle
    this.#fault = fault
  }

  /** Exactly these bytes. @throws {Error} when the file ends before them. */
  async read(offsetBytes: number, lengthBytes: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(lengthBytes)
    for (let filled = 0; filled < lengthBytes; ) {
      const { bytesRead } = await this.#handle.read(bytes, filled, lengthBytes - filled, offsetBytes + filled)
      if (bytesRead === 0) throw new Error('The file of a piece ends before the piece does.')
      filled += bytesRead
    }
    this.#spoil(bytes, offsetBytes)
    return bytes
  }

  /** A range of the bytes, block by block. */
  async *blocks(offsetBytes: number, lengthBytes: number): AsyncGenerator<Buffer> {
    const end = offsetBytes + lengthBytes
    for (let at = offsetBytes; at < end; at += BLOCK_BYTES) yield await this.read(at, Math.min(BLOCK_BYTES, end - at))
  }

  /** Harmless when it is closed. */
  async close(): Promise<void> {
    await this.#handle.close()
  }

  #spoil(bytes: Buffer, offsetBytes: number): void {
    if (this.#fault?.kind !== 'flipped') return
    const at = this.#fault.offsetBytes - offsetBytes
    const byte = bytes[at]
    if (byte !== undefined) bytes[at] = byte ^ 0xff
  }
}
