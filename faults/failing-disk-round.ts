import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { type Caller, send, sponsoredCaller, tokenCaller } from './caller.ts'
import { childrenOf, isRunning } from './child-processes.ts'
import { newContent } from './content.ts'
import { readDataDirectory } from './data-directory.ts'
import { type FailingDisk, type FileSystem, failingDisk } from './failing-disk.ts'
import { brokenInvariants } from './invariants.ts'
import { Ledger, type Staging } from './ledger.ts'
import { BOUNDLESS_QUOTAS } from './load.ts'
import type { SeededRandom } from './seeded-random.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { ONE_FILE_THREAD, traceThread } from './syscall-trace.ts'

const KB = 1024
const MB = 1024 * KB
/** From this size on a log is worth moving into the database. */
const LONG_LOG_BYTES = 1990 * 4120
/** A member that ended is started again after a second, and waits for the others to end. */
const BACK_MS = 60_000

/** What fails. */
export const FAULT_KINDS = [
  'log write',
  'log fsync',
  'checkpoint',
  'object file',
  'object directory',
  'key file',
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export interface RoundOptions {
  readonly fileSystem: FileSystem
  readonly kind: FaultKind
  readonly processes: number
  readonly random: SeededRandom
  /** Variables of every process of the round. */
  readonly env?: Readonly<Record<string, string>>
  /** True to keep the fault so short that the file system survives it. */
  readonly isBrief?: boolean
}

/** What became of one round. */
export interface RoundResult {
  readonly acked: number
  /** Uploads that were answered 503, by what was there after the cut. */
  readonly refusedThere: number
  readonly refusedAbsent: number
  /** True when the file system gave up, so that only a new mount ended the fault. */
  readonly isMountedAgain: boolean
  /** How often a start on the failing disk was refused. */
  readonly refusedStarts: number
  /** What is wrong, in sentences. */
  readonly broken: readonly string[]
}

/** A service on a disk that fails, which is started again and again. */
class Victim {
  readonly dataDir: string
  readonly #options: RoundOptions
  readonly #port: number
  #server: ServerProcess | undefined
  refusedStarts = 0

  constructor(disk: FailingDisk, port: number, options: RoundOptions) {
    this.dataDir = join(disk.path, 'data')
    this.#port = port
    this.#options = options
  }

  get server(): ServerProcess {
    if (this.#server === undefined) throw new TypeError('not started')
    return this.#server
  }

  /** The processes that write. */
  get pids(): readonly number[] {
    return this.#options.processes === 1 ? [this.server.pid] : childrenOf(this.server.pid)
  }

  async start(): Promise<void> {
    const { processes, env } = this.#options
    this.#server = await startServer({
      dataDir: this.dataDir,
      env: {
        ...BOUNDLESS_QUOTAS,
        ...ONE_FILE_THREAD,
        LADE_LOG_LEVEL: 'fatal',
        LADE_PORT: String(this.#port),
        ...(processes > 1 && { LADE_PROCESSES: String(processes) }),
        ...env,
      },
    })
    onTestFinished(() => this.kill())
  }

  /** A start while the disk fails; what it writes to its error stream is the operator's only hint. */
  async startInVain(): Promise<void> {
    try {
      await this.start()
    } catch {
      this.refusedStarts += 1
    }
  }

  async kill(): Promise<void> {
    // A first process that is stopped starts no other.
    if (isRunning(this.server.pid)) this.server.signal('SIGSTOP')
    const pids = childrenOf(this.server.pid)
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    await this.server.kill()
    while (pids.some(isRunning)) await sleep(5)
  }

  /** True when the process has ended; several never end all by themselves. */
  async hasEnded(withinMs: number): Promise<boolean> {
    const end = await Promise.race([this.server.exited, sleep(withinMs, undefined, { ref: false })])
    return end !== undefined
  }

  /** Waits until uploads are taken again. */
  async isBack(ledger: Ledger, caller: Caller): Promise<void> {
    for (const end = Date.now() + BACK_MS; Date.now() < end; await sleep(100)) {
      if ((await ledger.upload(this.server.url, caller, newContent(100)))?.status === 200) return
    }
    throw new Error(`The service does not come back:\n${this.server.log()}`)
  }
}

/** Faults, a restart, uploads, a power cut, another restart, and a look at everything. */
export async function failingDiskRound(options: RoundOptions): Promise<RoundResult> {
  const { fileSystem, kind, random, processes, isBrief = false } = options
  const disk = await failingDisk(fileSystem)
  const victim = new Victim(disk, await freePort(), options)
  const ledger = new Ledger()
  let isMountedAgain = false
  if (kind === 'key file') {
    disk.fail()
    makeKeyIn(victim.dataDir)
    if (random.next() < 0.5) await victim.startInVain()
    disk.recover()
    isMountedAgain = await revive()
  }
  await victim.start()
  const callers = [
    await tokenCaller(victim.server.url),
    await tokenCaller(victim.server.url),
    sponsoredCaller('192.0.2.7'),
  ]
  await uploadSome(victim, ledger, callers, random, 2)
  if (kind !== 'key file') {
    await plant(kind, { disk, victim, ledger, callers, random })
    const isInVain = !isBrief && random.next() < 0.3
    if (processes === 1 && (await victim.hasEnded(1000)) && isInVain) await victim.startInVain()
    if (processes > 1) await sleep(random.between(0, 1500))
    disk.recover()
    if (await revive()) isMountedAgain = true
    else if (processes === 1 && (await victim.hasEnded(2000))) await victim.start()
    else await victim.isBack(ledger, callers[0] as Caller)
    if (isMountedAgain) await victim.start()
  }
  const seen = await servedOf(victim, refusedOf(ledger))
  await uploadSome(victim, ledger, callers, random, random.between(3, 8))

  const load = random.next() < 0.5 ? uploadSome(victim, ledger, callers, random, 10) : undefined
  if (load !== undefined) await sleep(random.between(5, 60))
  const told = ledger.toldUntilNow()
  disk.cut()
  await victim.kill()
  await load
  told.withdrawLater()
  await disk.mountAgain()

  await victim.start()
  const refused = refusedOf(ledger)
  const there = await servedOf(victim, refused)
  const broken = [
    ...(await brokenInvariants(victim.server, ledger)),
    ...(await brokenRefusals(victim, refused, there)),
    ...[...seen]
      .filter((staging) => !there.has(staging))
      .map(({ content }) => `was there before the cut: ${content.cid}`),
  ]
  await ledger.retryUnknowns(victim.server.url)
  for (const sentence of [...ledger.notAcked, ...(await brokenInvariants(victim.server, ledger))]) {
    if (!broken.includes(sentence)) broken.push(sentence)
  }
  await victim.kill()
  return {
    acked: ledger.acks.length,
    refusedThere: there.size,
    refusedAbsent: refused.length - there.size,
    isMountedAgain,
    refusedStarts: victim.refusedStarts,
    broken,
  }

  /** Mounts again when the file system gave up; true then, and the service is to be started. */
  async function revive(): Promise<boolean> {
    if (disk.isWritable()) return false
    if (kind !== 'key file') await victim.kill()
    await disk.mountAgain()
    return true
  }
}

interface Fixture {
  readonly disk: FailingDisk
  readonly victim: Victim
  readonly ledger: Ledger
  readonly callers: readonly Caller[]
  readonly random: SeededRandom
}

/** Makes the disk fail at a certain place while there are uploads. */
async function plant(kind: FaultKind, fixture: Fixture): Promise<void> {
  const { disk, victim, ledger, callers, random } = fixture
  const { url } = victim.server
  const uploads = (sizes: readonly number[]) =>
    Promise.all(sizes.map((sizeBytes) => ledger.upload(url, random.pick(callers), newContent(sizeBytes))))
  const small = () => Array.from({ length: random.between(1, 6) }, () => random.between(100, 60 * KB))
  switch (kind) {
    case 'log write': {
      const call = `pwrite64:error=EIO:when=${random.between(1, 6)}+`
      const traces = await Promise.all(victim.pids.map((pid) => traceThread(pid, 'records', [call])))
      for (let turns = 0; turns < 10 && (await uploads(small())).every((answer) => answer?.status === 200); turns += 1);
      await Promise.all(traces.map((trace) => trace.detach()))
      return
    }
    case 'log fsync': {
      disk.fail()
      await uploads(small())
      return
    }
    case 'checkpoint':
      return failAtCheckpoint(fixture)
    case 'object file': {
      const sizes = Array.from({ length: 4 }, () => random.betweenMagnitudes(300 * KB, 18 * MB))
      const under = uploads(sizes)
      await sleep(random.between(5, 80))
      disk.fail()
      await under
      return
    }
    case 'object directory': {
      // A moment between the rename and the fsync of the directory.
      const traces = await Promise.all(
        victim.pids.map((pid) => traceThread(pid, 'files', ['rename:delay_exit=400000'])),
      )
      const content = newContent(300 * KB)
      const answer = ledger.upload(url, random.pick(callers), content)
      const place = join(victim.dataDir, 'objects', content.cid.slice(0, 2), content.cid)
      for (const end = Date.now() + 5000; !existsSync(place) && Date.now() < end; await sleep(1));
      disk.fail()
      await answer
      await Promise.all(traces.map((trace) => trace.detach()))
      return
    }
    case 'key file':
      return
  }
}

/** Fills the log until pages are being moved out of it, and makes the disk fail before they are flushed. */
async function failAtCheckpoint({ disk, victim, ledger, callers, random }: Fixture): Promise<void> {
  const { url } = victim.server
  const database = join(victim.dataDir, 'lade.db')
  const before = statSync(database).mtimeMs
  const isMoving = (): boolean => statSync(database).mtimeMs !== before
  for (let count = 0; count < 400 && !isMoving(); count += 1) {
    await ledger.upload(url, random.pick(callers), newContent(random.between(50 * KB, 60 * KB)))
    if (statSync(`${database}-wal`).size < LONG_LOG_BYTES) continue
    for (const end = Date.now() + 300; !isMoving() && Date.now() < end; await turn());
  }
  disk.fail()
  await sleep(300)
  if (victim.pids.every(isRunning)) await ledger.upload(url, random.pick(callers), newContent(1 * KB))
}

async function uploadSome(
  { server }: Victim,
  ledger: Ledger,
  callers: readonly Caller[],
  random: SeededRandom,
  each: number,
): Promise<void> {
  await Promise.all(
    callers.map(async (caller) => {
      for (let count = 0; count < each; count += 1) {
        await ledger.upload(server.url, caller, newContent(random.betweenMagnitudes(1 * KB, 600 * KB)))
      }
    }),
  )
}

function refusedOf(ledger: Ledger): Staging[] {
  return ledger.unknowns.filter(({ status }) => status === 503)
}

async function servedOf({ server }: Victim, stagings: readonly Staging[]): Promise<Set<Staging>> {
  const served = new Set<Staging>()
  for (const staging of stagings) {
    if ((await send(server.url, 'GET', `/p/${staging.content.cid}`)).status === 200) served.add(staging)
  }
  return served
}

/** Refused uploads that are neither wholly there nor wholly absent. */
async function brokenRefusals(
  { server, dataDir }: Victim,
  refused: readonly Staging[],
  there: ReadonlySet<Staging>,
): Promise<string[]> {
  const { files } = readDataDirectory(dataDir)
  const broken: string[] = []
  for (const staging of refused) {
    const { caller, content } = staging
    const isThere = there.has(staging)
    const rows = files.filter(
      ({ principal, sha256, isLive }) => principal === caller.principal && sha256 === content.cid && isLive,
    )
    const charged = rows.reduce((sum, row) => sum + row.chargedBytes, 0)
    if (rows.length !== (isThere ? 1 : 0))
      broken.push(`${content.cid} is ${isThere ? '' : 'not '}served and has ${rows.length} rows`)
    if (charged !== (isThere ? content.sizeBytes : 0)) broken.push(`${content.cid} is charged ${charged} bytes`)
    if (caller.headers.Authorization === undefined) continue
    const { status } = await send(server.url, 'GET', `/api/files/${content.cid}`, { headers: caller.headers })
    if ((status === 200) !== isThere)
      broken.push(`${content.cid} is ${isThere ? '' : 'not '}served and listed with ${status}`)
  }
  return broken
}

/** Makes the signing key, as a start does, on a disk that fails. */
function makeKeyIn(dataDir: string): void {
  const module = new URL('../packages/server/src/tokens/key-file.ts', import.meta.url).href
  const file = JSON.stringify(join(dataDir, 'token.key'))
  const script = `import { openKeyFile } from ${JSON.stringify(module)}; await openKeyFile({ file: ${file}, now: new Date() })`
  spawnSync(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
