import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type BenchRun, withScratchDir } from '../bench-run.ts'
import type { LoadResult } from '../load/connections.ts'
import type { SmallGetInput } from '../load/small-get.ts'
import { readMachineBusySeconds } from '../process-usage.ts'
import { takeRounds } from '../rounds.ts'
import { nodeScript, type RunningServer } from '../running-processes.ts'
import type { Row, Variant } from '../sample.ts'
import { portOf, signUp, startLade } from '../servers/lade.ts'
import { startNginx } from '../servers/nginx.ts'
import { seededBytes, stamp } from '../stamped-body.ts'
import { sampleLoad } from './sample-load.ts'
import { readWrkReport } from './wrk-report.ts'

export const CONNECTIONS = 64
const OBJECTS = 1000
const SIZE_BYTES = 4096
const WARM_UP_SECONDS = 1
const UPLOADS_AT_ONCE = 16
const LOAD = new URL('../load/small-get.ts', import.meta.url)
const ROUND_ROBIN = fileURLToPath(new URL('../load/round-robin.lua', import.meta.url))

interface NamedServer {
  name: string
  server: RunningServer
}

/**
 * Small GETs per second, of one hot object and of a thousand in turn: Lade against nginx with one worker. Each server
 * process serves every round; Lade is started anew after the uploads. The answers have equal bodies; Lade's heads
 * are longer.
 */
export function measureSmallGet(run: BenchRun): Promise<Row[]> {
  const objects = smallObjects()
  return withScratchDir(run, 'small-get', async (dir) => {
    const root = `${dir}/www`
    await mkdir(`${root}/p`, { recursive: true })
    for (const [cid, bytes] of objects) await writeFile(`${root}/p/${cid}`, bytes)
    const servers: NamedServer[] = []
    try {
      servers.push({ name: 'Lade', server: await startLadeWith(run, `${dir}/data`, objects) })
      servers.push(...(await startBaselines(run, dir, root)))
      for (const { name, server } of servers) await checkServes(name, server, objects)
      const paths = [...objects.keys()].map((cid) => `/p/${cid}`)
      const hot = await measureRow(run, dir, servers, 'GETs, 4 KiB, one hot object', paths.slice(0, 1))
      const many = await measureRow(run, dir, servers, `GETs, 4 KiB, ${OBJECTS} objects in turn`, paths)
      return [hot, many]
    } finally {
      for (const { server } of servers) await server.stop()
    }
  })
}

async function measureRow(
  run: BenchRun,
  dir: string,
  servers: readonly NamedServer[],
  what: string,
  paths: readonly string[],
): Promise<Row> {
  const pathsFile = `${dir}/paths-${paths.length}`
  await writeFile(pathsFile, `${paths.join('\n')}\n`)
  const variants = servers.map(({ name, server }): Variant => {
    const load = (seconds: number) =>
      run.machine.wrk === undefined
        ? loadByScript(run, server, paths, seconds)
        : loadByWrk(run, server, paths, pathsFile, seconds)
    return {
      name,
      async takeSample() {
        await load(WARM_UP_SECONDS)
        return (await sampleLoad(server, () => load(run.options.seconds))).sample
      },
    }
  })
  const [lade, baseline, ...others] = await takeRounds(variants, run.options.rounds, run.progress)
  if (lade === undefined || baseline === undefined) throw new TypeError('a variant was not sampled')
  return {
    what: `${what}, ${CONNECTIONS} connections`,
    unit: '/s',
    targetRatio: run.machine.nginx === undefined ? undefined : 0.6,
    lade,
    baselines: [baseline],
    others,
  }
}

async function startBaselines(run: BenchRun, dir: string, root: string): Promise<NamedServer[]> {
  if (run.machine.nginx === undefined) {
    const script = new URL('../bare/send-files.ts', import.meta.url)
    const server = await run.processes.startServer(nodeScript(script, { dir: root }))
    return [{ name: 'node:http, createReadStream().pipe', server }]
  }
  const plain = await startNginx(run, `${dir}/plain`, { root })
  const directives = [`open_file_cache max=${2 * OBJECTS} inactive=600s; open_file_cache_valid 600s;`]
  const cached = await startNginx(run, `${dir}/cached`, { root, directives })
  return [
    { name: 'nginx, 1 worker', server: plain },
    { name: 'nginx, 1 worker, open_file_cache (for information)', server: cached },
  ]
}

export async function loadByWrk(
  run: BenchRun,
  server: RunningServer,
  paths: readonly string[],
  pathsFile: string,
  seconds: number,
): Promise<LoadResult> {
  const script = paths.length > 1 ? ['-s', ROUND_ROBIN] : []
  const scriptArgs = paths.length > 1 ? ['--', pathsFile] : []
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--latency', ...script]
  const busyBefore = readMachineBusySeconds()
  const report = await run.processes.run(
    { program: 'wrk', args: [...args, `${server.url}${paths[0]}`, ...scriptArgs] },
    (seconds + 30) * 1000,
  )
  return { ...readWrkReport(report), machineBusySeconds: readMachineBusySeconds() - busyBefore }
}

function loadByScript(
  run: BenchRun,
  server: RunningServer,
  paths: readonly string[],
  seconds: number,
): Promise<LoadResult> {
  const input: SmallGetInput = { port: portOf(server), paths: [...paths], connections: CONNECTIONS, seconds }
  return run.processes.runScript(LOAD, input, (seconds + 30) * 1000)
}

function smallObjects(): Map<string, Buffer<ArrayBuffer>> {
  const objects = new Map<string, Buffer<ArrayBuffer>>()
  for (let index = 0; index < OBJECTS; index++) {
    const bytes = Buffer.from(seededBytes(4, SIZE_BYTES))
    stamp(bytes, index)
    objects.set(createHash('sha256').update(bytes).digest('hex'), bytes)
  }
  return objects
}

async function startLadeWith(
  run: BenchRun,
  dataDir: string,
  objects: ReadonlyMap<string, Buffer<ArrayBuffer>>,
): Promise<RunningServer> {
  await mkdir(dataDir)
  const receiving = await startLade(run, dataDir)
  try {
    const authorization = `Bearer ${await signUp(receiving)}`
    const entries = objects.entries()
    const uploadRest = async () => {
      for (const [cid, body] of entries) {
        const headers = { Authorization: authorization, 'Content-Type': 'application/octet-stream' }
        const response = await fetch(`${receiving.url}/api/upload?cid=${cid}`, { method: 'POST', headers, body })
        const text = await response.text()
        if (!response.ok) throw new Error(`an upload was answered with ${response.status}: ${text}`)
      }
    }
    await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, uploadRest))
  } finally {
    await receiving.stop()
  }
  return startLade(run, dataDir)
}

/** A server that sends something else, or a shorter error page, would win: look. */
async function checkServes(
  name: string,
  server: RunningServer,
  objects: ReadonlyMap<string, Buffer<ArrayBuffer>>,
): Promise<void> {
  for (const [cid, bytes] of [...objects].slice(0, 10)) {
    const response = await fetch(`${server.url}/p/${cid}`)
    const received = Buffer.from(await response.arrayBuffer())
    if (!received.equals(bytes)) throw new Error(`${name} answers /p/${cid} with ${response.status} and other bytes`)
  }
}
