import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs'

/** What is used of the WebAssembly namespace, which the types of Node.js do not declare. */
declare const WebAssembly: {
  readonly Memory: new (limits: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
}

/** What a direct write must be a multiple of: the largest sector that disks have. */
export const SECTOR_BYTES = 4096
const BLOCK_BYTES = 1024 * 1024
/** WebAssembly counts its memory in these. */
const WASM_PAGE_BYTES = 65_536

/** Bytes of a file, from `start` to `end`, each a multiple of {@link SECTOR_BYTES}. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * An open file whose bytes can be written again, exactly as they are read from it, so that afterwards the disk has what is read.
 *
 * A failed fsync leaves pages in the cache that are read like any other and that the disk never got. Writing them again through the cache
 * is not enough: on ext4 the first write of a new block marks the block as written when it ends well, and when it fails no later write
 * through the cache does, so that the block is read as zeros after a power cut although every later fsync succeeded. So the bytes go past
 * the cache, where the file system can do that.
 */
export class RewritableFile {
  readonly #fd: number
  readonly #directFd: number | undefined
  // The only memory that JavaScript can ask for with a known alignment, which a direct write needs.
  readonly #block = Buffer.from(new WebAssembly.Memory({ initial: BLOCK_BYTES / WASM_PAGE_BYTES }).buffer)

  /** @throws Node's own error. */
  constructor(file: string) {
    this.#fd = openSync(file, 'r+')
    this.#directFd = openDirect(file)
  }

  /**
   * Writes these ranges again and makes them durable. A range may reach beyond the end of the file, which then grows to the next sector.
   *
   * @throws Node's own error when a read, a write or the fsync fails.
   */
  rewrite(ranges: Iterable<ByteRange>): void {
    const block = this.#block
    let writeFd = this.#directFd ?? this.#fd
    for (const { start, end } of ranges) {
      for (let position = start; position < end; position += BLOCK_BYTES) {
        const length = Math.min(BLOCK_BYTES, end - position)
        const read = readFully(this.#fd, block, length, position)
        // Past the cache, whole sectors only.
        block.fill(0, read, length)
        try {
          writeFully(writeFd, block, writeFd === this.#fd ? read : length, position)
        } catch (error) {
          // Some file systems take the flag and not the write.
          if (writeFd === this.#fd || !isInvalid(error)) throw error
          writeFd = this.#fd
          writeFully(writeFd, block, read, position)
        }
      }
    }
    fsyncSync(this.#fd)
  }

  /** Takes away every lock that this process has on the file, those of SQLite included, as closing any descriptor of a file does. */
  close(): void {
    if (this.#directFd !== undefined) closeSync(this.#directFd)
    closeSync(this.#fd)
  }
}

function readFully(fd: number, block: Buffer, length: number, position: number): number {
  let total = 0
  while (total < length) {
    const bytes = readSync(fd, block, total, length - total, position + total)
    if (bytes === 0) break
    total += bytes
  }
  return total
}

function writeFully(fd: number, block: Buffer, length: number, position: number): void {
  for (let total = 0; total < length; ) total += writeSync(fd, block, total, length - total, position + total)
}

function openDirect(file: string): number | undefined {
  // Not on every platform, whatever its type says.
  const flag: number | undefined = constants.O_DIRECT
  if (flag === undefined) return undefined
  try {
    return openSync(file, constants.O_RDWR | flag)
  } catch (error) {
    if (isInvalid(error)) return undefined
    throw error
  }
}

function isInvalid(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EINVAL' || error.code === 'EOPNOTSUPP')
}
