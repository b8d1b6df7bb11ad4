/** The commitment to some bytes as a Filecoin piece: what piece CIDs of both versions are written from. */
export interface PieceCommitment {
  /** The root of the piece tree over the fr32-padded bytes, 32 bytes. */
  readonly root: Uint8Array
  /** The bytes before any padding. */
  readonly rawSizeBytes: number
}
