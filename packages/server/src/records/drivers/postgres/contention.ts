/** How many transactions are looked at together. */
const WINDOW = 32
/** So many undone ones among them are contention; so few end the memory of it. */
const MANY = 8
const FEW = 3
const FIRST_MS = 1000
const LONGEST_MS = 60_000

/**
 * Whether writes of different principals undo each other, so that they had better follow each other.
 *
 * The server tells writes apart by the pages of the indexes that they read and write. In a small database all of them meet on a few
 * pages; in a big one hardly any do. Contention is left now and then, to see whether it is still there.
 */
export class Contention {
  readonly #now: () => number
  #seen = 0
  #undone = 0
  #until = Number.NEGATIVE_INFINITY
  #lastsMs = FIRST_MS

  /** @param now - milliseconds that only grow. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  get isContended(): boolean {
    return this.#now() < this.#until
  }

  /** Counts a transaction by how it ended. */
  note(ending: 'made' | 'undone'): void {
    if (this.isContended) return
    this.#seen += 1
    if (ending === 'undone') this.#undone += 1
    if (this.#undone >= MANY) {
      this.#until = this.#now() + this.#lastsMs
      this.#lastsMs = Math.min(LONGEST_MS, this.#lastsMs * 2)
    } else if (this.#seen < WINDOW) {
      return
    } else if (this.#undone <= FEW) {
      this.#lastsMs = FIRST_MS
    }
    this.#seen = 0
    this.#undone = 0
  }
}
