import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg'
import type { Query, QueryAnswer } from '../../sql/sql.ts'

/** How long a connection may take to come about, and to be waited for. */
const CONNECT_MS = 5000
/** What the server lets one statement take, one lock be waited for, and a transaction lie idle. */
const STATEMENT_MS = 20_000
const LOCK_MS = 5000
const IDLE_IN_TRANSACTION_MS = 20_000
/** After which an answer is given up that the server should have refused by then: the network lost it. */
const SILENCE_MS = 25_000

const INT8 = types.builtins.INT8
const NUMERIC = types.builtins.NUMERIC

/** Whole numbers of 64 bits, and sums of them, as numbers: what the records count stays below 2^53. */
const NUMBERS: ClientConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (oid === INT8 || oid === NUMERIC) && format !== 'binary' ? Number : types.getTypeParser(oid, format)) as never,
}

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `sslmode`. */
  readonly url: string
  /** Settings of every session, beside the time-outs. */
  readonly session?: Readonly<Record<string, string | number>>
}

/**
 * How each connection is made. Whatever hangs comes to an end: a machine that is gone is noticed by either side, and no session holds
 * a lock for long after its process has died.
 */
export function connectionConfig({ url, session = {} }: ConnectionOptions): ClientConfig {
  const settings = {
    tcp_keepalives_idle: 5,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 2,
    jit: 'off',
    ...session,
  }
  return {
    connectionString: url,
    application_name: 'lade',
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    query_timeout: SILENCE_MS,
    keepAlive: true,
    types: NUMBERS,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  }
}

/** A pool whose connections break quietly: who uses one that broke meets the failure there. */
export function openPool(options: ConnectionOptions & { readonly max: number }): Pool {
  const pool = new Pool({ ...connectionConfig(options), max: options.max, idleTimeoutMillis: 60_000 })
  pool.on('error', () => {})
  return pool
}

/** One connection beside the pools. */
export function createClient(options: ConnectionOptions): Client {
  const client = new Client(connectionConfig(options))
  client.on('error', () => {})
  return client
}

/** Sends queries of the records to one connection, which keeps each of them prepared. */
export function askOn(client: PoolClient): (query: Query) => Promise<QueryAnswer> {
  return async ({ statement, values }) => {
    const { rows, rowCount } = await client.query({ name: statement.name, text: statement.text, values: [...values] })
    return { rows, changes: rowCount ?? 0 }
  }
}
