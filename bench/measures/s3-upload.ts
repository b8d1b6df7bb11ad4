import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Ceph, startCeph } from '../../services/ceph.ts'
import { BUCKET, s3Settings } from '../../services/stack.ts'
import type { S3MultipartInput, S3MultipartResult } from '../bare/s3-multipart.ts'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { watchCores } from '../busy-cores.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import type { RunningServer } from '../running-processes.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { sampleLoad } from './sample-load.ts'
import { sendSmallUploads } from './send-small-uploads.ts'
import { bigBody, uploadBigBody } from './upload.ts'

const MIB = 1024 * 1024
const WARM_UP_BYTES = 64 * MIB
const FILES = 500
const FILES_AT_ONCE = 16
const FILE_BYTES = MIB
/** As the service cuts them. */
const PART_BYTES = 8 * MIB
const MOST_SECONDS = 120
const TIMEOUT_MS = 600_000
const BARE = new URL('../bare/s3-multipart.ts', import.meta.url)
const PROGRAMS = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'ceph']

type RowFacts = Pick<Row, 'what' | 'unit' | 'targetRatio'>

/**
 * Uploads to a service whose bytes are in a bucket, against the SDK's own requests to the same bucket: one big body, and files of 1 MiB.
 * One Ceph serves all samples. No row where it is not installed.
 */
export async function measureS3Upload(run: BenchRun): Promise<Row[]> {
  const missing = PROGRAMS.filter((program) => !isInstalled(program))
  if (missing.length > 0) {
    run.progress(`s3-upload is left out: Ceph is not installed (${missing.join(', ')} missing).`)
    return []
  }
  const { sizeBytes } = run.options
  const ceph = await startCeph({ memoryBytes: 4 * sizeBytes + 2048 * MIB })
  try {
    await ceph.createBucket(BUCKET)
    return [
      await rowOf(run, { what: `S3, upload, ${sizeBytes / MIB} MiB`, unit: 'MiB/s', targetRatio: 0.95 }, [
        ladeVariant(run, ceph, (server, token) => sampleBig(run, server, token)),
        bareVariant(run, ceph, { bodies: 1, bodiesAtOnce: 1, sizeBytes }, sizeBytes / MIB),
      ]),
      await rowOf(
        run,
        { what: `S3, ${FILES} uploads of 1 MiB, ${FILES_AT_ONCE} at a time`, unit: '/s', targetRatio: 0.8 },
        [
          ladeVariant(run, ceph, (server, token) => sampleFiles(run, server, token)),
          bareVariant(run, ceph, { bodies: FILES, bodiesAtOnce: FILES_AT_ONCE, sizeBytes: FILE_BYTES }, 1),
        ],
      ),
    ]
  } finally {
    await ceph.discard()
  }
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

async function rowOf(run: BenchRun, { what, unit, targetRatio }: RowFacts, variants: Variant[]): Promise<Row> {
  const [lade, ...baselines] = await takeRounds(variants, run.options.rounds, run.progress)
  if (lade === undefined) throw new TypeError('Lade was not sampled')
  return { what, unit, targetRatio, lade, baselines, others: [] }
}

/** Every sample has a process, records and a prefix of its own, and a warm-up. */
function ladeVariant(
  run: BenchRun,
  ceph: Ceph,
  takeSample: (server: RunningServer, token: string) => Promise<Sample>,
): Variant {
  return {
    name: 'Lade',
    takeSample: (round) =>
      withScratchDir(run, 's3-upload', async (dir) => {
        const prefix = `lade-${round}`
        const server = await startLade(run, dir, undefined, s3Settings(ceph.port, prefix))
        try {
          const token = await signUp(server)
          await uploadBigBody(run, server, bigBody(1, WARM_UP_BYTES), token)
          return await takeSample(server, token)
        } finally {
          await server.stop()
          await ceph.empty(BUCKET, `${prefix}/`)
        }
      }),
  }
}

async function sampleBig(run: BenchRun, server: RunningServer, token: string): Promise<Sample> {
  const { sizeBytes } = run.options
  const body = bigBody(2, sizeBytes)
  const { load, busyCores } = await watchCores(server.pid, () => uploadBigBody(run, server, body, token))
  return { value: sizeBytes / MIB / load.seconds, peakMemoryBytes: readPeakMemoryBytes(server.pid), busyCores }
}

async function sampleFiles(run: BenchRun, server: RunningServer, token: string): Promise<Sample> {
  const upload = (seed: number, maxBodies: number) =>
    sendSmallUploads(run, server, {
      tokens: [token],
      connections: FILES_AT_ONCE,
      seconds: MOST_SECONDS,
      sizeBytes: FILE_BYTES,
      seed,
      maxBodies,
    })
  await upload(3, FILES_AT_ONCE * 2)
  return (await sampleLoad(server, () => upload(4, FILES))).sample
}

/** @param valueOfBody - in the unit of the row. */
function bareVariant(
  run: BenchRun,
  ceph: Ceph,
  load: Pick<S3MultipartInput, 'bodies' | 'bodiesAtOnce' | 'sizeBytes'>,
  valueOfBody: number,
): Variant {
  return {
    name: 'the SDK, 4 parts in parallel',
    async takeSample(round) {
      const prefix = `bare-${round}/`
      const input: S3MultipartInput = {
        ...load,
        endpoint: ceph.endpoint.href,
        bucket: BUCKET,
        prefix,
        seed: 5,
        partBytes: PART_BYTES,
        warmUpBytes: WARM_UP_BYTES,
      }
      try {
        const result: S3MultipartResult = await run.processes.runScript(BARE, input, TIMEOUT_MS)
        return { value: (result.completed * valueOfBody) / result.seconds, latencyMs: result.latencyMs }
      } finally {
        await ceph.empty(BUCKET, prefix)
      }
    },
  }
}
