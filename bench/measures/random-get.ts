import { mkdir, writeFile } from 'node:fs/promises'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import type { RunningServer } from '../running-processes.ts'
import type { Row, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { smallBodyCids } from '../stamped-body.ts'
import { sampleLoad } from './sample-load.ts'
import { sendSmallUploads } from './send-small-uploads.ts'
import { CONNECTIONS, loadByWrk } from './small-get.ts'

const OBJECTS = 100_000
const FEW = 1000
const SIZE_BYTES = 4096
const SEED = 6
const WARM_UP_SECONDS = 1
const UPLOADS_AT_ONCE = 32
const FILL_SECONDS = 300

/**
 * Small GETs per second of 100,000 objects, more than Lade keeps in its memory, against the same of 1000 of them. Each object comes once before
 * it comes again, in an order without meaning. Needs wrk.
 */
export function measureRandomGet(run: BenchRun): Promise<Row[]> {
  if (run.machine.wrk === undefined) throw new TypeError('wrk is not installed')
  return withScratchDir(run, 'random-get', async (dir) => {
    const server = await startFilled(run, `${dir}/data`)
    try {
      // A digest is random: their order is one without meaning.
      const paths = smallBodyCids(SEED, SIZE_BYTES, OBJECTS)
        .toSorted()
        .map((cid) => `/p/${cid}`)
      const variants = [
        await variantOf(run, server, { name: 'Lade', paths, file: `${dir}/all` }),
        await variantOf(run, server, {
          name: `Lade, ${FEW} of them in turn`,
          paths: paths.slice(0, FEW),
          file: `${dir}/few`,
        }),
      ]
      const [all, few] = await takeRounds(variants, run.options.rounds, run.progress)
      if (all === undefined || few === undefined) throw new TypeError('a variant was not sampled')
      const what = `GETs, 4 KiB, ${OBJECTS} objects, ${CONNECTIONS} connections`
      return [{ what, unit: '/s', targetRatio: 0.5, lade: all, baselines: [few], others: [] }]
    } finally {
      await server.stop()
    }
  })
}

interface Paths {
  readonly name: string
  readonly paths: readonly string[]
  /** Where they are written for wrk. */
  readonly file: string
}

async function variantOf(run: BenchRun, server: RunningServer, { name, paths, file }: Paths): Promise<Variant> {
  await writeFile(file, `${paths.join('\n')}\n`)
  const load = (seconds: number) => loadByWrk(run, server, paths, file, seconds)
  return {
    name,
    async takeSample() {
      await load(WARM_UP_SECONDS)
      return (await sampleLoad(server, () => load(run.options.seconds))).sample
    },
  }
}

/** A service with all objects, started anew. */
async function startFilled(run: BenchRun, dataDir: string): Promise<RunningServer> {
  await mkdir(dataDir)
  const receiving = await startLade(run, dataDir)
  try {
    const { completed } = await sendSmallUploads(run, receiving, {
      tokens: [await signUp(receiving)],
      connections: UPLOADS_AT_ONCE,
      seconds: FILL_SECONDS,
      sizeBytes: SIZE_BYTES,
      seed: SEED,
      maxBodies: OBJECTS,
    })
    if (completed !== OBJECTS) throw new Error(`${completed} of ${OBJECTS} objects were uploaded`)
  } finally {
    await receiving.stop()
  }
  return startLade(run, dataDir)
}
