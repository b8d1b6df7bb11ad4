import { randomBytes } from 'node:crypto'
import { LadeError } from '@lade/core/errors'
import { StartError } from '@lade/node/settings'
import { probeStore } from '../blobs/probe-store.ts'
import type { Config } from '../config/config.ts'
import { POSTGRES_MIGRATIONS } from '../records/migrations/postgres.ts'
import type { SecretRecords } from '../records/record-store.ts'
import { openBlobs } from './open-drivers.ts'

export { describeDatabase, describeStorage } from '../config/describe.ts'
export type { DatabaseFacts } from '../records/drivers/postgres/database-facts.ts'

type PostgresSetting = Extract<Config['database'], { readonly kind: 'postgres' }>

/** The schema that this program brings a PostgreSQL database to. */
export const POSTGRES_SCHEMA_VERSION = POSTGRES_MIGRATIONS.length

/**
 * The secrets that a PostgreSQL database keeps, without a service and without touching its schema.
 *
 * @throws {LadeError} `storage_failed` when it cannot be reached.
 */
export async function openKeptSecrets({ url }: PostgresSetting): Promise<SecretRecords & { close(): Promise<void> }> {
  const { openPostgresSecrets } = await import('../records/drivers/postgres/secrets.ts')
  return openPostgresSecrets({ url: url.reveal() })
}

/** What a PostgreSQL says of itself. @throws {LadeError} `storage_failed` when it cannot be reached. */
export async function readDatabaseFacts({ url }: PostgresSetting) {
  const { readPostgresFacts } = await import('../records/drivers/postgres/database-facts.ts')
  return readPostgresFacts({ url: url.reveal() })
}

/**
 * Puts a blob of random bytes into the storage, reads it, and removes it.
 *
 * @returns what the store did wrong, as the end of the sentence "The storage …"; undefined when it is good.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`.
 */
export async function probeStorage(config: Config): Promise<string | undefined> {
  const store = await openBlobs(config).catch((error: unknown) => {
    // Here it is what the store said that counts, and not that nothing can start.
    throw error instanceof StartError && LadeError.is(error.cause) ? error.cause : error
  })
  if (store === undefined) return 'is not there'
  try {
    return await probeStore(store, randomBytes(32))
  } finally {
    await store.close()
  }
}
