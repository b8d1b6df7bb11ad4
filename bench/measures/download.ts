import { mkdir, open } from 'node:fs/promises'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import { watchCores } from '../busy-cores.ts'
import type { DownloadInput, DownloadResult } from '../load/download.ts'
import { readPeakMemoryBytes } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import { nodeScript, type RunningServer } from '../running-processes.ts'
import type { Row, Variant } from '../sample.ts'
import { portOf, signUp, startLade } from '../servers/lade.ts'
import { startNginx } from '../servers/nginx.ts'
import { bigBodyBlocks } from '../stamped-body.ts'
import { type BigBody, bigBody, uploadBigBody } from './upload.ts'

const MIB = 1024 * 1024
const TIMEOUT_MS = 600_000
const LOAD = new URL('../load/download.ts', import.meta.url)

/**
 * One big download over one connection, from the page cache: Lade against nginx with sendfile. Each server process
 * serves every round; Lade is started anew after the upload, so its peak memory is that of serving.
 */
export function measureDownload(run: BenchRun): Promise<Row[]> {
  const body = bigBody(3, run.options.sizeBytes)
  return withScratchDir(run, 'download', async (dir) => {
    const root = `${dir}/www`
    await writeFileOf(body, root)
    const servers: { name: string; server: RunningServer }[] = []
    try {
      servers.push({ name: 'Lade', server: await startLadeWith(run, `${dir}/data`, body) })
      if (run.machine.nginx === undefined) {
        const script = new URL('../bare/send-files.ts', import.meta.url)
        const server = await run.processes.startServer(nodeScript(script, { dir: root }))
        servers.push({ name: 'node:http, createReadStream().pipe', server })
      } else {
        servers.push({ name: 'nginx, sendfile', server: await startNginx(run, `${dir}/sendfile`, { root }) })
        const directives = ['sendfile off; output_buffers 2 256k;']
        const server = await startNginx(run, `${dir}/buffers`, { root, directives })
        servers.push({ name: 'nginx, no sendfile, 256 KiB buffers (for information)', server })
      }
      const variants = servers.map(({ name, server }) => downloadVariant(run, name, server, body))
      const [lade, baseline, ...others] = await takeRounds(variants, run.options.rounds, run.progress)
      if (lade === undefined || baseline === undefined) throw new TypeError('a variant was not sampled')
      const what = `download, ${body.sizeBytes / MIB} MiB, 1 connection`
      return [
        {
          what,
          unit: 'MiB/s',
          targetRatio: run.machine.nginx === undefined ? undefined : 1,
          lade,
          baselines: [baseline],
          others,
        },
      ]
    } finally {
      for (const { server } of servers) await server.stop()
    }
  })
}

function downloadVariant(run: BenchRun, name: string, server: RunningServer, body: BigBody): Variant {
  const { sizeBytes, sha256 } = body
  const download = (check: boolean): Promise<DownloadResult> => {
    const input: DownloadInput = { port: portOf(server), path: `/p/${sha256}`, sizeBytes, ...(check ? { sha256 } : {}) }
    return run.processes.runScript(LOAD, input, TIMEOUT_MS)
  }
  return {
    name,
    async takeSample(round) {
      // The first download of each server warms it up and proves that it sends the right bytes.
      if (round === 0) await download(true)
      const { load, busyCores } = await watchCores(server.pid, () => download(false))
      return { value: sizeBytes / MIB / load.seconds, peakMemoryBytes: readPeakMemoryBytes(server.pid), busyCores }
    },
  }
}

async function startLadeWith(run: BenchRun, dataDir: string, body: BigBody): Promise<RunningServer> {
  await mkdir(dataDir)
  const receiving = await startLade(run, dataDir)
  try {
    await uploadBigBody(run, receiving, body, await signUp(receiving))
  } finally {
    await receiving.stop()
  }
  return startLade(run, dataDir)
}

async function writeFileOf(body: BigBody, root: string): Promise<void> {
  await mkdir(`${root}/p`, { recursive: true })
  await using file = await open(`${root}/p/${body.sha256}`, 'wx')
  for (const block of bigBodyBlocks(body.seed, body.sizeBytes)) await file.writeFile(block)
}
