import type { ClientBase } from 'pg'
import { type ConnectionOptions, createClient, type Session } from './connections.ts'

/**
 * Sessions whose connection was given up while the server may not know: the locks that they hold are waited for by everybody else. The
 * server finds some of them out by itself, in ten seconds or so, but not one that a proxy in between keeps alive.
 *
 * Each is ended by whoever writes next, and stays here until the server has been told. Nobody waits for its end: who needs its locks does.
 */
export class AbandonedSessions {
  readonly #options: ConnectionOptions
  readonly #application: string
  readonly #sessions = new Set<Session>()

  /** @param options - of the sessions; the name of their application is of theirs alone, since no others may be ended. */
  constructor(options: ConnectionOptions & { readonly application: string }) {
    this.#options = options
    this.#application = options.application
  }

  add(session: Session): void {
    this.#sessions.add(session)
  }

  /** Ends them over a connection. Does not fail: where it breaks they stay, and the next query on it says why. */
  async end(client: ClientBase): Promise<void> {
    if (this.#sessions.size === 0) return
    const sessions = [...this.#sessions]
    const now = performance.now()
    const pids = sessions.map(({ pid }) => pid)
    const agesMs = sessions.map(({ openedAt }) => now - openedAt)
    await client.query(END_SESSIONS, [pids, agesMs, this.#application]).then(
      () => {
        for (const session of sessions) this.#sessions.delete(session)
      },
      () => {},
    )
  }

  /** Ends them over a connection of its own, for when nobody who could be asked to may come by in time. Does not fail. */
  async endNow(): Promise<void> {
    const client = createClient(this.#options)
    try {
      await client.connect()
      await this.end(client)
    } catch {
      // The next write does it.
    } finally {
      await client.end().catch(() => {})
    }
  }
}

/**
 * A pooler in between makes up numbers of its own, and a server that was started anew gives them out again: the name of the session has
 * to be right as well, and its age. Ages are compared, as the clocks of two machines differ.
 */
const END_SESSIONS = `SELECT pg_terminate_backend(pid)
  FROM unnest($1::int[], $2::float8[]) AS abandoned (pid, age_ms) JOIN pg_stat_activity USING (pid)
  WHERE application_name = $3 AND pid <> pg_backend_pid()
    AND backend_start <= clock_timestamp() - age_ms * interval '1 millisecond'`
