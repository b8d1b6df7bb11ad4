import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { watchCores } from '../busy-cores.ts'
import type { UploadInput, UploadResult } from '../load/upload.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import { nodeScript, type RunningServer } from '../running-processes.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { portOf, signUp, startLade } from '../servers/lade.ts'
import { bigBodySha256 } from '../stamped-body.ts'
import { warmMemory } from '../warm-memory.ts'

const MIB = 1024 * 1024
const WARM_UP_BYTES = 64 * MIB
const TIMEOUT_MS = 600_000
const BARE_SCRIPTS = {
  'bare loop, main thread': new URL('../bare/receive-main-thread.ts', import.meta.url),
  'bare loop, worker thread': new URL('../bare/receive-worker-thread.ts', import.meta.url),
}

/** A big body that load processes can make from its seed, and its content id. */
export interface BigBody {
  seed: number
  sizeBytes: number
  sha256: string
  /** The id that it is uploaded under. @default its sha256 */
  cid?: string
}

/** Names a big body; takes about as long as hashing it. */
export function bigBody(seed: number, sizeBytes: number): BigBody {
  return { seed, sizeBytes, sha256: bigBodySha256(seed, sizeBytes) }
}

/** Uploads `body` over one connection; what the load process measured. */
export function uploadBigBody(
  run: BenchRun,
  server: RunningServer,
  body: BigBody,
  token?: string,
): Promise<UploadResult> {
  const input: UploadInput = {
    port: portOf(server),
    path: `/api/upload?cid=${body.cid ?? body.sha256}`,
    ...(token === undefined ? {} : { token }),
    ...body,
  }
  return run.processes.runScript(new URL('../load/upload.ts', import.meta.url), input, TIMEOUT_MS)
}

/**
 * One big upload over one connection: Lade against the shortest loop that receives, hashes, writes and flushes.
 * Every sample has a server process and a folder of its own, and a small upload before the timed one.
 */
export async function measureUpload(run: BenchRun): Promise<Row[]> {
  const { sizeBytes, rounds } = run.options
  const warmUp = bigBody(1, WARM_UP_BYTES)
  const body = bigBody(2, sizeBytes)

  const takeSample = async (server: RunningServer, token?: string): Promise<Sample> => {
    try {
      await uploadBigBody(run, server, warmUp, token)
      await warmMemory(run, sizeBytes)
      const { load, busyCores } = await watchCores(server.pid, () => uploadBigBody(run, server, body, token))
      const peakMemoryBytes = readPeakMemoryBytes(server.pid)
      return { value: sizeBytes / MIB / load.seconds, peakMemoryBytes, busyCores }
    } finally {
      await server.stop()
    }
  }
  const lade: Variant = {
    name: 'Lade',
    takeSample: () =>
      withScratchDir(run, 'upload', async (dir) => {
        const server = await startLade(run, dir)
        return takeSample(server, await signUp(server))
      }),
  }
  const baselines = Object.entries(BARE_SCRIPTS).map(
    ([name, script]): Variant => ({
      name,
      takeSample: () =>
        withScratchDir(run, 'upload', async (dir) =>
          takeSample(await run.processes.startServer(nodeScript(script, { dir }))),
        ),
    }),
  )
  const [sampledLade, ...sampledBaselines] = await takeRounds([lade, ...baselines], rounds, run.progress)
  if (sampledLade === undefined) throw new TypeError('Lade was not sampled')
  return [
    {
      what: `upload, ${sizeBytes / MIB} MiB, 1 connection`,
      unit: 'MiB/s',
      targetRatio: 0.85,
      lade: sampledLade,
      baselines: sampledBaselines,
      others: [],
    },
  ]
}
