import { pieceCidV2 } from '@lade/core/piece'
import { pieceHashing } from '@lade/node/hashing/piece-hashing'
import type { PieceToPark } from './prover.ts'

/** Some bytes and their name as a piece. */
export interface TestPiece {
  readonly pieceCid: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Bytes without a pattern, the same for the same seed (xorshift32), as a piece. */
export function testPiece(sizeBytes: number, seed = 1): TestPiece {
  let state = (seed * 2_654_435_761) | 1
  const bytes = new Uint8Array(sizeBytes).map(() => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 8
  })
  return { pieceCid: pieceCidV2(pieceHashing.whole(bytes)), bytes }
}

/** The piece as it is parked: in chunks that each lie where the one before lay. */
export function toPark(
  { pieceCid, bytes }: TestPiece,
  { sourceUrl = `http://127.0.0.1:9/piece/${pieceCid}`, chunkBytes = 40_000 } = {},
): PieceToPark {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const buffer = new Uint8Array(chunkBytes)
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const part = bytes.subarray(at, at + chunkBytes)
      buffer.set(part)
      yield buffer.subarray(0, part.length)
      buffer.fill(0xee)
    }
  }
  return { pieceCid, sizeBytes: bytes.length, chunks, sourceUrl }
}
