import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope, SignupResult } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import { type Logger, pino } from 'pino'
import { type Config, readConfig } from '../../config/config.ts'
import { type Lade, type Substitutes, startLade } from '../../main.ts'
import { newDatabase } from '../../records/testing-new-database.ts'
import { userIdOf } from '../../tokens/email.ts'
import { openKeyFile } from '../../tokens/key-file.ts'
import { mintToken } from '../../tokens/mint-token.ts'

/** A service in this process, on a free port, with a data directory of its own and its log in memory. */
export interface RunningService {
  readonly url: string
  readonly dataDir: string
  readonly config: Config
  /** Every line that was logged, as written. */
  readonly logLines: readonly string[]
  /** The same, parsed. */
  logged(): readonly Record<string, unknown>[]
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Stages bytes, by default under their sha2-256 and without a token. */
  upload(bytes: Uint8Array, options?: UploadOptions): Promise<Response>
  /** A fresh token of this user. */
  signUp(email?: string): Promise<SignupResult>
  /** A token that the service has not seen, as `lade keys mint` makes it. */
  mint(scopes: readonly Scope[], options?: MintOptions): Promise<string>
  lade: Lade
  /** Ends the service; the data stays. Safe to call twice. */
  close(): Promise<void>
  /** Ends the service and removes its data. */
  remove(): Promise<void>
}

/** The file of a service's records. @throws {TypeError} for a service that has them elsewhere. */
export function databaseFileOf({ database }: Config): string {
  if (database.kind !== 'sqlite') throw new TypeError('The records of this service are in no file.')
  return database.file
}

export interface MintOptions {
  readonly email?: string
  readonly jti?: string
  readonly quotaMb?: number
}

export interface UploadOptions {
  readonly cid?: string
  readonly token?: string
  readonly headers?: Record<string, string>
}

export interface RunOptions {
  /** Variables besides the port and the data directory. */
  readonly env?: Record<string, string>
  readonly substitutes?: Substitutes
  /** Runs on the data of an earlier service, whose owner removes it. */
  readonly dataDir?: string
}

/** A logger that writes into `lines`, one JSON document each. */
export function memoryLog(lines: string[], level: Config['logLevel'] = 'debug'): Logger {
  return pino({ level }, { write: (line: string) => void lines.push(line) })
}

/** Starts a service that logs at `debug` and otherwise has the defaults of the configuration, unless `env` says so. */
export async function runService({ env = {}, substitutes = {}, dataDir }: RunOptions = {}): Promise<RunningService> {
  const dir = dataDir ?? mkdtempSync(join(tmpdir(), 'lade-service-'))
  const defaults = { LADE_PORT: '0', LADE_DATA_DIR: dir, LADE_MIN_FREE_MB: '0', LADE_LOG_LEVEL: 'debug' }
  const config = readConfig({ env: { ...defaults, ...env } })
  if (dataDir === undefined && config.database.kind === 'sqlite') newDatabase(config.database.file)
  const logLines: string[] = []
  const removeOwn = (): void => {
    if (dataDir === undefined) rmSync(dir, { recursive: true, force: true })
  }
  let lade: Lade
  try {
    const onFatal = (error: Error): void => void logLines.push(JSON.stringify({ fatal: error.message }))
    lade = await startLade(config, { log: memoryLog(logLines, config.logLevel), onFatal, ...substitutes })
  } catch (error) {
    removeOwn()
    throw error
  }
  const fetchPath: RunningService['fetch'] = (path, init) => fetch(`${lade.url}${path}`, init)
  return {
    url: lade.url,
    dataDir: dir,
    config,
    logLines,
    logged: () => logLines.map((line) => JSON.parse(line) as Record<string, unknown>),
    fetch: fetchPath,
    upload: (bytes, { cid = sha256Hex(bytes), token, headers = {} } = {}) =>
      fetchPath(`/api/upload?cid=${cid}`, {
        method: 'POST',
        body: Uint8Array.from(bytes),
        headers: { 'content-type': 'application/octet-stream', ...bearer(token), ...headers },
      }),
    async signUp(email = 'ada@example.org') {
      const response = await fetchPath('/api/auth/signup', {
        method: 'POST',
        body: JSON.stringify({ email, label: 'test' }),
        headers: { 'content-type': 'application/json' },
      })
      return (await response.json()) as SignupResult
    },
    async mint(scopes, { email = 'ops@example.org', jti = randomUUID(), quotaMb = 1024 } = {}) {
      const { key } = await openKeyFile({ file: join(dir, 'token.key'), now: new Date() })
      const iat = Math.floor(Date.now() / 1000) - 10
      return mintToken({ sub: userIdOf(email), email, scopes, quotaMb, iat, exp: iat + 86_400, jti }, key)
    },
    lade,
    close: () => lade.close(),
    async remove() {
      await lade.close()
      removeOwn()
    },
  }
}

/** The header that carries a token; none without one. */
export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}
