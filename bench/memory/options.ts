import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { LOAD_NAMES, type LoadName } from './loads.ts'

export interface MemoryOptions {
  readonly only: readonly LoadName[]
  /** Length of the body of `upload` and `download`. */
  readonly sizeBytes: number
  /** How long `small-uploads` and `small-gets` last. */
  readonly seconds: number
  /** How long after a load the memory is read again. */
  readonly restSeconds: number
  readonly dir: string
  readonly ladeScript: string
}

export const HELP = `Usage: npm run build && node bench/memory/main.ts [options]

Measures the memory of the service at rest, under load, and a minute after it. Takes about fifteen minutes and 20 GB of disk.

  --only NAMES       some of ${LOAD_NAMES.join(',')} (default: all)
  --size-mib N       length of the body of upload and download (default 5120)
  --seconds N        length of small-uploads and small-gets (default 30)
  --rest-seconds N   how long after a load the memory is read again (default 60)
  --dir PATH         make the temporary folder here (default ${tmpdir()})
  --lade PATH        the command to measure (default out/build/cli/bin/lade.js)
  --help             this text
`

/** @throws {TypeError} with one sentence about what is wrong. */
export function parseOptions(args: readonly string[]): MemoryOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', default: LOAD_NAMES.join(',') },
      'size-mib': { type: 'string', default: '5120' },
      seconds: { type: 'string', default: '30' },
      'rest-seconds': { type: 'string', default: '60' },
      dir: { type: 'string', default: tmpdir() },
      lade: { type: 'string', default: fileURLToPath(new URL('../../out/build/cli/bin/lade.js', import.meta.url)) },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    only: values.only.split(',').map(loadName),
    sizeBytes: wholeNumber('--size-mib', values['size-mib']) * 1024 * 1024,
    seconds: wholeNumber('--seconds', values.seconds),
    restSeconds: wholeNumber('--rest-seconds', values['rest-seconds']),
    dir: resolve(values.dir),
    ladeScript: resolve(values.lade),
  }
}

function loadName(text: string): LoadName {
  const name = LOAD_NAMES.find((known) => known === text)
  if (name === undefined) throw new TypeError(`--only knows ${LOAD_NAMES.join(', ')}; not "${text}".`)
  return name
}

function wholeNumber(flag: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new TypeError(`${flag} takes a whole number; not "${text}".`)
  return value
}
