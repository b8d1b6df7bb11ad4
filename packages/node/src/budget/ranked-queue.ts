interface WaitingPrincipal<Item> {
  readonly principal: string
  readonly items: Item[]
  /** The rank that it had when it was last looked at. */
  rank: number
}

/**
 * What waits, by principal. The next item is of the principal with the lowest rank, and of those with the same rank in turn. The items of one
 * principal keep their order.
 *
 * @param rankOf - the rank of a principal, as of `WorkBudget`. One that falls while something of the principal waits is noticed when its
 *   turn comes.
 *
 * @example
 * const queue = new RankedQueue<string>((principal) => (principal === 'a' ? 2 : 1))
 * queue.push('a', 'first')
 * queue.push('b', 'second')
 * queue.take() // { principal: 'b', item: 'second' }
 */
export class RankedQueue<Item> {
  readonly #rankOf: (principal: string) => number
  readonly #waiting = new Map<string, WaitingPrincipal<Item>>()
  #size = 0

  constructor(rankOf: (principal: string) => number) {
    this.#rankOf = rankOf
  }

  get size(): number {
    return this.#size
  }

  /** How many items of a principal wait. */
  countOf(principal: string): number {
    return this.#waiting.get(principal)?.items.length ?? 0
  }

  push(principal: string, item: Item): void {
    this.#size += 1
    const known = this.#waiting.get(principal)
    if (known !== undefined) known.items.push(item)
    else this.#waiting.set(principal, { principal, items: [item], rank: this.#rankOf(principal) })
  }

  /** Removes the next item of the principals that may have their turn; undefined when there is none. */
  take(mayTake: (principal: string) => boolean = () => true): { principal: string; item: Item } | undefined {
    while (true) {
      let next: WaitingPrincipal<Item> | undefined
      for (const one of this.#waiting.values()) {
        if ((next === undefined || one.rank < next.rank) && mayTake(one.principal)) next = one
      }
      if (next === undefined) return
      // Ranks hardly ever fall, so no other is lower if this one is what it was.
      const rank = this.#rankOf(next.principal)
      if (rank <= next.rank) return { principal: next.principal, item: this.#shift(next) }
      next.rank = rank
    }
  }

  /** Removes an item that waits no longer. */
  remove(principal: string, item: Item): void {
    const waiting = this.#waiting.get(principal)
    const place = waiting?.items.indexOf(item) ?? -1
    if (waiting === undefined || place < 0) return
    waiting.items.splice(place, 1)
    this.#size -= 1
    if (waiting.items.length === 0) this.#waiting.delete(principal)
  }

  #shift(waiting: WaitingPrincipal<Item>): Item {
    const { principal, items } = waiting
    this.#size -= 1
    // To the end of those with the same rank.
    this.#waiting.delete(principal)
    if (items.length > 1) this.#waiting.set(principal, waiting)
    return items.shift() as Item
  }
}
