/** A line of the processor's cache. */
const OFFSET_BYTES = 64

/**
 * Memory to read a file into. What is in it at first is not defined.
 *
 * glibc begins a large block 16 bytes after the start of a page, and AMD processors copy from the page cache to such an address at a sixth of
 * their speed. So this memory begins later in its block.
 *
 * @see https://xuanwo.io/2023/04-rust-std-fs-slower-than-python/
 *
 * @example
 * const buffer = allocateReadBuffer(1024 * 1024)
 * [buffer.length, buffer.byteOffset] // [1048576, 64]
 */
export function allocateReadBuffer(sizeBytes: number): Buffer {
  return Buffer.allocUnsafeSlow(OFFSET_BYTES + sizeBytes).subarray(OFFSET_BYTES)
}

/** As {@link allocateReadBuffer}, in memory that other threads can read. */
export function allocateSharedReadBuffer(sizeBytes: number): Buffer<SharedArrayBuffer> {
  return Buffer.from(new SharedArrayBuffer(OFFSET_BYTES + sizeBytes), OFFSET_BYTES, sizeBytes)
}
