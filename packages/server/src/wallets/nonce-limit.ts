import { MINUTE_MS } from '@lade/core/time'

/** How many nonces one address gets in a minute. */
const DEFAULT_PER_MINUTE = 30

/**
 * Bounds how many nonces an address gets in a minute from this process, so that nobody fills the records with them. Kept in
 * memory and forgotten with the minute: a restart gives everybody a new one, which is of no use to speak of.
 */
export class NonceLimit {
  readonly #perMinute: number
  #minute = 0
  #counts = new Map<string, number>()

  constructor(perMinute = DEFAULT_PER_MINUTE) {
    this.#perMinute = perMinute
  }

  /** Counts one; when that is one too many answers what was used and when to come again, in seconds. */
  count(
    address: string,
    now: number,
  ): { readonly used: number; readonly limit: number; readonly retryAfterSeconds: number } | undefined {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) this.#counts = new Map()
    this.#minute = minute
    const used = this.#counts.get(address) ?? 0
    if (used >= this.#perMinute) {
      const retryAfterSeconds = Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - now) / 1000))
      return { used, limit: this.#perMinute, retryAfterSeconds }
    }
    this.#counts.set(address, used + 1)
    return undefined
  }
}
