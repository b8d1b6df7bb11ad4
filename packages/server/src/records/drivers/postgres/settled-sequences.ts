import type { Pool } from 'pg'

/** `upTo` was handed out before the transaction `begun` began. */
interface Mark {
  readonly upTo: number
  readonly begun: bigint
}

/**
 * Up to which sequence every file is visible that ever will be.
 *
 * Sequences are handed out to transactions that run side by side, so a file can become visible after one with a higher sequence. Who
 * reads files in order and remembers how far he got must not pass such a gap. A sequence that has been handed out belongs to a
 * transaction that had a number before that: its first change is the key of the write. Numbers grow, so once every transaction below one
 * that was taken afterwards is over, nothing up to that sequence is to come.
 */
export class SettledSequences {
  readonly #pool: Pool
  #upTo = 0
  #waitingFor: Mark | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Behind by as long as the slowest transaction of the server takes, and not at all while nothing else is under way. */
  async upTo(): Promise<number> {
    const last = await this.#handedOut()
    if (last <= this.#upTo) return this.#upTo
    // A number is taken, since the highest that a snapshot knows is that of a transaction which is over: some that go on may be above it.
    const { rows } = await this.#pool.query<{ begun: string; oldest: string }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, pg_current_xact_id()::text AS begun',
    )
    const begun = BigInt(rows[0]?.begun ?? 0)
    const oldest = BigInt(rows[0]?.oldest ?? 0)
    if (oldest >= begun) return this.#reach(last)
    // Something is under way. What was under way at an earlier mark may be over.
    const earlier = this.#waitingFor
    if (earlier === undefined || oldest >= earlier.begun) {
      this.#waitingFor = { upTo: last, begun }
      if (earlier !== undefined) return this.#reach(earlier.upTo)
    }
    return this.#upTo
  }

  #reach(upTo: number): number {
    this.#upTo = Math.max(this.#upTo, upTo)
    return this.#upTo
  }

  async #handedOut(): Promise<number> {
    const { rows } = await this.#pool.query<{ last: number }>(
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM files_sequence',
    )
    return rows[0]?.last ?? 0
  }
}
