import { createClient } from './connections.ts'
import { translatedFailure } from './failures.ts'

/** What a database says of itself. */
export interface DatabaseFacts {
  /** Such as `18.4`. */
  readonly version: string
  /** Such as 18. */
  readonly majorVersion: number
  readonly fsync: boolean
  readonly fullPageWrites: boolean
  /** `off` loses what was acknowledged last; a session of Lade sets it to `on` in any case. */
  readonly synchronousCommit: string
  readonly maxConnections: number
  /** True while it takes no writes, as a standby does. */
  readonly isReadOnly: boolean
  /** 0 for a database that no service was started on. */
  readonly schemaVersion: number
  /** How far its clock is ahead of the one here, half of the way there and back already taken off. */
  readonly clockAheadMs: number
}

/**
 * Asks a PostgreSQL what it is, and changes nothing.
 *
 * @throws {LadeError} `storage_failed` when it cannot be reached.
 */
export async function readPostgresFacts({ url }: { readonly url: string }): Promise<DatabaseFacts> {
  const client = createClient({ url })
  try {
    await client.connect()
    const { rows } = await client.query<Omit<DatabaseFacts, 'schemaVersion' | 'clockAheadMs'> & { hasSchema: boolean }>(
      `SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
         current_setting('server_version_num')::int / 10000 AS "majorVersion",
         current_setting('fsync') = 'on' AS fsync, current_setting('full_page_writes') = 'on' AS "fullPageWrites",
         current_setting('synchronous_commit') AS "synchronousCommit",
         current_setting('max_connections')::int AS "maxConnections",
         pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on' AS "isReadOnly",
         to_regclass('schema_version') IS NOT NULL AS "hasSchema"`,
    )
    const facts = rows[0]
    if (facts === undefined) throw new Error('The database said nothing of itself.')
    const { hasSchema, ...rest } = facts
    const schema = hasSchema ? await client.query<{ version: number }>('SELECT version FROM schema_version') : undefined
    const askedAt = Date.now()
    const clock = await client.query<{ at: string }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint::text AS at',
    )
    const answeredAt = Date.now()
    return {
      ...rest,
      schemaVersion: schema?.rows[0]?.version ?? 0,
      clockAheadMs: Number(clock.rows[0]?.at) - (askedAt + answeredAt) / 2,
    }
  } catch (error) {
    throw translatedFailure(error)
  } finally {
    await client.end().catch(() => {})
  }
}
