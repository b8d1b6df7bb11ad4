/** sha2-256, handed in by whoever runs this: what is fastest differs from runtime to runtime. */
export interface Sha256 {
  /** A new running hash; `digest` ends it. */
  create(): { update(bytes: Uint8Array): void; digest(): Uint8Array }
  /** The digest of these bytes, 32 bytes. */
  of(bytes: Uint8Array): Uint8Array
}
