/**
 * Bare loop: inserts distinct small bodies into a PostgreSQL table, one durable transaction for each, over some connections at once. The
 * baseline of uploads whose records are in PostgreSQL: it has no HTTP, no hash, no quota and one index.
 *
 * Argument: {@link InsertRowsInput} as JSON. Prints {@link InsertRowsResult} as JSON.
 */
import { Client } from 'pg'
import type { Latency } from '../sample.ts'
import { seededBytes, stamp } from '../stamped-body.ts'
import { percentile } from '../statistics.ts'

export interface InsertRowsInput {
  /** The address of a database that is empty. */
  url: string
  connections: number
  warmUpSeconds: number
  seconds: number
  sizeBytes: number
}

export interface InsertRowsResult {
  completed: number
  seconds: number
  latencyMs: Latency
}

const input: InsertRowsInput = JSON.parse(process.argv[2] ?? '')
const clients = Array.from({ length: input.connections }, () => new Client({ connectionString: input.url }))
let inserted = 0

async function insertUntil(client: Client, deadline: number, latenciesMs: number[]): Promise<void> {
  while (performance.now() < deadline) {
    const number = inserted++
    const body = seededBytes(0, input.sizeBytes)
    stamp(body, number)
    const startedAt = performance.now()
    await client.query({
      name: 'insert',
      text: 'INSERT INTO bodies (id, body) VALUES ($1, $2)',
      values: [number, body],
    })
    latenciesMs.push(performance.now() - startedAt)
  }
}

async function insertFor(seconds: number): Promise<number[]> {
  const latenciesMs: number[] = []
  const deadline = performance.now() + seconds * 1000
  await Promise.all(clients.map((client) => insertUntil(client, deadline, latenciesMs)))
  return latenciesMs
}

await Promise.all(clients.map((client) => client.connect()))
await clients[0]?.query('CREATE TABLE bodies (id BIGINT PRIMARY KEY, body BYTEA NOT NULL)')
await insertFor(input.warmUpSeconds)
const startedAt = performance.now()
const latenciesMs = await insertFor(input.seconds)
const seconds = (performance.now() - startedAt) / 1000
await Promise.all(clients.map((client) => client.end()))
const result: InsertRowsResult = {
  completed: latenciesMs.length,
  seconds,
  latencyMs: { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) },
}
console.log(JSON.stringify(result))
