import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface GrowOptions {
  readonly engine: 'sqlite' | 'postgres'
  /** How many files the owner has, ascending. */
  readonly files: readonly number[]
  /** Where databases are made; undefined for a temporary folder that is removed at the end. */
  readonly dir: string | undefined
  /** A running PostgreSQL, whose databases `grow_<files>` are made and stay. */
  readonly port: number | undefined
  /** Only operations whose names contain one of these. */
  readonly only: readonly string[]
}

export const HELP = `Usage: node bench/grow/main.ts --engine sqlite|postgres [options]

Measures what the records take at one size and at another.

  --engine NAME    sqlite or postgres
  --files LIST     sizes, ascending (default 10000,10000000); 10 million take 11 GB (SQLite) or 14 GB (PostgreSQL), and 10 to 20 minutes
  --dir PATH       make the databases here and keep them, to be used again (default: a folder in ${tmpdir()}, removed at the end)
  --port N         use the PostgreSQL that listens here, and keep its databases (default: one of its own, removed at the end)
  --only LIST      operations whose names contain one of these words
  --help           this text
`

/** @throws {TypeError} with one sentence about what is wrong. */
export function parseOptions(args: readonly string[]): GrowOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      engine: { type: 'string' },
      files: { type: 'string', default: '10000,10000000' },
      dir: { type: 'string' },
      port: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const { engine } = values
  if (engine !== 'sqlite' && engine !== 'postgres') throw new TypeError('--engine is sqlite or postgres.')
  const files = values.files.split(',').map(Number)
  if (files.some((count) => !Number.isSafeInteger(count) || count < 10_000))
    throw new TypeError('--files takes whole numbers from 10000 on.')
  return {
    engine,
    files,
    dir: values.dir === undefined ? undefined : resolve(values.dir),
    port: values.port === undefined ? undefined : Number(values.port),
    only: values.only.split(',').filter((word) => word !== ''),
  }
}
