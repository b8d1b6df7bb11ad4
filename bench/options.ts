import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** The names of the measurements, in the order they run. */
export const MEASUREMENT_NAMES = [
  'upload',
  'upload-ids',
  'tus-upload',
  'small-upload',
  'postgres-upload',
  's3-upload',
  'download',
  'small-get',
  'random-get',
  'put',
  'put-folder',
  'piece',
] as const
export type MeasurementName = (typeof MEASUREMENT_NAMES)[number]

/** A run of three minutes, which can tell that something takes twice as long as before. */
const SHORT = { only: 'upload,small-upload,download,small-get,piece', rounds: '3', 'size-mib': '256', seconds: '2' }
const LONG = { only: MEASUREMENT_NAMES.join(','), rounds: '5', 'size-mib': '1024', seconds: '5' }
/** The part of a ratio of the baseline that a row has to reach. */
const LEAST_SHARE = 0.9
const LEAST_SHARE_OF_SHORT = 0.5

export interface BenchOptions {
  only: MeasurementName[]
  rounds: number
  /** Length of the big body, in bytes. */
  sizeBytes: number
  /** How long one sample of a small-object row lasts, in seconds. */
  seconds: number
  /** Where the temporary folder is made. Its file system is part of what is measured. */
  dir: string
  /** The script that `serve` is given to. */
  ladeScript: string
  /** `NAME=VALUE` settings for the server, beside those the run sets itself. */
  ladeEnv: Record<string, string>
  /** The part of the baseline's ratios that rows have to reach; undefined where they are not compared. */
  leastShare: number | undefined
  /** True to make the ratios of this run the baseline. */
  keepsBaseline: boolean
}

export const HELP = `Usage: npm run bench -- [options]

Measures Lade against the limits of this machine and prints ratios. Takes about fifteen minutes.

  --only NAMES      some of ${MEASUREMENT_NAMES.join(',')} (default: all)
  --rounds N        samples of each variant, interleaved (default 5)
  --size-mib N      length of the big body (default 1024)
  --seconds N       length of one sample of the 4 KiB rows (default 5)
  --dir PATH        make the temporary folder here (default ${tmpdir()}); must not be memory
  --lade PATH       the script to measure, started as its first line says, with 'serve' (default packages/cli/src/main.ts)
  --env NAME=VALUE  a setting for the server, repeatable; LADE_* of this shell are not passed on
  --short           fewer and shorter samples of ${SHORT.only}
  --check           fail when a ratio is below ${LEAST_SHARE} of what baseline.json has; with --short, below ${LEAST_SHARE_OF_SHORT}
  --keep-baseline   put the ratios of this run into baseline.json
  --help            this text
`

/**
 * Reads the command line.
 *
 * @returns the options, or `'help'` when they ask for it.
 * @throws TypeError with one sentence about the first wrong argument.
 */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      rounds: { type: 'string' },
      'size-mib': { type: 'string' },
      seconds: { type: 'string' },
      short: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      'keep-baseline': { type: 'boolean', default: false },
      dir: { type: 'string', default: tmpdir() },
      lade: { type: 'string', default: fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url)) },
      env: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const { only, rounds, 'size-mib': sizeMib, seconds } = { ...(values.short ? SHORT : LONG), ...values }
  return {
    only: only.split(',').map(measurementName),
    rounds: wholeNumber('--rounds', rounds, 100),
    sizeBytes: wholeNumber('--size-mib', sizeMib, 65_536) * 1024 * 1024,
    seconds: wholeNumber('--seconds', seconds, 60),
    dir: resolve(values.dir),
    ladeScript: resolve(values.lade),
    ladeEnv: Object.fromEntries(values.env.map(setting)),
    leastShare: values.check ? (values.short ? LEAST_SHARE_OF_SHORT : LEAST_SHARE) : undefined,
    keepsBaseline: values['keep-baseline'],
  }
}

function measurementName(text: string): MeasurementName {
  const name = MEASUREMENT_NAMES.find((known) => known === text.trim())
  if (name === undefined) throw new TypeError(`--only knows ${MEASUREMENT_NAMES.join(', ')}; not "${text}".`)
  return name
}

function wholeNumber(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new TypeError(`${flag} takes a whole number from 1 to ${max}; not "${text}".`)
  }
  return value
}

function setting(text: string): [string, string] {
  const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new TypeError(`--env takes NAME=VALUE; not "${text}".`)
  return [name, value]
}
