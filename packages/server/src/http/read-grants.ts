/** Counts who holds what there is a limited number of. */
export class ReadGrants {
  readonly #count: number
  readonly #waiting: (() => void)[] = []
  #held = 0

  constructor(count: number) {
    this.#count = count
  }

  get held(): number {
    return this.#held
  }

  /** Takes one, as long as fewer than `mayBe` are held. @returns false otherwise. */
  take(mayBe: number): boolean {
    if (this.#held >= mayBe) return false
    this.#held += 1
    return true
  }

  /** Takes one when there is one; those who wait are served in turn. */
  async wait(): Promise<void> {
    if (!this.take(this.#count)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  giveBack(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#held -= 1
    else next()
  }
}
