import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type Ceph, startCeph } from '../../services/ceph.ts'
import { type CommitRelay, startCommitRelay } from '../../services/commit-relay.ts'
import { type Fleet, startFleet } from '../../services/fleet.ts'
import { type Postgres, postgresAt, startPostgres } from '../../services/postgres.ts'
import { BUCKET, s3Settings } from '../../services/stack.ts'
import { startTcpRelay, type TcpRelay } from '../../services/tcp-relay.ts'
import type { StoredData } from '../data-directory.ts'
import { BOUNDLESS_QUOTAS } from '../load.ts'
import { BASE_ENV } from '../server-process.ts'
import { readStoredData } from './stored-data.ts'

const INSTANCES = 3
const START_TIMEOUT_MS = 180_000
/** What a plan may write: all of it is in the memory of Ceph. */
const CEPH_BYTES = 6 * 1024 ** 3

/** What all fleets of a file stand on: a PostgreSQL that waits for the disk, and Ceph. */
export interface Servers {
  readonly postgres: Postgres
  readonly ceph: Ceph
}

/** Three instances on PostgreSQL and S3 behind nginx, with a relay on the way to either of the two. */
export interface FleetHarness extends Servers {
  readonly fleet: Fleet
  readonly commits: CommitRelay
  readonly s3: TcpRelay
  /** What the records and the bucket hold, read past the service and the relays. */
  read(): Promise<StoredData>
  /** What the instances and nginx logged: the end of it, for a story. */
  log(): string
}

/** Servers that start before the tests of a file and end after them. */
export function useServers(): () => Servers {
  let servers: Servers | undefined
  beforeAll(async () => {
    const postgres = await startPostgres()
    servers = { postgres, ceph: await startCeph({ memoryBytes: CEPH_BYTES }) }
    await servers.ceph.createBucket(BUCKET)
  }, START_TIMEOUT_MS)
  afterAll(async () => {
    await servers?.ceph.discard()
    await servers?.postgres.discard()
  }, START_TIMEOUT_MS)
  return () => {
    if (servers === undefined) throw new TypeError('the servers have not started')
    return servers
  }
}

/** Starts a fleet with nothing in it, which ends with the running test. @param env - settings besides those of every fault test. */
export async function startHarness(
  { postgres, ceph }: Servers,
  env: Record<string, string> = {},
): Promise<FleetHarness> {
  const name = `fleet-${randomBytes(4).toString('hex')}`
  // Tests end in reverse: this comes after the instances.
  onTestFinished(() => ceph.empty(BUCKET, name))
  const database = await postgres.createDatabase(name)
  const commits = await startCommitRelay(postgres.port)
  onTestFinished(() => commits.discard())
  const s3 = await startTcpRelay(ceph.port)
  onTestFinished(() => s3.discard())
  const fleet = await startFleet({
    size: INSTANCES,
    env: {
      ...BASE_ENV,
      ...BOUNDLESS_QUOTAS,
      LADE_DATABASE: postgresAt(commits.port).url(name),
      ...s3Settings(s3.port, name),
      ...env,
    },
  })
  onTestFinished(() => fleet.discard())
  await fleet.ready()
  return {
    postgres,
    ceph,
    fleet,
    commits,
    s3,
    read: () => readStoredData({ database, endpoint: ceph.endpoint, bucket: BUCKET, prefix: name }),
    log: () => `${fleet.log()}\n${fleet.nginx.log()}`.slice(-20_000),
  }
}
