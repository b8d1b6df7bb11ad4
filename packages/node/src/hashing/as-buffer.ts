/**
 * The same bytes as a `Buffer`, whose `copy` runs at the speed of memory also from and to shared memory; `set` of plain
 * arrays takes several times as long there.
 */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
