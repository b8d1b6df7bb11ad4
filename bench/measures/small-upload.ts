import { createHash } from 'node:crypto'
import type { FilePerObjectInput, FilePerObjectResult } from '../bare/file-per-object.ts'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import { nodeScript, type RunningServer } from '../running-processes.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { warmMemory } from '../warm-memory.ts'
import { sampleLoad } from './sample-load.ts'
import { sendSmallUploads } from './send-small-uploads.ts'

const CONNECTIONS = 32
const SIZE_BYTES = 4096
const WARM_UP_SECONDS = 1
/** About what a fast sample writes. */
const WARMED_BYTES = 512 * 1024 * 1024
const TIMEOUT_MS = 180_000
const BARE = new URL('../bare/file-per-object.ts', import.meta.url)
const BARE_HTTP = new URL('../bare/file-per-object-http.ts', import.meta.url)

/**
 * Small durable uploads per second: Lade, with HTTP, hashing, quota and metadata, against a loop that only stores a
 * file each. Every sample has a server process and a folder of its own, and a second of warm-up.
 */
export async function measureSmallUpload(run: BenchRun): Promise<Row[]> {
  const { rounds } = run.options
  const lade: Variant = {
    name: 'Lade',
    takeSample: () =>
      withScratchDir(run, 'small-upload', async (dir) => {
        const server = await startLade(run, dir)
        try {
          return await sampleServer(run, server, await signUp(server))
        } finally {
          await server.stop()
        }
      }),
  }
  const bareHttp: Variant = {
    name: 'file per object behind node:http (for information)',
    takeSample: () =>
      withScratchDir(run, 'small-upload', async (dir) => {
        const server = await run.processes.startServer(nodeScript(BARE_HTTP, { dir }))
        try {
          return await sampleServer(run, server)
        } finally {
          await server.stop()
        }
      }),
  }
  const variants = [lade, bareVariant(run, undefined), bareVariant(run, 16), bareHttp]
  const [sampledLade, ...others] = await takeRounds(variants, rounds, run.progress)
  if (sampledLade === undefined) throw new TypeError('Lade was not sampled')
  return [
    {
      what: `durable uploads, 4 KiB, ${CONNECTIONS} connections`,
      unit: '/s',
      targetRatio: 5,
      lade: sampledLade,
      baselines: others.slice(0, 2),
      others: others.slice(2),
    },
  ]
}

async function sampleServer(run: BenchRun, server: RunningServer, token?: string): Promise<Sample> {
  const tokens = token === undefined ? [] : [token]
  const upload = (seed: number, seconds: number) =>
    sendSmallUploads(run, server, { tokens, connections: CONNECTIONS, seconds, sizeBytes: SIZE_BYTES, seed })
  await upload(1, WARM_UP_SECONDS)
  await warmMemory(run, WARMED_BYTES)
  const { load, sample } = await sampleLoad(server, () => upload(2, run.options.seconds))
  if (token !== undefined) for (const cid of load.sentCids) await checkStored(server, cid)
  return sample
}

/** A server that answers 200 and stores nothing would win: look. */
async function checkStored(server: RunningServer, cid: string): Promise<void> {
  const response = await fetch(`${server.url}/p/${cid}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== cid) throw new Error(`after a 200 for ${cid}, /p/ answers ${response.status} with sha256 ${sha256}`)
}

function bareVariant(run: BenchRun, poolSize: number | undefined): Variant {
  const env = { ...process.env }
  if (poolSize === undefined) delete env.UV_THREADPOOL_SIZE
  else env.UV_THREADPOOL_SIZE = String(poolSize)
  return {
    name: `file per object, thread pool ${poolSize ?? 'default'}`,
    takeSample: () =>
      withScratchDir(run, 'small-upload', async (dir) => {
        const input: FilePerObjectInput = {
          dir,
          concurrency: CONNECTIONS,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds: run.options.seconds,
          sizeBytes: SIZE_BYTES,
        }
        await warmMemory(run, WARMED_BYTES)
        const result: FilePerObjectResult = await run.processes.runScript(BARE, input, TIMEOUT_MS, env)
        const { completed, seconds, latencyMs, peakMemoryBytes } = result
        return { value: completed / seconds, latencyMs, peakMemoryBytes }
      }),
  }
}
