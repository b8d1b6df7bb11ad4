/** Counts how often running something was seen, so that one answer of a node that is behind decides nothing. */
export class Observations {
  readonly #seen = new Map<string, { count: number; at: string | number }>()

  /** @param at - seen again at the same place counts once. @returns how many times it was seen by now. */
  see(what: string, at: string | number): number {
    const before = this.#seen.get(what)
    if (before !== undefined && before.at === at) return before.count
    const count = (before?.count ?? 0) + 1
    this.#seen.set(what, { count, at })
    return count
  }

  /** It was looked for and not seen. */
  forget(what: string): void {
    this.#seen.delete(what)
  }

  /** Forgets what this is false of. */
  keep(isStillAsked: (what: string) => boolean): void {
    for (const what of this.#seen.keys()) if (!isStillAsked(what)) this.#seen.delete(what)
  }
}
