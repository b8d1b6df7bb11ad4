import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import type { S3BlobStoreOptions } from './s3-blob-store.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('../../../../../../services/ceph.sh', import.meta.url))

/** A Ceph of one node, with a bucket. */
export interface Ceph {
  /** What a store on its bucket is opened with, but for the prefix. */
  readonly options: Omit<S3BlobStoreOptions, 'prefix'>
  stop(): Promise<void>
}

/** Starts Ceph in a temporary folder; that takes a third of a minute. */
export async function startCeph(): Promise<Ceph> {
  const folder = await mkdtemp(join(tmpdir(), 'lade-ceph-'))
  const port = await threeFreePorts()
  const stop = async () => {
    await run(SCRIPT, ['stop', folder])
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await run(SCRIPT, ['start', folder, String(port)])
    const options = {
      bucket: 'lade',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'testing' },
    }
    const client = new S3Client({ ...options, forcePathStyle: true })
    await client.send(new CreateBucketCommand({ Bucket: options.bucket }))
    client.destroy()
    return { options, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The first of three ports in a row that nobody listens on. */
async function threeFreePorts(): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const isFree = await Promise.all([first, first + 1, first + 2].map(isPortFree))
    if (isFree.every(Boolean)) return first
  }
}

async function isPortFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
