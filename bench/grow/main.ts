/**
 * `node bench/grow/main.ts`: how long the records take at ten thousand files and at ten million, on one engine.
 *
 * The rows are made by the engine itself, with the schema of the migrations. Ends with 0 whatever the figures are, and with 1 when
 * something could not be measured. What it makes it removes, unless it is told to keep it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresAt, startPostgres } from '../../services/postgres.ts'
import { readOptions } from '../read-options.ts'
import type { GrownData } from './grown-data.ts'
import { type Measured, measure } from './measure.ts'
import { type Operation, reads, scans, writes } from './operations.ts'
import { type GrowOptions, HELP, parseOptions } from './options.ts'
import { growPostgres } from './postgres-data.ts'
import { renderMeasured, renderSizes } from './report.ts'
import { sampleOf } from './sample.ts'
import { totalFiles } from './shape.ts'
import { growSqlite } from './sqlite-data.ts'

/** The time of the data: the shape depends on it, and kept databases are read again. */
const NOW = Date.UTC(2026, 10, 21, 12)

/** A server that is large enough to hold the upper parts of all indexes, as one for ten million files would be. */
const SERVER_SETTINGS = {
  shared_buffers: '2GB',
  effective_cache_size: '12GB',
  max_wal_size: '8GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
}

interface Engine {
  open(files: number): Promise<GrownData>
  end(): Promise<void>
}

const progress = (line: string): void => console.error(line)

async function sqlite({ dir }: GrowOptions): Promise<Engine> {
  const home = dir ?? mkdtempSync(join(tmpdir(), 'lade-grow-'))
  mkdirSync(home, { recursive: true })
  return {
    open: (files) => growSqlite(home, { files, now: NOW }, progress),
    end: async () => {
      if (dir === undefined) rmSync(home, { recursive: true, force: true })
    },
  }
}

async function postgres({ port }: GrowOptions): Promise<Engine> {
  const server = port === undefined ? await startPostgres({ settings: SERVER_SETTINGS }) : undefined
  const databases = server ?? postgresAt(port ?? 0)
  return {
    async open(files) {
      const url = await databases.createDatabase(`grow_${files}`)
      return growPostgres({ url, shape: { files, now: NOW }, progress })
    },
    end: async () => server?.discard(),
  }
}

async function grow(options: GrowOptions): Promise<void> {
  const engine = await (options.engine === 'sqlite' ? sqlite(options) : postgres(options))
  const opened: { readonly files: number; readonly data: GrownData; readonly operations: readonly Operation[] }[] = []
  try {
    for (const files of options.files) {
      progress(`${files} files …`)
      const data = await engine.open(files)
      const sample = await sampleOf(data, { files, now: NOW })
      const operations = [
        ...(await reads(data.store, sample, NOW)),
        ...scans(data.store),
        ...writes(data.store, NOW),
      ].filter(({ name }) => options.only.length === 0 || options.only.some((word) => name.includes(word)))
      opened.push({ files, data, operations })
      if (options.only.length === 0)
        console.log(`\n${files} files\n${renderSizes(await data.sizes(), totalFiles({ files }))}\n`)
    }
    const measured: Measured[] = []
    for (const index of opened[0]?.operations.keys() ?? []) {
      const sizes = opened.flatMap(({ files, operations }) => {
        const operation = operations[index]
        return operation === undefined ? [] : [{ files, operation }]
      })
      progress(sizes[0]?.operation.name ?? '')
      measured.push(await measure(sizes))
    }
    console.log(renderMeasured(measured))
    if (measured.some(({ failure }) => failure !== undefined)) process.exitCode = 1
  } finally {
    for (const { data } of opened) await data.close()
    await engine.end()
  }
}

const options = readOptions(parseOptions)
if (options === 'help') console.log(HELP)
else if (options !== undefined) await grow(options)
