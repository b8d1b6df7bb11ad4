import { basename } from 'node:path'
import { CEPH_CREDENTIALS, startCeph } from './ceph.ts'
import { postgresAt, startPostgres } from './postgres.ts'

/** What a service may keep its records and its bytes in. */
export const STACKS = ['sqlite+disk', 'sqlite+s3', 'postgres+disk', 'postgres+s3'] as const
export type StackName = (typeof STACKS)[number]

/** The servers of a stack, as they are handed to the processes of a test run. */
export interface StackServers {
  readonly name: StackName
  readonly postgresPort?: number
  readonly s3Port?: number
}

/** Where one service keeps what it has. */
export interface Place {
  /** The settings that lead there. */
  readonly env: Readonly<Record<string, string>>
  /** Removes what is worth removing before the servers of the stack end. */
  discard(): Promise<void>
}

/** The one bucket of a stack; each place has a prefix of its own in it. */
export const BUCKET = 'lade'

/** @throws {TypeError} when `name` is none of {@link STACKS}. */
export function readStackName(name: string): StackName {
  const found = STACKS.find((stack) => stack === name)
  if (found === undefined) throw new TypeError(`LADE_TEST_STACK is one of ${STACKS.join(', ')}, not ${name}`)
  return found
}

/**
 * Starts the servers that a stack needs: PostgreSQL, which does not wait for the disk unless `durable` says so, and Ceph.
 *
 * @throws {Error} with what a server said that did not start; the other one is ended then.
 */
export async function startStack(
  name: StackName,
  options: { readonly durable?: boolean } = {},
): Promise<StackServers & { discard(): Promise<void> }> {
  const [database, storage] = name.split('+')
  const postgres = database === 'postgres' ? await startPostgres({ fsync: options.durable === true }) : undefined
  try {
    const ceph = storage === 's3' ? await startCeph() : undefined
    await ceph?.createBucket(BUCKET)
    return {
      name,
      ...(postgres !== undefined && { postgresPort: postgres.port }),
      ...(ceph !== undefined && { s3Port: ceph.port }),
      async discard() {
        await ceph?.discard()
        await postgres?.discard()
      },
    }
  } catch (error) {
    await postgres?.discard()
    throw error
  }
}

/**
 * The place of the service whose data directory is `dataDir`: that directory, or a database, or a prefix of its name. The
 * same directory leads to the same place again.
 */
export async function openPlace(servers: StackServers, dataDir: string): Promise<Place> {
  const { postgresPort, s3Port } = servers
  const name = basename(dataDir)
  const postgres = postgresPort === undefined ? undefined : postgresAt(postgresPort)
  return {
    env: {
      ...(postgres !== undefined && { LADE_DATABASE: await postgres.createDatabase(name) }),
      ...(s3Port !== undefined && s3Settings(s3Port, name)),
    },
    discard: async () => postgres?.dropDatabase(name),
  }
}

/** The settings for a prefix of the bucket at `port` of loopback, with the credentials that open it. */
export function s3Settings(port: number, prefix: string): Record<string, string> {
  const endpoint = encodeURIComponent(`http://127.0.0.1:${port}`)
  return {
    LADE_STORAGE: `s3://${BUCKET}/${prefix}?endpoint=${endpoint}&region=us-east-1&path-style=true`,
    ...CEPH_CREDENTIALS,
  }
}
