import type { Pool } from 'pg'

/**
 * Up to which sequence every file is visible that ever will be.
 *
 * Sequences are handed out to transactions that run side by side, so a file can become visible after one with a higher sequence. Who
 * reads files in order and remembers how far he got must not pass such a gap. A sequence that has been handed out belongs to a
 * transaction that had begun to write before that: once all that had begun then are over, nothing below it is to come.
 */
export class SettledSequences {
  readonly #pool: Pool
  #upTo = 0
  #next: { readonly upTo: number; readonly begun: bigint } | undefined

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Behind by as long as the slowest transaction takes, and not at all while nothing else is under way. */
  async upTo(): Promise<number> {
    this.#next ??= await this.#handedOut()
    const { rows } = await this.#pool.query<{ oldest: string }>(
      'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest',
    )
    if (BigInt(rows[0]?.oldest ?? 0) >= this.#next.begun) {
      this.#upTo = this.#next.upTo
      this.#next = undefined
    }
    return this.#upTo
  }

  /** In this order: a sequence that is in the first answer belongs to a transaction that is in the second. */
  async #handedOut(): Promise<{ readonly upTo: number; readonly begun: bigint }> {
    const last = await this.#pool.query<{ last: number }>(
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM files_sequence',
    )
    const begun = await this.#pool.query<{ next: string }>(
      'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next',
    )
    return { upTo: last.rows[0]?.last ?? 0, begun: BigInt(begun.rows[0]?.next ?? 0) }
  }
}
