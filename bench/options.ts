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
  'download',
  'small-get',
  'put',
  'put-folder',
  'piece',
] as const
export type MeasurementName = (typeof MEASUREMENT_NAMES)[number]

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
}

export const HELP = `Usage: npm run bench -- [options]

Measures Lade against the limits of this machine and prints ratios. Takes about fifteen minutes.

  --only NAMES      some of ${MEASUREMENT_NAMES.join(',')} (default: all)
  --rounds N        samples of each variant, interleaved (default 5)
  --size-mib N      length of the big body (default 1024)
  --seconds N       length of one sample of the 4 KiB rows (default 5)
  --dir PATH        make the temporary folder here (default ${tmpdir()}); must not be memory
  --lade PATH       the script to measure, started as 'node PATH serve' (default packages/cli/src/main.ts)
  --env NAME=VALUE  a setting for the server, repeatable; LADE_* of this shell are not passed on
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
      only: { type: 'string', default: MEASUREMENT_NAMES.join(',') },
      rounds: { type: 'string', default: '5' },
      'size-mib': { type: 'string', default: '1024' },
      seconds: { type: 'string', default: '5' },
      dir: { type: 'string', default: tmpdir() },
      lade: { type: 'string', default: fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url)) },
      env: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    only: values.only.split(',').map(measurementName),
    rounds: wholeNumber('--rounds', values.rounds, 100),
    sizeBytes: wholeNumber('--size-mib', values['size-mib'], 65_536) * 1024 * 1024,
    seconds: wholeNumber('--seconds', values.seconds, 60),
    dir: resolve(values.dir),
    ladeScript: resolve(values.lade),
    ladeEnv: Object.fromEntries(values.env.map(setting)),
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
