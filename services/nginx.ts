import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { freePort } from './free-port.ts'
import { proxyConfiguration } from './nginx-configuration.ts'
import { openTempHome } from './temp-home.ts'
import { untilListening } from './until.ts'

const START_TIMEOUT_MS = 10_000
const STOP_TIMEOUT_MS = 10_000
/** From Debian's package `nginx`, which is not on the path of every account. */
const PROGRAM = ['/usr/sbin/nginx', '/usr/bin/nginx'].find((path) => existsSync(path))

/** An nginx on loopback in front of several instances. */
export interface Nginx {
  readonly url: URL
  /** What it could not do at all. That an instance does not answer is no news here. */
  log(): string
  /** Ends it, requests under way included, and removes its files. */
  discard(): Promise<void>
}

/**
 * Starts nginx in front of `instances` with the configuration that `deploy/nginx` recommends. The address that
 * a caller claims in `X-Forwarded-For` is believed, as nginx believes a load balancer in front of it.
 *
 * @throws {Error} with what nginx said; or when the package `nginx` is not installed.
 */
export async function startNginx(instances: readonly URL[], options: { port?: number } = {}): Promise<Nginx> {
  if (PROGRAM === undefined) throw new Error('nginx is not installed (package nginx)')
  const port = options.port ?? (await freePort())
  const home = openTempHome('nginx')
  const file = join(home.path, 'nginx.conf')
  const logFile = join(home.path, 'error.log')
  writeFileSync(file, proxyConfiguration({ home: home.path, port, instances, logFile }))
  const nginx = startChild(PROGRAM, ['-p', home.path, '-c', file, '-e', logFile])
  const log = (): string => `${nginx.errors()}${existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''}`
  async function discard(): Promise<void> {
    if (nginx.isRunning) await nginx.end('SIGTERM', STOP_TIMEOUT_MS)
    home.discard()
  }
  try {
    await untilListening(port, START_TIMEOUT_MS, () => {
      if (!nginx.isRunning) throw new Error('nginx ended')
    })
  } catch (error) {
    const said = log()
    await discard()
    throw new Error(`nginx did not start:\n${said}`, { cause: error })
  }
  return { url: new URL(`http://127.0.0.1:${port}`), log, discard }
}
