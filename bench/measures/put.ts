import { open } from 'node:fs/promises'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { takeRounds } from '../rounds.ts'
import type { Command, RunningServer } from '../running-processes.ts'
import type { Row, Sample, Variant } from '../sample.ts'
import { signUp, startLade } from '../servers/lade.ts'
import { bigBodyBlocks } from '../stamped-body.ts'
import { warmMemory } from '../warm-memory.ts'
import { bigBody, uploadBigBody } from './upload.ts'

const MIB = 1024 * 1024
const WARM_UP_BYTES = 64 * MIB
const TIMEOUT_MS = 600_000
/** `curl --data-binary` holds the file in memory, and refuses one of 1 GiB and more. */
const CURL_MOST_BYTES = 1023 * MIB

/**
 * `lade put` of a file, from the command to its end, against what one would type without it: sha256sum for the id, then
 * curl. Wanted is at most 1.2 times the time of the two.
 */
export async function measurePut(run: BenchRun): Promise<Row[]> {
  const sizeBytes = Math.min(run.options.sizeBytes, CURL_MOST_BYTES)
  const body = bigBody(4, sizeBytes)
  const warmUp = bigBody(1, WARM_UP_BYTES)
  return withScratchDir(run, 'put', async (home) => {
    const path = `${home}/file.bin`
    {
      await using file = await open(path, 'wx')
      for (const block of bigBodyBlocks(body.seed, sizeBytes)) await file.writeFile(block)
    }

    /** A server of its own, one command after a small upload, and the rate of the file through it. */
    const variant = (name: string, command: (server: RunningServer, token: string) => Command): Variant => ({
      name,
      takeSample: () =>
        withScratchDir(run, 'data', async (dir): Promise<Sample> => {
          const server = await startLade(run, dir)
          try {
            const token = await signUp(server)
            await uploadBigBody(run, server, warmUp, token)
            await warmMemory(run, sizeBytes)
            const asked = command(server, token)
            const startedAt = performance.now()
            const answer = await run.processes.run(asked, TIMEOUT_MS)
            const seconds = (performance.now() - startedAt) / 1000
            if (!answer.includes('"dealId"')) throw new Error(`${name} printed no upload result: ${answer}`)
            return { value: sizeBytes / MIB / seconds }
          } finally {
            await server.stop()
          }
        }),
    })
    const [put, curl] = await takeRounds(
      [
        variant('lade put', (server, token) => ({
          program: process.execPath,
          args: [run.options.ladeScript, 'put', '--json', path],
          // A cache of its own, so that no round finds the hashes of another.
          env: { HOME: `${home}/${performance.now()}`, LADE_URL: server.url, LADE_TOKEN: token },
        })),
        variant('sha256sum, then curl --data-binary', (server, token) => ({
          program: 'sh',
          args: [
            '-c',
            'curl --silent --fail-with-body --data-binary "@$1" -H "Authorization: Bearer $3" ' +
              '-H "Content-Type: application/octet-stream" "$2/api/upload?cid=$(sha256sum "$1" | cut -c 1-64)"',
            'sh',
            path,
            server.url,
            token,
          ],
        })),
      ],
      run.options.rounds,
      run.progress,
    )
    if (put === undefined || curl === undefined) throw new TypeError('a variant was not sampled')
    const what = `put, ${Math.floor(sizeBytes / MIB)} MiB, from the command to its end`
    return [{ what, unit: 'MiB/s', targetRatio: 0.83, lade: put, baselines: [curl], others: [] }]
  })
}
