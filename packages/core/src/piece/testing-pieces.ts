/** How the bytes of a vector in `vectors/piece/commp.json` are made. */
export interface VectorBytes {
  readonly fill?: readonly (readonly [byte: number, count: number])[]
  readonly affine?: readonly [a: number, b: number, size: number]
  readonly utf8?: string
}

/** An entry of `vectors/piece/commp.json`, as far as it is checked. */
export interface PieceVector {
  readonly name: string
  readonly gen: VectorBytes
  readonly rawSize: number
  readonly paddedSize: number
  readonly height: number
  readonly padding: number
  readonly root: string
  readonly pieceCidV1: string
  readonly pieceCidV2: string
}

/** The bytes that a vector is about. */
export function bytesOfVector({ fill, affine, utf8 }: VectorBytes): Uint8Array {
  if (fill !== undefined) return Uint8Array.from(fill.flatMap(([byte, count]) => Array<number>(count).fill(byte)))
  if (affine !== undefined) {
    const [a, b, size] = affine
    return new Uint8Array(size).map((_, index) => a * index + b)
  }
  if (utf8 !== undefined) return Uint8Array.from(utf8, (character) => character.charCodeAt(0))
  throw new TypeError('a vector without bytes')
}

/** Bytes without a pattern, the same for the same seed (xorshift32). */
export function scatteredBytes(sizeBytes: number, seed: number): Uint8Array {
  let state = seed | 1
  return new Uint8Array(sizeBytes).map(() => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 8
  })
}

/** The bytes cut into chunks of these lengths, over and over; in one where the lengths lead nowhere. */
export function chunksOf(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  if (lengths.every((length) => length === 0)) return [bytes]
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 0
    chunks.push(bytes.subarray(at, at + length))
    at += length
  }
  return chunks
}
