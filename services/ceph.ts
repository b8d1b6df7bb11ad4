import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { startChild } from './child.ts'
import { freePort } from './free-port.ts'
import { openTempHome } from './temp-home.ts'

const SCRIPT = fileURLToPath(new URL('ceph.sh', import.meta.url))
/** The gateway's own port, and the two of the monitor behind it. */
const PORTS = 3
const START_TIMEOUT_MS = 100_000

/** The keys of its one user, which `ceph.sh` makes. */
const KEY = { accessKeyId: 'test', secretAccessKey: 'testing' }

/** The credentials of {@link Ceph}, as every S3 client takes them from the environment. */
export const CEPH_CREDENTIALS = { AWS_ACCESS_KEY_ID: KEY.accessKeyId, AWS_SECRET_ACCESS_KEY: KEY.secretAccessKey }

/** A real S3 server on loopback: a single-node Ceph with its RADOS gateway, which keeps everything in memory. */
export interface Ceph {
  readonly port: number
  readonly endpoint: URL
  /** Creates a bucket; one that exists is fine. */
  createBucket(name: string): Promise<void>
  /** Removes what is under a prefix, uploads under way as well, so that its memory is there for others. */
  empty(bucket: string, prefix: string): Promise<void>
  /** Starts one more gateway of the same objects, which ends with all of it. */
  startGateway(): Promise<Gateway>
  /** Ends all of it. */
  discard(): Promise<void>
}

/** A second way to the same objects. */
export interface Gateway {
  readonly port: number
  /** Stands still: what is sent to it waits, and is executed when it goes on. */
  pause(): void
  resume(): void
}

/**
 * Starts Ceph, which takes about twenty seconds, by `ceph.sh`.
 *
 * @param options.memoryBytes - how much it can keep. @default 2 GiB
 * @throws {Error} with what the script said, such as that a Debian package is missing.
 */
export async function startCeph(options: { readonly memoryBytes?: number } = {}): Promise<Ceph> {
  const home = openTempHome('ceph')
  const dir = join(home.path, 'ceph')
  const port = await freePort(PORTS)
  const endpoint = new URL(`http://127.0.0.1:${port}`)
  const { memoryBytes } = options
  const env = { ...process.env, ...(memoryBytes !== undefined && { CEPH_MEMORY_BYTES: String(memoryBytes) }) }
  const stopWithThisProcess = (): void => void execFileSync('bash', [SCRIPT, 'stop', dir])
  async function discard(): Promise<void> {
    await startChild('bash', [SCRIPT, 'stop', dir]).exited
    process.off('exit', stopWithThisProcess)
    home.discard()
  }
  process.prependOnceListener('exit', stopWithThisProcess)
  const script = startChild('bash', [SCRIPT, 'start', dir, String(port)], { env })
  const { code } = await script.exited
  if (code !== 0) {
    await discard()
    throw new Error(`ceph.sh ended with ${code}:\n${script.printed()}${script.errors()}`)
  }
  return {
    port,
    endpoint,
    createBucket: (name) => createBucket(endpoint, name),
    empty: (bucket, prefix) => empty(endpoint, bucket, prefix),
    async startGateway() {
      const gatewayPort = await freePort()
      const gateway = startChild('bash', [SCRIPT, 'gateway', dir, String(gatewayPort)], { env })
      const [, pid = ''] = await gateway.says(/^(\d+)$/m, START_TIMEOUT_MS)
      return {
        port: gatewayPort,
        pause: () => void process.kill(Number(pid), 'SIGSTOP'),
        resume: () => void process.kill(Number(pid), 'SIGCONT'),
      }
    },
    discard,
  }
}

/** Creates a bucket at `endpoint`, unless it is there. */
async function createBucket(endpoint: URL, name: string): Promise<void> {
  const client = s3Client(endpoint)
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }))
  } finally {
    client.destroy()
  }
}

async function empty(endpoint: URL, bucket: string, prefix: string): Promise<void> {
  const client = s3Client(endpoint)
  const of = { Bucket: bucket, Prefix: prefix }
  try {
    for (;;) {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(of))
      for (const { Key, UploadId } of Uploads)
        await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId }))
      if (Uploads.length === 0) break
    }
    for (;;) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command(of))
      if (Contents.length === 0) break
      const Objects = Contents.map(({ Key }) => ({ Key }))
      await client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }))
    }
  } finally {
    client.destroy()
  }
}

/** A client of {@link Ceph}. */
export function s3Client(endpoint: URL): S3Client {
  return new S3Client({
    endpoint: endpoint.href,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: KEY,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}
