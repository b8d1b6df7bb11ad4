/** The versions of blobs that were seen to be right, those that were asked for last. */
export class VerifiedVersions {
  readonly #rememberAtMost: number
  /** By digest; the one that was used last stands last. */
  readonly #versions = new Map<string, string>()

  constructor(rememberAtMost: number) {
    this.#rememberAtMost = rememberAtMost
  }

  has(sha256: string, version: string | undefined): boolean {
    if (version === undefined || this.#versions.get(sha256) !== version) return false
    this.add(sha256, version)
    return true
  }

  /** Nothing is remembered of bytes without a version. */
  add(sha256: string, version: string | undefined): void {
    if (version === undefined) return
    this.#versions.delete(sha256)
    this.#versions.set(sha256, version)
    const [oldest] = this.#versions.keys()
    if (this.#versions.size > this.#rememberAtMost && oldest !== undefined) this.#versions.delete(oldest)
  }

  forget(sha256: string): void {
    this.#versions.delete(sha256)
  }
}
