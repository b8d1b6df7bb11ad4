import { OWN_ENV } from './own-env.ts'
import { startOwnServer } from './own-server.ts'
import type { OwnServer } from './server-under-test.ts'

/** The variable under which the URLs of the servers are handed to the processes that vitest starts, separated by spaces. */
const SHARED_SERVERS = 'LADE_ACCEPTANCE_SHARED_SERVERS'

/**
 * vitest's `globalSetup`: starts one server for each worker, used by all files that run there, one after the other. A start takes
 * about as long as all the tests of a file. A stack, which takes longer to start than all of them, has a server for each file.
 */
export default async function setup({ config }: { config: { maxWorkers: number } }): Promise<() => Promise<void>> {
  if (process.env.LADE_ACCEPTANCE_URL !== undefined || process.env.LADE_TEST_STACK !== undefined) return async () => {}
  const servers = await Promise.all(Array.from({ length: config.maxWorkers }, () => startOwnServer(OWN_ENV)))
  process.env[SHARED_SERVERS] = servers.map(({ baseUrl }) => baseUrl.href).join(' ')
  return async () => {
    await Promise.all(servers.map((server) => server.discard()))
  }
}

/** The server of this worker, which is not to be stopped; undefined where each file starts its own. */
export function sharedServer(): Pick<OwnServer, 'baseUrl' | 'directUrl' | 'instances' | 'discard'> | undefined {
  const urls = process.env[SHARED_SERVERS]?.split(' ') ?? []
  const url = urls[(Number(process.env.VITEST_POOL_ID) - 1) % urls.length]
  if (url === undefined) return undefined
  const baseUrl = new URL(url)
  return { baseUrl, directUrl: baseUrl, instances: 1, discard: async () => {} }
}
