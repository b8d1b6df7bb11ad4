import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg'
import type { Query, QueryAnswer, SqlValue } from '../../sql/sql.ts'
import { isSilence } from './failures.ts'
import { TIMEOUTS } from './timeouts.ts'

/** What the operator sees in the server's list of sessions, unless the address says something else. */
export const APPLICATION = 'lade'

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
  /** What the session is called in the server's list. @default 'lade' */
  readonly application?: string
  /** How long it may take to come about, and in a pool to be waited for. @default 5000 */
  readonly connectMs?: number
  /** What the server lets one statement take. @default 20000 */
  readonly statementMs?: number
  /** How long one lock is waited for. @default 5000 */
  readonly lockMs?: number
  /** After which the server ends a transaction that nobody goes on with. @default 10000 */
  readonly idleInTransactionMs?: number
  /** After which an answer is given up. @default 25000 */
  readonly silenceMs?: number
  /** Settings of every session, beside the time-outs. */
  readonly session?: Readonly<Record<string, string | number>>
}

/**
 * How each connection is made. Whatever hangs comes to an end: a machine that is gone is noticed by either side, and no session holds
 * a lock for long after its process has died.
 */
export function connectionConfig(options: ConnectionOptions): ClientConfig {
  const { connectMs, lockMs, idleInTransactionMs, statementMs, silenceMs } = {
    ...TIMEOUTS,
    statementMs: TIMEOUTS.readStatementMs,
    silenceMs: TIMEOUTS.readSilenceMs,
    ...options,
  }
  const settings = {
    // Ten seconds, which is less than a write is tried for that waits behind a machine that fell silent.
    tcp_keepalives_idle: 4,
    tcp_keepalives_interval: 2,
    tcp_keepalives_count: 3,
    // A peer that does not take an answer is not asked for signs of life, so that this needs a limit of its own.
    tcp_user_timeout: 10_000,
    jit: 'off',
    ...options.session,
  }
  return {
    connectionString: options.url,
    application_name: options.application ?? APPLICATION,
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    lock_timeout: lockMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    query_timeout: silenceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5000,
    types: NUMBERS,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  }
}

export interface PoolOptions extends ConnectionOptions {
  readonly max: number
  /** Whether queries are sent before the answers to those ahead of them are here. */
  readonly isPipelined?: boolean
}

/** A session of the server, by what its client knows of it. */
export interface Session {
  /** The number of the server's process. */
  readonly pid: number
  /** When its connection had come about, in milliseconds of `performance.now()`. */
  readonly openedAt: number
}

/**
 * The connections of a pool. When one of them falls silent, those that were made before are likely to be dead as well, and each would
 * be waited for until it is found out: they are not used again.
 */
export class Connections {
  readonly pool: Pool
  readonly #opened = new WeakMap<PoolClient, { readonly generation: number; readonly openedAt: number }>()
  #generation = 0

  constructor(options: PoolOptions) {
    this.pool = openPool(options)
    this.pool.on('connect', (client) => {
      this.#opened.set(client, { generation: this.#generation, openedAt: performance.now() })
    })
  }

  /** One for the caller alone, who releases it. */
  async take(): Promise<PoolClient> {
    for (;;) {
      const client = await this.pool.connect()
      if (this.#opened.get(client)?.generation === this.#generation) return client
      client.release(true)
    }
  }

  /** What is known of the session of one of them. */
  sessionOf(client: PoolClient): Session {
    const { processID: pid = 0 } = client as { readonly processID?: number }
    return { pid, openedAt: this.#opened.get(client)?.openedAt ?? performance.now() }
  }

  /** Called with what a connection failed with. */
  failed(error: unknown): void {
    if (isSilence(error)) this.#generation += 1
  }
}

/** A pool whose connections break quietly: who uses one that broke meets the failure there. */
export function openPool(options: PoolOptions): Pool {
  const { max, isPipelined = false } = options
  const pool = new Pool({ ...connectionConfig(options), max, idleTimeoutMillis: 60_000, pipeline: isPipelined })
  pool.on('error', () => {})
  // The pool listens to those that nobody uses; one that breaks in use says so here, and would end the process if nobody heard.
  pool.on('connect', (client) => client.on('error', () => {}))
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
    const { name, text } = statement
    const { rows, rowCount } = await client.query({ name, text, values: values.map(withoutNul) })
    return { rows, changes: rowCount ?? 0 }
  }
}

/** No text here has a NUL in it. Who asks for one finds nothing, as where texts may have them. */
function withoutNul(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value
}
