import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { watchCores } from '../busy-cores.ts'
import type { TusUploadInput } from '../load/tus-upload.ts'
import type { UploadResult } from '../load/upload.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import type { RunningServer } from '../running-processes.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { portOf, signUp, startLade } from '../servers/lade.ts'
import { warmMemory } from '../warm-memory.ts'
import { type BigBody, bigBody, uploadBigBody } from './upload.ts'

const MIB = 1024 * 1024
const WARM_UP_BYTES = 64 * MIB
const SHORT_REQUEST_BYTES = 16 * MIB
const TIMEOUT_MS = 600_000

type Send = (server: RunningServer, token: string, body: BigBody) => Promise<UploadResult>

/** One big upload over one connection by tus, in one request and in requests of 16 MiB, against the upload in one request. */
export async function measureTusUpload(run: BenchRun): Promise<Row[]> {
  const { sizeBytes, rounds } = run.options
  const warmUp = bigBody(1, WARM_UP_BYTES)
  const body = bigBody(4, sizeBytes)
  const byTus =
    (requestBytes: number): Send =>
    (server, token, { seed, sizeBytes, sha256 }) => {
      const input: TusUploadInput = { port: portOf(server), token, seed, sizeBytes, sha256, requestBytes }
      return run.processes.runScript(new URL('../load/tus-upload.ts', import.meta.url), input, TIMEOUT_MS)
    }
  const variant = (name: string, send: Send): Variant => ({
    name,
    takeSample: () =>
      withScratchDir(run, 'tus', async (dir): Promise<Sample> => {
        const server = await startLade(run, dir)
        try {
          const token = await signUp(server)
          await send(server, token, warmUp)
          await warmMemory(run, sizeBytes)
          const { load, busyCores } = await watchCores(server.pid, () => send(server, token, body))
          return { value: sizeBytes / MIB / load.seconds, peakMemoryBytes: readPeakMemoryBytes(server.pid), busyCores }
        } finally {
          await server.stop()
        }
      }),
  })
  const [door, whole, short] = await takeRounds(
    [
      variant('upload door', (server, token, one) => uploadBigBody(run, server, one, token)),
      variant('tus, one request', byTus(sizeBytes)),
      variant('tus, requests of 16 MiB', byTus(SHORT_REQUEST_BYTES)),
    ],
    rounds,
    run.progress,
  )
  if (door === undefined || whole === undefined || short === undefined) throw new TypeError('a variant was not sampled')
  const row = (what: string, lade: typeof whole): Row => ({
    what: `tus, ${sizeBytes / MIB} MiB, ${what}`,
    unit: 'MiB/s',
    targetRatio: 0.8,
    lade,
    baselines: [door],
    others: [],
  })
  return [row('one request', whole), row('requests of 16 MiB', short)]
}
