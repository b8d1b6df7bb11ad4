import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Substitutes, startLade } from '@lade/server'
import { readConfig } from '@lade/server/config'

/** A service on a port and data of its own. */
export interface TestService {
  readonly url: string
  readonly dataDir: string
  close(): Promise<void>
}

/** Starts a real service; `env` are settings on top of a free port and a quiet log. */
export async function startTestService(
  env: Readonly<Record<string, string>> = {},
  substitutes: Substitutes = {},
): Promise<TestService> {
  const dataDir = await mkdtemp(join(tmpdir(), 'lade-cli-data-'))
  const settings = { LADE_PORT: '0', LADE_DATA_DIR: dataDir, LADE_LOG_LEVEL: 'silent', LADE_MIN_FREE_MB: '0' }
  const lade = await startLade(readConfig({ env: { ...settings, ...env } }), substitutes)
  return {
    url: lade.url,
    dataDir,
    close: async () => {
      await lade.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Starts something that answers whatever `listener` says, as a service that is not to be trusted might. */
export async function startFakeService(listener: RequestListener): Promise<Pick<TestService, 'url' | 'close'>> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('The server has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
