export interface ReadCacheOptions<Value> {
  readonly read: (key: string) => Promise<Value>
  /** An answer is good for so long after its question. */
  readonly maxAgeMs: number
  /** The least recently asked makes room for the next. */
  readonly maxEntries: number
  /** Milliseconds that only go forward. */
  readonly now: () => number
}

interface Entry<Value> {
  readonly askedAt: number
  readonly answer: Promise<Value>
}

/** Answers that are good for a moment. Questions about one key at the same time share one read; what failed is not kept. */
export class ReadCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #options: ReadCacheOptions<Value>

  constructor(options: ReadCacheOptions<Value>) {
    this.#options = options
  }

  /** How many answers are kept, or on their way. */
  get size(): number {
    return this.#entries.size
  }

  get(key: string): Promise<Value> {
    const { now, maxAgeMs } = this.#options
    const known = this.#entries.get(key)
    // A Map keeps the order of insertion, so what is put back is the youngest.
    this.#entries.delete(key)
    const entry = known !== undefined && now() - known.askedAt < maxAgeMs ? known : this.#ask(key)
    this.#entries.set(key, entry)
    this.#makeRoom()
    return entry.answer
  }

  #ask(key: string): Entry<Value> {
    const entry = { askedAt: this.#options.now(), answer: this.#options.read(key) }
    entry.answer.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    })
    return entry
  }

  #makeRoom(): void {
    if (this.#entries.size <= this.#options.maxEntries) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
