import { hashPiece, leafCount, makeLeafProof, paddedSizeBytes } from '@lade/core/piece'
import { bytesToHex, concat, type Hex, sha256 } from 'viem'

/** A piece that a prover stores, and what a proposal says about it. */
export interface Piece {
  readonly commp: Hex
  readonly pieceSize: bigint
  readonly leafCount: bigint
  /** A leaf, and the siblings up to the root: the words of `prove` for one leaf. */
  nodesOf(leafIndex: bigint): Promise<readonly Hex[]>
}

/** The piece of these bytes. */
export function pieceOf(bytes: Uint8Array): Piece {
  return {
    commp: bytesToHex(hashPiece(bytes).root),
    pieceSize: BigInt(paddedSizeBytes(bytes.length)),
    leafCount: BigInt(leafCount(bytes.length)),
    async nodesOf(leafIndex) {
      const { leaf, proof } = await makeLeafProof({
        rawSizeBytes: bytes.length,
        leafIndex: Number(leafIndex),
        readRaw: (offset, length) => bytes.subarray(offset, offset + length),
      })
      return [leaf, ...proof].map((node) => bytesToHex(node))
    },
  }
}

/** A piece of any size whose leaves are all the same, so that its paths need no data. */
export function uniformPiece(height: number): Piece {
  const words: Hex[] = [sha256('0x')]
  for (let level = 0; level < height; level += 1) {
    const node = sha256(concat([words[level] ?? '0x', words[level] ?? '0x']), 'bytes')
    node[31] = (node[31] ?? 0) & 0x3f
    words.push(bytesToHex(node))
  }
  const path = [words[0] ?? '0x', ...words.slice(0, height)]
  const pieceSize = 32n * 2n ** BigInt(height)
  return { commp: words.at(-1) ?? '0x', pieceSize, leafCount: pieceSize / 32n, nodesOf: () => Promise.resolve(path) }
}

/** Raw bytes without a pattern. */
export function scattered(sizeBytes: number): Uint8Array {
  let block: Uint8Array = sha256('0x', 'bytes')
  return Uint8Array.from({ length: sizeBytes }, (_, index) => {
    if (index % 32 === 0) block = sha256(block, 'bytes')
    return block[index % 32] ?? 0
  })
}
