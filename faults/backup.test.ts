import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Caller, send, tokenCaller } from './caller.ts'
import { sha256Hex } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { FULL_PLAN_ONLY, PLAN } from './plan.ts'
import { runSeed, type SeededRandom, seededRandom } from './seeded-random.ts'
import { MAIN, type ServerProcess, startServer } from './server-process.ts'
import { tempDirectory } from './temp-directory.ts'

const KB = 1024
const BOUNDLESS = { LADE_TOKEN_DAILY_MB: '1000000' }
const CALLERS = 8
/** Files during backups one after the other. */
const ROUND_FILES = 400
/** Blobs that rot on each side. */
const ROTTEN = Math.ceil(PLAN.backupFiles / 200)

/** Bytes that are told by their number, so that nobody has to keep them. */
function bytesOf(random: SeededRandom): Buffer {
  const sizeBytes = random.betweenMagnitudes(200, 300 * KB)
  const bytes = Buffer.alloc(sizeBytes)
  for (let offset = 0; offset + 6 <= sizeBytes; offset += 64) {
    bytes.writeUIntBE(Math.floor(random.next() * 2 ** 47), offset, 6)
  }
  return bytes
}

async function stage({ url }: ServerProcess, caller: Caller, random: SeededRandom): Promise<string> {
  const body = bytesOf(random)
  const cid = sha256Hex(body)
  const headers = { ...caller.headers, 'Content-Type': 'application/octet-stream' }
  const { status } = await send(url, 'POST', `/api/upload?cid=${cid}`, { headers, body })
  expect(status).toBe(200)
  return cid
}

/** What every caller was told is staged. */
async function stageSome(
  server: ServerProcess,
  callers: readonly Caller[],
  files: number,
): Promise<Map<string, Caller>> {
  const staged = new Map<string, Caller>()
  const perCaller = Math.ceil(files / callers.length)
  await Promise.all(
    callers.map(async (caller, index) => {
      const random = seededRandom(runSeed + index)
      for (let count = 0; count < perCaller; count += 1) staged.set(await stage(server, caller, random), caller)
    }),
  )
  return staged
}

/** Uploads, each followed by a removal: half of the time of the same file, else of the oldest one of its caller. */
function startLoad(server: ServerProcess, staged: Map<string, Caller>) {
  const removed = new Set<string>()
  let uploads = 0
  let isStopped = false
  const owners = Map.groupBy([...staged], ([, caller]) => caller)
  const working = [...owners].map(async ([caller, own], index) => {
    const random = seededRandom(runSeed + 500 + index)
    while (!isStopped) {
      const cid = await stage(server, caller, random)
      uploads += 1
      const isKept = random.next() < 0.5
      if (isKept) own.push([cid, caller])
      const victim = isKept ? own.shift()?.[0] : cid
      if (victim === undefined) continue
      removed.add(victim)
      await send(server.url, 'DELETE', `/api/files/${victim}`, caller)
    }
  })
  return {
    removed,
    async stop(): Promise<{ uploads: number }> {
      isStopped = true
      await Promise.all(working)
      return { uploads }
    },
  }
}

interface Ended {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly tookMs: number
}

/** `lade` with these arguments, killed after a while when that is asked for. */
function lade(args: readonly string[], killAfterMs?: number): Promise<Ended> {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const startedAt = performance.now()
  const child = spawn(process.execPath, [MAIN, ...args], { env: { PATH, NODE_COMPILE_CACHE } })
  const said = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
  if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, ...said, tookMs: performance.now() - startedAt }))
  })
}

/** Flips a bit of so many blobs; answers their digests in order. */
function rot(objectsDir: string, random: SeededRandom, spared: ReadonlySet<string>): string[] {
  const blobs = readdirSync(objectsDir)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shard) => readdirSync(join(objectsDir, shard)))
    .filter((digest) => !spared.has(digest))
  const rotten = new Set<string>()
  while (rotten.size < Math.min(ROTTEN, blobs.length)) rotten.add(random.pick(blobs))
  for (const digest of rotten) {
    const path = join(objectsDir, digest.slice(0, 2), digest)
    const bytes = readFileSync(path)
    const at = random.between(0, bytes.length - 1)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.between(0, 7))
    writeFileSync(path, bytes)
  }
  return [...rotten].sort()
}

async function differing(server: ServerProcess, cids: readonly string[]): Promise<string[]> {
  const wrong: string[] = []
  const left = [...cids]
  const work = async (): Promise<void> => {
    for (let cid = left.pop(); cid !== undefined; cid = left.pop()) {
      const { status, body } = await send(server.url, 'GET', `/p/${cid}`)
      if (status !== 200 || sha256Hex(body) !== cid) wrong.push(`${cid}: ${status}`)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, work))
  return wrong
}

function sizeOf(path: string): number {
  const stats = statSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

const median = (values: readonly number[]) => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0
const inMiB = (bytes: number) => `${Math.round(bytes / KB / KB)} MiB`
const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

describe.runIf(PLAN.isFull)('a backup taken under load', FULL_PLAN_ONLY, () => {
  test('restores every file on another folder, after kills, and names and heals what has rotted', async () => {
    const server = await startServer({ env: BOUNDLESS })
    const callers = await Promise.all(Array.from({ length: CALLERS }, () => tokenCaller(server.url)))
    const staged = await stageSome(server, callers, PLAN.backupFiles)
    const copyDir = join(tempDirectory(), 'copy')
    const backup = (...flags: string[]) => ['backup', copyDir, '--data-dir', server.dataDir, '--json', ...flags]
    const restore = (to: string) => ['restore', copyDir, '--data-dir', to, '--keep-tokens', '--json']
    const random = seededRandom(runSeed + 1000)

    const load = startLoad(server, staged)
    for (let kill = 0; kill < PLAN.backupKills; kill += 1) await lade(backup(), random.between(300, 6000))
    const first = await lade(backup())
    expect(first, first.stderr).toMatchObject({ exitCode: 0 })
    const { uploads } = await load.stop()
    expect(uploads).toBeGreaterThan(PLAN.backupFiles / 100)

    // The first restore is of a backup that was taken while files came and went.
    const expected = () => [...staged.keys()].filter((cid) => !load.removed.has(cid))
    const elsewhere = join(tempDirectory(), 'data')
    let restored = await lade(restore(elsewhere), random.between(300, 3000))
    for (let kill = 1; kill < PLAN.backupKills && restored.exitCode !== 0; kill += 1) {
      restored = await lade(restore(elsewhere), random.between(300, 6000))
    }
    if (restored.exitCode !== 0) restored = await lade(restore(elsewhere))
    expect(restored, restored.stderr).toMatchObject({ exitCode: 0 })
    const other = await startServer({ dataDir: elsewhere, env: BOUNDLESS })
    expect(await differing(other, expected())).toEqual([])
    for (const caller of callers) {
      const { body } = await send(other.url, 'GET', '/api/files?limit=1000', caller)
      const { files } = JSON.parse(body.toString()) as { files: { cid: string }[] }
      expect(
        await differing(
          other,
          files.map(({ cid }) => cid),
        ),
      ).toEqual([])
    }
    await other.stop()
    const { reservations, pending, integrity } = readDataDirectory(elsewhere)
    expect({ reservations, pending, integrity }).toEqual({ reservations: [], pending: [], integrity: 'ok' })

    // Bits flip on either side, and load goes on.
    const again = startLoad(server, staged)
    await sleep(1000)
    await again.stop()
    for (const cid of again.removed) load.removed.add(cid)
    expect((await lade(backup())).exitCode).toBe(0)
    const inSource = rot(join(server.dataDir, 'objects'), random, new Set())
    const inCopy = rot(join(copyDir, 'objects'), random, new Set(inSource))
    const found = await lade(backup('--heal'))
    expect(found, found.stderr).toMatchObject({ exitCode: 0 })
    const { blobs } = JSON.parse(found.stdout)
    const digests = (problems: { sha256: string }[]) => problems.map(({ sha256 }) => sha256)
    expect(digests(blobs.problems)).toEqual(inSource)
    expect(digests(blobs.replaced)).toEqual(inCopy)
    const healed = await lade(backup())
    expect(JSON.parse(healed.stdout).blobs).toMatchObject({ problems: [], replaced: [], copied: { count: 0 } })
    expect(await differing(server, expected())).toEqual([])

    const last = join(tempDirectory(), 'data')
    const lastRestore = await lade(restore(last))
    expect(lastRestore.exitCode).toBe(0)
    expect(await differing(await startServer({ dataDir: last, env: BOUNDLESS }), expected())).toEqual([])

    process.stdout.write(
      `\n${staged.size} files, ${uploads} uploads meanwhile: backup ${inSeconds(first.tookMs)} under load, ` +
        `again with everything there ${inSeconds(healed.tookMs)}, restore ${inSeconds(lastRestore.tookMs)}; ` +
        `data ${inMiB(sizeOf(server.dataDir))}, backup ${inMiB(sizeOf(copyDir))}; ` +
        `${inSource.length} + ${inCopy.length} rotten named and healed\n`,
    )
  })

  test('is good each time, one after the other, while files come and go', async () => {
    const server = await startServer({ env: BOUNDLESS })
    const callers = await Promise.all(Array.from({ length: CALLERS }, () => tokenCaller(server.url)))
    const load = startLoad(server, await stageSome(server, callers, ROUND_FILES))
    const copyDir = join(tempDirectory(), 'copy')
    const took = { backups: [] as number[], restores: [] as number[] }
    for (let round = 0; round < PLAN.backupRounds; round += 1) {
      const made = await lade(['backup', copyDir, '--data-dir', server.dataDir, '--json'])
      expect(made, `backup ${round}: ${made.stderr}`).toMatchObject({ exitCode: 0 })
      const to = join(tempDirectory(), 'data')
      const restored = await lade(['restore', copyDir, '--data-dir', to, '--json'])
      expect(restored, `restore ${round}: ${restored.stderr}`).toMatchObject({ exitCode: 0 })
      expect(JSON.parse(restored.stdout)).toMatchObject({
        blobs: { problems: [] },
        records: { problems: [], drift: [] },
      })
      const { reservations, pending, integrity } = readDataDirectory(to)
      expect({ reservations, pending, integrity }).toEqual({ reservations: [], pending: [], integrity: 'ok' })
      rmSync(to, { recursive: true })
      took.backups.push(made.tookMs)
      took.restores.push(restored.tookMs)
    }
    const { uploads } = await load.stop()
    process.stdout.write(
      `\n${PLAN.backupRounds} backups and restores during ${uploads} uploads: a backup takes ${inSeconds(median(took.backups))} ` +
        `(at most ${inSeconds(Math.max(...took.backups))}), a restore ${inSeconds(median(took.restores))} ` +
        `(at most ${inSeconds(Math.max(...took.restores))})\n`,
    )
  })
})
