import { afterAll, beforeAll, expect, test } from 'vitest'
import { send } from '../faults/caller.ts'
import { startServer } from '../faults/server-process.ts'
import { type Postgres, startPostgres } from '../services/postgres.ts'
import { metricsIn, namedMetrics } from './deploy-files.ts'

/** PostgreSQL looks after the room of its own disk. */
const OF_SQLITE_ALONE: ReadonlySet<string> = new Set(['lade_reserve_bytes'])

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres({ fsync: false })
})
afterAll(() => postgres?.discard())

test('all metrics of rules and pages are those of a running service on PostgreSQL, which counts its transactions', async () => {
  const token = 'a-token-for-metrics'
  const LADE_DATABASE = await postgres.createDatabase('monitored')
  const server = await startServer({ env: { LADE_METRICS_TOKEN: token, LADE_DATABASE } })
  const answer = await send(server.url, 'GET', '/metrics', { headers: { Authorization: `Bearer ${token}` } })
  const text = answer.body.toString()
  const exposed = metricsIn(text)
  const named = namedMetrics()
  expect(named.filter((name) => !exposed.has(name) && !OF_SQLITE_ALONE.has(name))).toEqual([])
  const ofDatabase = [...exposed].filter((name) => name.startsWith('lade_database_'))
  expect(ofDatabase.filter((name) => !named.includes(name))).toEqual([])
  expect(text).toMatch(/^lade_database_transactions_total\{outcome="committed"\} [1-9]/m)
  // The jobs of a start may use the only writer just then.
  expect(text).toMatch(/^lade_database_connections\{pool="writers",state="(idle|in_use)"\} [1-9]/m)
  await server.stop()
})
