/** sha2-256, handed in by whoever runs this: what is fastest differs from runtime to runtime. */
export interface Sha256 {
  /** A new running hash; `digest` ends it. */
  create(): { update(bytes: Uint8Array): void; digest(): Uint8Array }
  /** The digest of these bytes, 32 bytes. */
  of(bytes: Uint8Array): Uint8Array
  /**
   * A new stream of messages, for an implementation that is faster with several streams at once.
   *
   * Such a stream may put its work off until whoever handed it in has it done. Until then bytes have to stay as they are, and
   * digests are not there.
   */
  stream?(): Sha256Stream
}

/** Messages one behind the other, each with a digest of its own. */
export interface Sha256Stream {
  /** Takes the next bytes of a message. The first ones after an end begin another. */
  update(bytes: Uint8Array): void
  /**
   * Takes the last bytes of a message.
   *
   * @param digest - 32 bytes, where its digest is put.
   */
  end(last: Uint8Array, digest: Uint8Array): void
}

/** The stream that an implementation has, or one that hashes at once: bytes are free when a call returns. */
export function streamOf(sha256: Sha256): Sha256Stream {
  if (sha256.stream !== undefined) return sha256.stream()
  let message: ReturnType<Sha256['create']> | undefined
  return {
    update(bytes) {
      message ??= sha256.create()
      message.update(bytes)
    },
    end(last, digest) {
      message?.update(last)
      digest.set(message?.digest() ?? sha256.of(last))
      message = undefined
    },
  }
}
