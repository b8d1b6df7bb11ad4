import type { Client } from 'pg'
import { POSTGRES_ALONE_FROM, POSTGRES_MIGRATIONS } from '../../migrations/postgres.ts'

/** The lock of whoever brings the schema up to date; any number that nobody else uses. */
const MIGRATION_LOCK = 4_711_2026
/** Migrations of a big installation take their time, and those who wait for them as well. */
export const MIGRATION_MS = 3_600_000

/**
 * Brings the schema to the newest version, each step in a transaction of its own. Of all processes that start at once one does it, and
 * the others wait.
 *
 * @param client - one that waits {@link MIGRATION_MS} for an answer.
 * @param beforeUpgrade - called with the instances of an older version beside which this one cannot run, before the first step.
 * @throws {Error} when the data was written by a newer version of Lade; whatever `beforeUpgrade` throws.
 */
export async function migrate(
  client: Client,
  migrations: readonly string[] = POSTGRES_MIGRATIONS,
  beforeUpgrade?: (instances: readonly string[]) => Promise<void>,
): Promise<void> {
  await client.query(`SET statement_timeout = ${MIGRATION_MS}; SET lock_timeout = ${MIGRATION_MS}`)
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await client.query('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)')
    for (;;) {
      const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version')
      const version = rows[0]?.version ?? 0
      if (version > migrations.length) {
        throw new Error(`This data has schema version ${version}; this Lade knows versions up to ${migrations.length}.`)
      }
      const migration = migrations[version]
      if (migration === undefined) return
      if (beforeUpgrade !== undefined && version > 0 && version < POSTGRES_ALONE_FROM) {
        const instances = await client.query<{ id: string }>('SELECT id FROM instances')
        await beforeUpgrade(instances.rows.map(({ id }) => id))
      }
      // One message is one transaction.
      const mark =
        version === 0 ? 'INSERT INTO schema_version VALUES (1)' : `UPDATE schema_version SET version = ${version + 1}`
      await client.query(`BEGIN; ${migration}; ${mark}; COMMIT`)
    }
  } finally {
    // A step that failed is still open. What cannot be said on a connection that broke is no longer needed.
    await client.query('ROLLBACK').catch(() => {})
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {})
  }
}
