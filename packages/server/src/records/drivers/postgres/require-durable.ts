import type { Client } from 'pg'

const OLDEST_VERSION = 150_000

/**
 * Holds the server against what "a 200 survives a power cut" rests on.
 *
 * @throws {Error} for a server that is too old.
 */
export async function requireDurable(client: Client, onWarning: (sentence: string) => void): Promise<void> {
  const { rows } = await client.query<{ version: number; fsync: string; pages: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS pages`,
  )
  const { version = 0, fsync, pages } = rows[0] ?? {}
  if (version < OLDEST_VERSION) {
    throw new Error(`PostgreSQL ${Math.floor(version / 10_000)} is too old: Lade needs 15 or later.`)
  }
  if (fsync !== 'on') onWarning('the database runs with fsync off: a power cut loses acknowledged data')
  if (pages !== 'on') onWarning('the database runs with full_page_writes off: a power cut can damage it')
}
