/** A hash function. Its digests all have the same length, 32 bytes unless it is said otherwise. */
export interface DigestFunction {
  /** A running hash. Many may run at once. */
  create(): RunningDigest
  /** The digest of bytes that are all there. */
  of(bytes: Uint8Array): Uint8Array
}

/** A digest computed over chunks, in order. */
export interface RunningDigest {
  /** Takes the next bytes, which may lie in shared memory. They are read before this returns. */
  update(bytes: Uint8Array): void
  /** The digest. Ends the hash: a further call of either method throws. */
  digest(): Uint8Array
}
