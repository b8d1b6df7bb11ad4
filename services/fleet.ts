import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Exit } from './child.ts'
import { freePort } from './free-port.ts'
import { type Lade, startLade } from './lade.ts'
import { type Nginx, startNginx } from './nginx.ts'
import { openTempHome } from './temp-home.ts'
import { until } from './until.ts'

const READY_TIMEOUT_MS = 60_000

export interface FleetOptions {
  /** How many `lade serve` there are. @default 3 */
  readonly size?: number
  /** The settings of every instance; its port, its data directory and the public address are added. */
  readonly env: Readonly<Record<string, string>>
  /** Settings of one instance, which come before those of all. */
  readonly envOf?: (index: number) => Readonly<Record<string, string>>
  /** Whether all instances share one data directory, as they must with SQLite. @default false */
  readonly sharesDataDir?: boolean
}

/** One `lade serve` of a fleet, which keeps its port and its data directory however often it is started. */
export interface Instance {
  readonly url: URL
  /** The process of the last start. */
  readonly process: Lade
  /** SIGKILL, then waits for the end. */
  kill(): Promise<Exit>
  /** SIGTERM, then waits for the end. @throws {Error} with its log when it still runs after `withinMs`. */
  drain(withinMs?: number): Promise<Exit>
  /** Starts it again, unless it runs, and resolves when it has printed its address. */
  start(): Promise<void>
  /** Whether `/readyz` answers 200. */
  isReady(): Promise<boolean>
}

/** Several instances of the service on one database and one storage, and nginx in front of them. */
export interface Fleet {
  /** Where nginx listens, which is the public address of every instance. */
  readonly url: URL
  readonly instances: readonly Instance[]
  readonly nginx: Nginx
  /** Resolves when every instance is ready. @throws {Error} naming those that are not after `withinMs`. */
  ready(withinMs?: number): Promise<void>
  /** What every instance logged since it was last started. */
  log(): string
  /** Kills the instances, ends nginx, and removes the data directories. */
  discard(): Promise<void>
}

/**
 * Starts a fleet: the first instance alone, since it makes the database and the key, then the others side by side, then nginx.
 *
 * @throws {Error} with the log of what did not start; nothing is left running then.
 *
 * @example
 * const fleet = await startFleet({ env: { LADE_DATABASE: await postgres.createDatabase('lade'), LADE_STORAGE: 'file:/srv/blobs' } })
 * await fleet.instances[0]?.kill()
 */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { size = 3, env, envOf, sharesDataDir = false } = options
  const home = openTempHome('fleet')
  const publicPort = await freePort()
  const url = new URL(`http://127.0.0.1:${publicPort}`)
  const instances: StartedInstance[] = []
  let nginx: Nginx | undefined

  async function discard(): Promise<void> {
    await Promise.all(instances.map((instance) => instance.kill()))
    await nginx?.discard()
    home.discard()
  }
  async function startOne(index: number): Promise<void> {
    const dataDir = join(home.path, sharesDataDir ? 'data' : `data-${index}`)
    mkdirSync(dataDir, { recursive: true })
    const port = await freePort()
    const instance = new StartedInstance(port, {
      LADE_PUBLIC_URL: url.origin,
      ...env,
      ...envOf?.(index),
      LADE_PORT: String(port),
      LADE_DATA_DIR: dataDir,
    })
    instances.push(instance)
    await instance.start()
  }
  async function ready(withinMs = READY_TIMEOUT_MS): Promise<void> {
    await Promise.all(
      instances.map((instance) => until(`${instance.url} is ready`, withinMs, () => instance.isReady())),
    )
  }

  try {
    await startOne(0)
    await Promise.all(Array.from({ length: size - 1 }, (_, index) => startOne(index + 1)))
    nginx = await startNginx(
      instances.map((instance) => instance.url),
      { port: publicPort },
    )
    return {
      url,
      instances,
      nginx,
      ready,
      log: () => instances.map((instance) => `${instance.url.host}:\n${instance.process.log()}`).join('\n'),
      discard,
    }
  } catch (error) {
    await discard()
    throw error
  }
}

class StartedInstance implements Instance {
  readonly url: URL
  readonly #env: Readonly<Record<string, string>>
  #process: Lade | undefined

  constructor(port: number, env: Readonly<Record<string, string>>) {
    this.url = new URL(`http://127.0.0.1:${port}`)
    this.#env = env
  }

  get process(): Lade {
    if (this.#process === undefined) throw new TypeError('the instance was never started')
    return this.#process
  }

  async start(): Promise<void> {
    if (this.#process?.isRunning) return
    this.#process = await startLade(this.#env)
  }

  async kill(): Promise<Exit> {
    return this.#process?.kill() ?? { code: null, signal: null }
  }

  drain(withinMs?: number): Promise<Exit> {
    return this.process.stop(withinMs)
  }

  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(new URL('/readyz', this.url), { signal: AbortSignal.timeout(5000) })
      await answer.arrayBuffer()
      return answer.status === 200
    } catch {
      // Refused, reset or late: whatever it is, it is not ready.
      return false
    }
  }
}
