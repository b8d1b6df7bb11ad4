export * from './aggregate.ts'
export * from './challenge.ts'
export * from './fr32.ts'
export { type HashingOptions, type HashPairs, portableHashPairs } from './hash-pairs.ts'
export * from './inclusion-proof.ts'
export { type IndexEntry, readIndex, readIndexEntry, writeIndex, writeIndexEntry } from './index-entry.ts'
export * from './leaf-proof.ts'
export { collectPath, type MerklePath } from './merkle-path.ts'
export * from './piece-cid.ts'
export * from './piece-commitment.ts'
export * from './piece-hasher.ts'
export { leafCount, paddedSizeBytes, paddingBytes, pieceHeight, rawCapacityBytes } from './piece-size.ts'
export * from './piece-subtrees.ts'
export {
  aggregateHeightOf,
  indexEntryCount,
  indexOffsetBytes,
  placePieces,
  rawOffsetBytes,
  type Segment,
} from './segment.ts'
export { zeroCommitment } from './zero-commitments.ts'
