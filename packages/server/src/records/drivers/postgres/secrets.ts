import type { SecretRecords } from '../../record-store.ts'
import { createClient } from './connections.ts'
import { translatedFailure } from './failures.ts'

const UNDEFINED_TABLE = '42P01'

/**
 * The secrets of a database for a program that is no instance: it has one connection and leaves the schema as it is. A database that no
 * service was started on has no secrets, and takes none.
 *
 * @throws {LadeError} `storage_failed` when it cannot be reached.
 */
export async function openPostgresSecrets({
  url,
}: {
  readonly url: string
}): Promise<SecretRecords & { close(): Promise<void> }> {
  const client = createClient({ url })
  async function ask(text: string, values: readonly string[]): Promise<string | undefined> {
    try {
      const { rows } = await client.query<{ value: string }>(text, [...values])
      return rows[0]?.value
    } catch (error) {
      throw isNoTable(error) ? error : translatedFailure(error)
    }
  }
  async function find(name: string): Promise<string | undefined> {
    return ask('SELECT value FROM secrets WHERE name = $1', [name])
  }
  try {
    await client.connect()
    await client.query("SET synchronous_commit = 'on'")
  } catch (error) {
    throw translatedFailure(error)
  }
  return {
    async find(name) {
      try {
        return await find(name)
      } catch (error) {
        if (isNoTable(error)) return undefined
        throw error
      }
    },
    async offer({ name, value }) {
      const insert = 'INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING value'
      const kept = await orNoSchema(() => ask(insert, [name, value]))
      return kept ?? (await find(name)) ?? value
    },
    async replace({ name, value }) {
      const replace =
        'INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
      await orNoSchema(() => ask(replace, [name, value]))
    },
    close: () => client.end().catch(() => {}),
  }
}

async function orNoSchema<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (!isNoTable(error)) throw error
    throw translatedFailure(new Error('No service has been started on this database yet, so it has no tables.'))
  }
}

function isNoTable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === UNDEFINED_TABLE
}
