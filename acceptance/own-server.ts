import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startLade } from '../services/lade.ts'
import type { OwnServer } from './server-under-test.ts'

const STOP_TIMEOUT_MS = 60_000

/** A fresh directory for a server's data. */
export const newDataDir = (): Promise<string> => mkdtemp(join(tmpdir(), 'lade-acceptance-'))

/**
 * Starts `lade serve` with exactly the variables in `env`, and resolves once it has printed its address.
 *
 * Nothing of the caller's own `LADE_*` environment reaches it. Where `LADE_TEST_STACK` names a stack, its records and
 * bytes are kept there; the same `dataDir` finds them again.
 *
 * @throws Error with the server's output when it does not come up.
 */
export async function startOwnServer(env: Record<string, string>, dataDir?: string): Promise<OwnServer> {
  const data = dataDir ?? (await newDataDir())
  if (process.env.LADE_TEST_STACK !== undefined) {
    // Only here, since most runs need no client of PostgreSQL or S3.
    const { startStackedServer } = await import('./stacked-server.ts')
    return startStackedServer(env, data)
  }
  const removeData = () => rm(data, { recursive: true, force: true })
  try {
    const lade = await startLade({ LADE_PORT: '0', LADE_DATA_DIR: data, ...env })
    const stop = async () => (await lade.stop(STOP_TIMEOUT_MS)).code
    return {
      baseUrl: lade.url,
      directUrl: lade.url,
      instances: 1,
      dataDir: data,
      stop,
      async discard() {
        if (lade.isRunning) await stop()
        await removeData()
      },
    }
  } catch (error) {
    await removeData()
    throw error
  }
}
