/**
 * Touches memory and ends, so that the kernel has that much of it at hand.
 *
 * Argument: `{"sizeBytes": n}`. Prints `{}`.
 */
const PAGE_BYTES = 4096
const PIECE_BYTES = 64 * 1024 * 1024

const { sizeBytes }: { sizeBytes: number } = JSON.parse(process.argv[2] ?? '')
const pieces: Buffer[] = []
for (let touchedBytes = 0; touchedBytes < sizeBytes; touchedBytes += PIECE_BYTES) {
  const piece = Buffer.allocUnsafeSlow(PIECE_BYTES)
  for (let offset = 0; offset < PIECE_BYTES; offset += PAGE_BYTES) piece[offset] = 1
  // Held to the end: memory given back early would be touched twice.
  pieces.push(piece)
}
console.log('{}')
