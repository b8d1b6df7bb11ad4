import { Client } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type Postgres, startPostgres } from '../../../../../../services/postgres.ts'
import { describeRecordStore } from '../../conformance.ts'
import type { RecordStore } from '../../record-store.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'

let postgres: Postgres
let url: string
let admin: Client

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('conformance')
  admin = new Client({ connectionString: url })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await postgres.discard()
})

const open = () => openPostgresRecordStore({ url, maxConnections: 8 })

/** Empties every table, which is faster than a new database. */
async function clear(): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'",
  )
  await admin.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')} RESTART IDENTITY`)
}

describeRecordStore('postgres', {
  open,
  async discard(store: RecordStore) {
    await store.close()
    await clear()
  },
  async reopen(store) {
    await store.close()
    return open()
  },
  openSecond: open,
})
