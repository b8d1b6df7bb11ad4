import { Client } from 'pg'
import { connectionConfig } from './connections.ts'
import { translatedFailure } from './failures.ts'

/**
 * Keeps every service from starting on a database until it is closed, or its process ends: none can say that it is there.
 *
 * @throws {LadeError} `storage_failed` when the database cannot be reached, or somebody is starting at this moment.
 */
export async function holdPostgresStill({ url }: { readonly url: string }): Promise<{ close(): Promise<void> }> {
  const client = new Client({ ...connectionConfig({ url }), idle_in_transaction_session_timeout: 0 })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query('LOCK TABLE instances IN SHARE ROW EXCLUSIVE MODE')
  } catch (error) {
    await client.end().catch(() => {})
    throw translatedFailure(error)
  }
  return { close: () => client.end().catch(() => {}) }
}
