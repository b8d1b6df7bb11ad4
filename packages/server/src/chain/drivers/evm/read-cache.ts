import { LRUCache } from 'lru-cache'

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
  readonly #entries: LRUCache<string, Entry<Value>>
  readonly #options: ReadCacheOptions<Value>

  constructor(options: ReadCacheOptions<Value>) {
    this.#options = options
    this.#entries = new LRUCache({ max: options.maxEntries })
  }

  /** How many answers are kept, or on their way. */
  get size(): number {
    return this.#entries.size
  }

  get(key: string): Promise<Value> {
    const { now, maxAgeMs } = this.#options
    const known = this.#entries.get(key)
    if (known !== undefined && now() - known.askedAt < maxAgeMs) return known.answer
    const entry = this.#ask(key)
    this.#entries.set(key, entry)
    return entry.answer
  }

  #ask(key: string): Entry<Value> {
    const entry = { askedAt: this.#options.now(), answer: this.#options.read(key) }
    entry.answer.catch(() => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key)
    })
    return entry
  }
}
