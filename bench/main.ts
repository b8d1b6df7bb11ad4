/**
 * `npm run bench`: measures Lade against the limits of this machine, in one run, as ratios.
 *
 * Ends with 0 whether or not the targets are reached, since the machine may be noisy; with 1 when something could not
 * be measured, or with `--check` a ratio is far below the baseline. Processes and temporary folders do not outlive it.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compare, keepBaseline, readBaseline } from './baseline.ts'
import type { BenchRun } from './bench-run.ts'
import { measureDownload } from './measures/download.ts'
import { measurePiece } from './measures/piece.ts'
import { measurePostgresUpload } from './measures/postgres-upload.ts'
import { measurePut } from './measures/put.ts'
import { measurePutFolder } from './measures/put-folder.ts'
import { measureRandomGet } from './measures/random-get.ts'
import { measureS3Upload } from './measures/s3-upload.ts'
import { measureSmallGet } from './measures/small-get.ts'
import { measureSmallUpload } from './measures/small-upload.ts'
import { measureTusUpload } from './measures/tus-upload.ts'
import { measureUpload } from './measures/upload.ts'
import { measureUploadIds } from './measures/upload-ids.ts'
import { openRun } from './open-run.ts'
import { type BenchOptions, HELP, type MeasurementName, parseOptions } from './options.ts'
import { readOptions } from './read-options.ts'
import { renderReport } from './report.ts'
import type { Row } from './sample.ts'
import { judge } from './verdict.ts'

const MEASUREMENTS: Readonly<Record<MeasurementName, (run: BenchRun) => Promise<Row[]>>> = {
  upload: measureUpload,
  'upload-ids': measureUploadIds,
  'tus-upload': measureTusUpload,
  'small-upload': measureSmallUpload,
  'postgres-upload': measurePostgresUpload,
  's3-upload': measureS3Upload,
  download: measureDownload,
  'small-get': measureSmallGet,
  'random-get': measureRandomGet,
  put: measurePut,
  'put-folder': measurePutFolder,
  piece: measurePiece,
}

async function bench(options: BenchOptions): Promise<void> {
  const startedAt = new Date()
  const run = openRun(options)
  const rows: Row[] = []
  const failures: { measurement: string; error: string }[] = []
  for (const name of options.only) {
    run.progress(`${name} …`)
    try {
      rows.push(...(await MEASUREMENTS[name](run)))
    } catch (error) {
      // The other measurements are still worth having; the exit code and the result file tell of this one.
      failures.push({ measurement: name, error: String(error) })
      run.progress(`${name} could not be measured: ${error instanceof Error ? error.stack : error}`)
      process.exitCode = 1
    }
  }
  if (rows.length > 0) console.log(`\n${renderReport(rows, run.machine)}`)
  for (const { measurement, error } of failures) console.log(`\nNot measured: ${measurement}. ${error}`)
  if (options.leastShare !== undefined) check(rows, options.leastShare)
  if (options.keepsBaseline) keepBaseline(rows, readBaseline())
  const results = rows.map((row) => {
    const verdict = judge(row)
    return { ...row, verdict: { ...verdict, baseline: verdict.baseline.name } }
  })
  const { ladeScript, ladeEnv, only, rounds, sizeBytes, seconds } = options
  const settings = { ladeScript, ladeEnvNames: Object.keys(ladeEnv), only, rounds, sizeBytes, seconds }
  await keepResults(startedAt, { startedAt, endedAt: new Date(), machine: run.machine, settings, failures, results })
}

/** Says which rows are slower than the baseline allows, and has the process fail then. */
function check(rows: readonly Row[], leastShare: number): void {
  const { slower, unknown } = compare(rows, readBaseline(), leastShare)
  for (const what of unknown) console.log(`\nNot compared, since baseline.json does not have it: ${what}`)
  for (const { what, ratio, least } of slower) {
    console.log(
      `\nSlower than before: ${what}. The ratio is ${ratio.toFixed(2)}; at least ${least.toFixed(2)} was expected.`,
    )
  }
  if (slower.length > 0) process.exitCode = 1
}

async function keepResults(startedAt: Date, content: object): Promise<void> {
  const dir = new URL('results/', import.meta.url)
  await mkdir(dir, { recursive: true })
  const file = new URL(`${startedAt.toISOString().replaceAll(':', '-')}.json`, dir)
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
  console.log(`\nAll samples: ${fileURLToPath(file)}`)
}

// Debian keeps nginx in a folder that is not on every user's path.
process.env.PATH = `${process.env.PATH}:/usr/sbin`
const options = readOptions(parseOptions)
if (options === 'help') console.log(HELP)
else if (options !== undefined) await bench(options)
