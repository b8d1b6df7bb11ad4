import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../../../services/postgres.ts'
import { createClient } from '../records/drivers/postgres/connections.ts'
import { openPostgresInstanceLocks } from '../records/drivers/postgres/instance-locks.ts'
import { migrate } from '../records/drivers/postgres/migrate.ts'
import { openPostgresRecordStore } from '../records/drivers/postgres/postgres-record-store.ts'
import { POSTGRES_ALONE_FROM, POSTGRES_MIGRATIONS } from '../records/migrations/postgres.ts'
import { refuseOlderInstances } from './refuse-older-instances.ts'

const OLDER = POSTGRES_ALONE_FROM - 1

test('data of a version beside which this one cannot run is not touched while an instance of that version lives, and is brought up to date when none does', async () => {
  const postgres = await startPostgres({ fsync: false })
  onTestFinished(() => postgres.discard())
  const url = await postgres.createDatabase('older')
  const client = createClient({ url, statementMs: 60_000, silenceMs: 60_000 })
  await client.connect()
  onTestFinished(() => client.end())
  await migrate(client, POSTGRES_MIGRATIONS.slice(0, OLDER))
  await client.query("INSERT INTO instances (id, started_at) VALUES ('alive', 1), ('dead', 1)")
  const versionNow = async () => (await client.query('SELECT version FROM schema_version')).rows[0]?.version

  const locks = openPostgresInstanceLocks({ url })
  onTestFinished(() => locks.close())
  const open = () => {
    const beforeUpgrade = refuseOlderInstances({ locks, place: 'the database', engine: 'postgres' })
    return openPostgresRecordStore({ url, beforeUpgrade })
  }
  const lock = await locks.hold('alive')
  await expect(open()).rejects.toThrow('An older version of Lade still runs on the database')
  expect(await versionNow()).toBe(OLDER)

  await lock.release()
  const store = await open()
  await store.close()
  expect(await versionNow()).toBe(POSTGRES_MIGRATIONS.length)
})
