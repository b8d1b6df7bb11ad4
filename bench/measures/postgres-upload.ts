import { type Postgres, startPostgres } from '../../services/postgres.ts'
import type { InsertRowsInput, InsertRowsResult } from '../bare/insert-rows.ts'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { sampleLoad } from './sample-load.ts'
import { sendSmallUploads } from './send-small-uploads.ts'

const CONNECTIONS = 32
const PRINCIPALS = 16
const SIZE_BYTES = 4096
const WARM_UP_SECONDS = 2
const TIMEOUT_MS = 180_000
const BARE = new URL('../bare/insert-rows.ts', import.meta.url)

/**
 * Small durable uploads per second of several principals, whose records and bytes are in PostgreSQL, against a loop that inserts a row for
 * each over as many connections. One server serves all samples; each has a database of its own.
 */
export async function measurePostgresUpload(run: BenchRun): Promise<Row[]> {
  const postgres = await startPostgres({ settings: { shared_buffers: '256MB', max_wal_size: '2GB' } })
  try {
    const variants = [ladeVariant(run, postgres), bareVariant(run, postgres)]
    const [sampledLade, ...baselines] = await takeRounds(variants, run.options.rounds, run.progress)
    if (sampledLade === undefined) throw new TypeError('Lade was not sampled')
    return [
      {
        what: `durable uploads, 4 KiB, PostgreSQL, ${PRINCIPALS} principals`,
        unit: '/s',
        targetRatio: undefined,
        lade: sampledLade,
        baselines,
        others: [],
      },
    ]
  } finally {
    await postgres.discard()
  }
}

function ladeVariant(run: BenchRun, postgres: Postgres): Variant {
  return {
    name: 'Lade',
    takeSample: (round) =>
      withDatabase(postgres, `lade_${round}`, (url) =>
        withScratchDir(run, 'postgres-upload', async (dir) => {
          const server = await startLade(run, dir, undefined, { LADE_DATABASE: url })
          try {
            const names = Array.from({ length: PRINCIPALS }, (_, index) => `bench-${index}`)
            const tokens = await Promise.all(names.map((name) => signUp(server, name)))
            const upload = (seed: number, seconds: number) =>
              sendSmallUploads(run, server, { tokens, connections: CONNECTIONS, seconds, sizeBytes: SIZE_BYTES, seed })
            await upload(1, WARM_UP_SECONDS)
            return (await sampleLoad(server, () => upload(2, run.options.seconds))).sample
          } finally {
            await server.stop()
          }
        }),
      ),
  }
}

function bareVariant(run: BenchRun, postgres: Postgres): Variant {
  return {
    name: `a row in a transaction for each, ${CONNECTIONS} connections`,
    takeSample: (round) =>
      withDatabase(postgres, `bare_${round}`, async (url) => {
        const input: InsertRowsInput = {
          url,
          connections: CONNECTIONS,
          warmUpSeconds: WARM_UP_SECONDS,
          seconds: run.options.seconds,
          sizeBytes: SIZE_BYTES,
        }
        const result: InsertRowsResult = await run.processes.runScript(BARE, input, TIMEOUT_MS)
        return { value: result.completed / result.seconds, latencyMs: result.latencyMs }
      }),
  }
}

async function withDatabase(postgres: Postgres, name: string, use: (url: string) => Promise<Sample>): Promise<Sample> {
  const url = await postgres.createDatabase(name)
  try {
    return await use(url)
  } finally {
    await postgres.dropDatabase(name)
  }
}
