/** More accounts than this are not kept: the smallest go first. */
const MAX_ACCOUNTS = 100_000
/** An account below this is as good as none. */
const FORGOTTEN = 0.01

interface Account {
  amount: number
  at: number
}

/**
 * Amounts by name that are halved every `halfLifeMs`, and their sum.
 *
 * Holds at most 100,000 accounts: when there are more, those that have decayed to nothing are forgotten, and then the smallest.
 */
export class DecayingAccounts {
  readonly #accounts = new Map<string, Account>()
  readonly #whole: Account = { amount: 0, at: 0 }
  readonly #now: () => number
  readonly #halfLifeMs: number

  constructor({ now, halfLifeMs }: { readonly now: () => number; readonly halfLifeMs: number }) {
    this.#now = now
    this.#halfLifeMs = halfLifeMs
  }

  /** What is left of the amounts under `name`. */
  of(name: string): number {
    const account = this.#accounts.get(name)
    return account === undefined ? 0 : this.#left(account)
  }

  /**
   * Orders accounts by what is left of them, without the time in it: two levels that are one apart are a factor of two apart, at every moment.
   * The level of an account stays the same until something is added.
   *
   * @returns a binary logarithm; -Infinity for an account that there is not.
   */
  level(name: string): number {
    const account = this.#accounts.get(name)
    return account === undefined ? -Infinity : Math.log2(account.amount) + account.at / this.#halfLifeMs
  }

  /** What is left of all amounts. */
  total(): number {
    return this.#left(this.#whole)
  }

  /**
   * Adds to an account.
   *
   * @param max - the account grows no further than this. @default Infinity
   * @param options.isPart - true when the amount was added under another name, too, and is in the total already. @default false
   */
  add(name: string, amount: number, max = Infinity, { isPart = false }: { readonly isPart?: boolean } = {}): void {
    if (amount <= 0) return
    const now = this.#now()
    const known = this.#accounts.get(name)
    this.#accounts.set(name, { amount: Math.min(max, (known === undefined ? 0 : this.#left(known)) + amount), at: now })
    if (!isPart) Object.assign(this.#whole, { amount: this.#left(this.#whole) + amount, at: now })
    if (known === undefined && this.#accounts.size > MAX_ACCOUNTS) this.#forget()
  }

  #left({ amount, at }: Account): number {
    return amount * 2 ** (-(this.#now() - at) / this.#halfLifeMs)
  }

  #forget(): void {
    for (const [name, account] of this.#accounts) if (this.#left(account) < FORGOTTEN) this.#accounts.delete(name)
    if (this.#accounts.size <= MAX_ACCOUNTS / 2) return
    const byAmount = [...this.#accounts].sort(([, one], [, other]) => this.#left(one) - this.#left(other))
    for (const [name] of byAmount.slice(0, this.#accounts.size - MAX_ACCOUNTS / 2)) this.#accounts.delete(name)
  }
}
