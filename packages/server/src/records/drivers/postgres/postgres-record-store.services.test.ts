import { Client } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { type Postgres, startPostgres, throughPort } from '../../../../../../services/postgres.ts'
import { startTcpRelay, type TcpRelay } from '../../../../../../services/tcp-relay.ts'
import { describeRecordStore } from '../../conformance.ts'
import type { RecordStore } from '../../record-store.ts'
import { openPostgresRecordStore } from './postgres-record-store.ts'
import { TIMEOUTS } from './timeouts.ts'

let postgres: Postgres
let relay: TcpRelay
let url: string
let admin: Client
/** Of all stores here: it is short while the database is away, so that nobody waits for its return. */
const timeouts = { writeMs: TIMEOUTS.writeMs, readMs: TIMEOUTS.readMs }

beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
  url = await postgres.createDatabase('conformance')
  relay = await startTcpRelay(postgres.port)
  admin = new Client({ connectionString: url })
  await admin.connect()
})

afterAll(async () => {
  await admin?.end()
  await relay?.discard()
  await postgres.discard()
})

const open = () => openPostgresRecordStore({ url: throughPort(url, relay.port), maxConnections: 8, timeouts })

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
    relay.reopen()
    Object.assign(timeouts, { writeMs: TIMEOUTS.writeMs, readMs: TIMEOUTS.readMs })
    await clear()
  },
  async reopen(store) {
    await store.close()
    return open()
  },
  openSecond: open,
  breakNext() {
    relay.close()
    Object.assign(timeouts, { writeMs: 200, readMs: 200 })
  },
})
