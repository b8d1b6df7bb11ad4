import { mkdir, writeFile } from 'node:fs/promises'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { seededBytes, stamp } from '../stamped-body.ts'

const FILES = 10_000
const FILES_PER_FOLDER = 100
const FILE_BYTES = 4096
const TIMEOUT_MS = 600_000

/**
 * `lade put -r` of a folder of small files as one, against the same files each for itself (`--loose`), from the start
 * of the command to its end. Both with the `--jobs` of the command itself.
 */
export async function measurePutFolder(run: BenchRun): Promise<Row[]> {
  return withScratchDir(run, 'put-folder', async (home) => {
    const folder = `${home}/folder`
    await makeFolder(folder)

    /** A server of its own, and the rate of the files through it. */
    const variant = (name: string, options: readonly string[], printedLines: number): Variant => ({
      name,
      takeSample: () =>
        withScratchDir(run, 'data', async (dir): Promise<Sample> => {
          const server = await startLade(run, dir)
          try {
            const token = await signUp(server)
            const startedAt = performance.now()
            const printed = await run.processes.run(
              {
                program: process.execPath,
                args: [run.options.ladeScript, 'put', ...options, '--json', folder],
                // A cache of its own, so that no round finds the hashes of another.
                env: { HOME: `${home}/${performance.now()}`, LADE_URL: server.url, LADE_TOKEN: token },
              },
              TIMEOUT_MS,
            )
            const seconds = (performance.now() - startedAt) / 1000
            const lines = printed.trimEnd().split('\n')
            if (lines.length !== printedLines || !lines.every((line) => line.includes('"dealId"'))) {
              throw new Error(`${name} printed ${lines.length} lines, not ${printedLines} upload results`)
            }
            return { value: FILES / seconds }
          } finally {
            await server.stop()
          }
        }),
    })
    const [folderAsOne, loose] = await takeRounds(
      [variant('lade put -r', ['-r'], 1), variant('lade put -r --loose', ['-r', '--loose'], FILES)],
      run.options.rounds,
      run.progress,
    )
    if (folderAsOne === undefined || loose === undefined) throw new TypeError('a variant was not sampled')
    const what = `put -r, ${FILES} files of 4 KiB, from the command to its end`
    return [{ what, unit: '/s', targetRatio: 4, lade: folderAsOne, baselines: [loose], others: [] }]
  })
}

/** Makes files that all differ, a hundred to a folder. */
async function makeFolder(root: string): Promise<void> {
  const bytes = seededBytes(5, FILE_BYTES)
  for (let index = 0; index < FILES; index++) {
    const folder = `${root}/${Math.floor(index / FILES_PER_FOLDER)}`
    if (index % FILES_PER_FOLDER === 0) await mkdir(folder, { recursive: true })
    stamp(bytes, index)
    await writeFile(`${folder}/${index}.bin`, bytes)
  }
}
