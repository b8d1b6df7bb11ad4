import { rm } from 'node:fs/promises'
import { type Fleet, startFleet } from '../services/fleet.ts'
import { type Lade, startLade } from '../services/lade.ts'
import { openPlace, type StackServers } from '../services/stack.ts'
import { STACK_SERVERS } from '../services/stack-setup.ts'
import type { OwnServer } from './server-under-test.ts'

const STOP_TIMEOUT_MS = 60_000

/** How many servers have been started at a data directory and not yet discarded: the last one takes the place with it. */
const users = new Map<string, number>()

/**
 * As `startOwnServer`, on the stack of this run. PostgreSQL with S3 is what many machines share, so there it is three
 * instances behind nginx.
 */
export async function startStackedServer(env: Record<string, string>, dataDir: string): Promise<OwnServer> {
  const servers = stackServers()
  const place = await openPlace(servers, dataDir)
  users.set(dataDir, (users.get(dataDir) ?? 0) + 1)
  const discardPlace = async () => {
    const left = (users.get(dataDir) ?? 0) - 1
    users.set(dataDir, left)
    if (left > 0) return
    await place.discard()
    await rm(dataDir, { recursive: true, force: true })
  }
  const settings = { ...place.env, ...env }
  try {
    if (servers.name === 'postgres+s3') {
      return ownFleet(await startFleet({ env: settings }), dataDir, discardPlace)
    }
    return ownProcess(await startLade({ LADE_PORT: '0', LADE_DATA_DIR: dataDir, ...settings }), dataDir, discardPlace)
  } catch (error) {
    await discardPlace()
    throw error
  }
}

function stackServers(): StackServers {
  const text = process.env[STACK_SERVERS]
  if (text === undefined) throw new TypeError(`${STACK_SERVERS} is not set: this project has no stack-setup.ts`)
  return JSON.parse(text) as StackServers
}

function ownProcess(lade: Lade, dataDir: string, discardPlace: () => Promise<void>): OwnServer {
  const stop = async () => (await lade.stop(STOP_TIMEOUT_MS)).code
  return {
    baseUrl: lade.url,
    directUrl: lade.url,
    instances: 1,
    dataDir,
    stop,
    async discard() {
      if (lade.isRunning) await stop()
      await discardPlace()
    },
  }
}

function ownFleet(fleet: Fleet, dataDir: string, discardPlace: () => Promise<void>): OwnServer {
  const [first] = fleet.instances
  if (first === undefined) throw new TypeError('a fleet without instances')
  return {
    baseUrl: fleet.url,
    directUrl: first.url,
    instances: fleet.instances.length,
    dataDir,
    /** The first code that is not 0, if there is one. */
    async stop() {
      const exits = await Promise.all(fleet.instances.map((instance) => instance.drain(STOP_TIMEOUT_MS)))
      return (exits.find(({ code }) => code !== 0) ?? { code: 0 }).code
    },
    async discard() {
      await fleet.discard()
      await discardPlace()
    },
  }
}
