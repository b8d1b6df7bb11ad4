import { fileURLToPath } from 'node:url'
import { importer } from 'ipfs-unixfs-importer'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { watchCores } from '../busy-cores.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { bigBodyBlocks } from '../stamped-body.ts'
import { warmMemory } from '../warm-memory.ts'
import { type BigBody, bigBody, uploadBigBody } from './upload.ts'

const MIB = 1024 * 1024
const WARM_UP_BYTES = 64 * MIB
const WITHOUT_PIECES = fileURLToPath(new URL('../servers/lade-without-pieces.ts', import.meta.url))

/**
 * What the ids of a big upload cost: under its raw id with the piece commitment and without, and the same under its UnixFS
 * id. All ratios are to the raw id without the piece; wanted times 1.35, 1.3 and 1.7 are the rates 0.74, 0.77 and 0.59.
 */
export async function measureUploadIds(run: BenchRun): Promise<Row[]> {
  const { sizeBytes, rounds } = run.options
  const warmUp = bigBody(1, WARM_UP_BYTES)
  const raw = bigBody(3, sizeBytes)
  const unixfs = { ...raw, cid: await unixfsCid(raw) }

  const variant = (name: string, body: BigBody, ladeScript?: string): Variant => ({
    name,
    takeSample: () =>
      withScratchDir(run, 'upload', async (dir): Promise<Sample> => {
        const server = await startLade(run, dir, ladeScript)
        try {
          const token = await signUp(server)
          await uploadBigBody(run, server, warmUp, token)
          await warmMemory(run, sizeBytes)
          const { load, busyCores } = await watchCores(server.pid, () => uploadBigBody(run, server, body, token))
          return { value: sizeBytes / MIB / load.seconds, peakMemoryBytes: readPeakMemoryBytes(server.pid), busyCores }
        } finally {
          await server.stop()
        }
      }),
  })
  const [bare, piece, file, both] = await takeRounds(
    [
      variant('raw id, no piece', raw, WITHOUT_PIECES),
      variant('raw id, with its piece', raw),
      variant('UnixFS id, no piece', unixfs, WITHOUT_PIECES),
      variant('UnixFS id, with its piece', unixfs),
    ],
    rounds,
    run.progress,
  )
  if (bare === undefined || piece === undefined || file === undefined || both === undefined) {
    throw new TypeError('a variant was not sampled')
  }
  const row = (what: string, targetRatio: number, lade: typeof piece): Row => {
    return {
      what: `upload, ${sizeBytes / MIB} MiB, ${what}`,
      unit: 'MiB/s',
      targetRatio,
      lade,
      baselines: [bare],
      others: [],
    }
  }
  return [
    row('with its piece', 0.83, piece),
    row('under a UnixFS id', 0.8, file),
    row('under a UnixFS id, with its piece', 0.67, both),
  ]
}

/** The root of a big body under `unixfs-v1-2025`, by the importer of the network; takes about a second a GiB. */
async function unixfsCid({ seed, sizeBytes }: BigBody): Promise<string> {
  const nowhere = { put: async (cid: unknown) => cid }
  // The importer asks for more before it has hashed what it has.
  const source = [{ content: copied(bigBodyBlocks(seed, sizeBytes)) }]
  // @ts-expect-error the importer asks a store only to put
  for await (const { cid } of importer(source, nowhere, { profile: 'unixfs-v1-2025' })) return cid.toString()
  throw new TypeError('the importer gave no root')
}

function* copied(blocks: Iterable<Buffer>): Generator<Buffer> {
  for (const block of blocks) yield Buffer.from(block)
}
