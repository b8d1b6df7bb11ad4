/**
 * Remembers answers for a while, and asks once for all who ask at the same time.
 *
 * @example
 * const answers = new RecentAnswers<boolean>(1000)
 * await answers.get('a', Date.now(), ask) // asks
 * await answers.get('a', Date.now(), ask) // remembers
 */
export class RecentAnswers<Answer> {
  readonly #believedMs: number
  #answers = new Map<string, { readonly askedAt: number; readonly answer: Answer }>()
  #asking = new Map<string, Promise<Answer>>()

  /** @param believedMs - for how long an answer is believed. */
  constructor(believedMs: number) {
    this.#believedMs = believedMs
  }

  /** @throws what `ask` throws, which is not remembered. */
  async get(key: string, now: number, ask: () => Promise<Answer>): Promise<Answer> {
    const last = this.#answers.get(key)
    if (last !== undefined && now >= last.askedAt && now - last.askedAt < this.#believedMs) return last.answer
    const asking = this.#asking.get(key)
    if (asking !== undefined) return asking
    const asked = ask()
    this.#asking.set(key, asked)
    try {
      const answer = await asked
      // What was forgotten meanwhile is not remembered: the answer may be older than the reason to forget it.
      if (this.#asking.get(key) === asked) this.#answers.set(key, { askedAt: now, answer })
      return answer
    } finally {
      if (this.#asking.get(key) === asked) this.#asking.delete(key)
    }
  }

  forget(key: string): void {
    this.#answers.delete(key)
    this.#asking.delete(key)
  }

  /** Forgets every answer, also those that are on their way. */
  clear(): void {
    this.#answers = new Map()
    this.#asking = new Map()
  }
}
