import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { startChainRelay } from '@lade/prover/testing/chain-relay'
import { onTestFinished } from 'vitest'
import { BASE_ENV } from '../server-process.ts'
import { tempDirectory } from '../temp-directory.ts'
import type { MonthProverOptions } from './testing-prover.ts'

const COMPILE_CACHE = fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url))

interface Program {
  readonly child: ChildProcess
  readonly url: URL
  readonly exited: Promise<unknown>
  log(): string
}

/** Starts a program, and resolves when it has printed its address. It ends with the test. */
async function startProgram(file: URL, argument: string, env: Readonly<Record<string, string>>): Promise<Program> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = COMPILE_CACHE } = process.env
  const child = spawn(process.execPath, [fileURLToPath(file), argument], {
    env: { PATH, HOME, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
  })
  if (child.stdout === null) throw new Error('the process has no output')
  const said = await Promise.race([once(createInterface(child.stdout), 'line'), exited.then(() => [])])
  const [line] = said as readonly unknown[]
  if (typeof line !== 'string' || !URL.canParse(line)) throw new Error(`${file.pathname} printed ${line}:\n${log}`)
  return { child, url: new URL(line), exited, log: () => log }
}

/** One of the three reference provers, a process of its own. */
export interface MonthProver {
  readonly url: URL
  readonly isUp: boolean
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** Waits until it has done what it can about the newest block. */
  settled(): Promise<void>
  log(): string
}

/** Starts a prover that has the chain to itself behind a relay. */
export async function openMonthProver(
  options: Pick<MonthProverOptions, 'rpcUrl' | 'marketplace' | 'privateKey' | 'mostBond'>,
): Promise<MonthProver> {
  const relay = await startChainRelay(options.rpcUrl)
  const dir = tempDirectory()
  const start = (port: number): Promise<Program> => {
    const started: MonthProverOptions = { ...options, rpcUrl: relay.rpcUrl, dir, port }
    return startProgram(new URL('./testing-prover.ts', import.meta.url), JSON.stringify(started), {})
  }
  let program = await start(0)
  let isUp = true
  let log = ''
  const { url } = program
  return {
    url,
    get isUp() {
      return isUp
    },
    async start() {
      program = await start(Number(url.port))
      isUp = true
    },
    async kill() {
      isUp = false
      program.child.kill('SIGKILL')
      await program.exited
      log += program.log()
    },
    settled: () => (isUp ? relay.settled() : Promise.resolve()),
    log: () => log + program.log(),
  }
}

/** The service, whose clock the test sets. */
export interface MonthService {
  readonly url: URL
  readonly dataDir: string
  setTime(ms: number): void
  log(): string
}

export async function startMonthService(env: Readonly<Record<string, string>>, nowMs: number): Promise<MonthService> {
  const dataDir = tempDirectory()
  const own = { ...BASE_ENV, LADE_PORT: '0', LADE_DATA_DIR: dataDir, ...env }
  const { child, url, log } = await startProgram(new URL('./testing-service.ts', import.meta.url), String(nowMs), own)
  return {
    url,
    dataDir,
    setTime(ms) {
      if (child.connected) child.send(ms)
    },
    log,
  }
}
