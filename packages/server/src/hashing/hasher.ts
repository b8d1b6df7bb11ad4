/** A digest computed over chunks, in order. */
export interface Hasher {
  /** Takes the next bytes. They are read before the call returns, so the caller may reuse the buffer. */
  update(chunk: Uint8Array): void
  /** The digest in lower-case hex. Ends the hasher: a further call of either method throws. */
  digestHex(): string
}
