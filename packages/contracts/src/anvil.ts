import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

/** The npm package that brings the binary; there is one for Linux on x64 only. */
const ANVIL_PACKAGE = '@foundry-rs/anvil-linux-amd64'
const NO_ANVIL = `anvil is missing. Install Foundry, or on Linux x64 the npm package ${ANVIL_PACKAGE}.`
const START_TIMEOUT_MS = 20_000

export interface AnvilOptions {
  /** A block every so many seconds. @default none: a block for every transaction */
  readonly blockTimeSeconds?: number
  /** True for blocks only when they are asked for, by `anvil_mine`. @default false */
  readonly noMining?: boolean
  /** @default 31337 */
  readonly chainId?: number
  /** @default a free one */
  readonly port?: number
  /** A fork of Ethereum, such as `cancun`. @default the newest that it has */
  readonly hardfork?: string
  /**
   * False for a long run: anvil keeps the state of the newest block alone, and does not write those before it to disk. A number: those of so
   * many newest blocks; in a run of 1,000 blocks or more, a reorganisation loses the contracts without it.
   *
   * @default true
   */
  readonly keepsHistory?: boolean | number
}

/** A running chain of one's own, with ten accounts of 10,000 ether each. */
export interface Anvil {
  readonly rpcUrl: string
  readonly pid: number
  /** Resolves when the process is gone, whoever ended it. */
  readonly ended: Promise<void>
  /** Ends the process, and resolves when it is gone. Safe to call twice. */
  stop(): Promise<void>
}

/** The private key of anvil's first account. Everybody knows it. */
export const ANVIL_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/**
 * Starts anvil on 127.0.0.1; it answers when this resolves. It ends with this process at the latest, as far as Node can see to it.
 *
 * @throws {Error} when the binary is not installed, or does not start; nothing is left running then.
 *
 * @example
 * const anvil = await startAnvil({ blockTimeSeconds: 1 })
 * anvil.rpcUrl // 'http://127.0.0.1:36975'
 * await anvil.stop()
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  // Anvil leaves its old states behind, a megabyte for every few blocks.
  const states = await mkdtemp(join(tmpdir(), 'lade-anvil-'))
  const child = spawn(anvilBinary(), [...argumentsOf(options), '--cache-path', states], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const endWithParent = () => void child.kill('SIGKILL')
  process.once('exit', endWithParent)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  }).then(() => rm(states, { recursive: true, force: true }))
  const stop = async (): Promise<void> => {
    process.off('exit', endWithParent)
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(timer)
  }
  try {
    const port = await listeningPort(child)
    if (child.pid === undefined) throw new Error('anvil has no process id')
    return { rpcUrl: `http://127.0.0.1:${port}`, pid: child.pid, ended, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The binary of the npm package; without that, the one that Foundry has installed. */
function anvilBinary(): string {
  try {
    const packageFile = createRequire(import.meta.url).resolve(`${ANVIL_PACKAGE}/package.json`)
    return join(dirname(packageFile), 'bin', 'anvil')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return 'anvil'
    throw error
  }
}

function argumentsOf(options: AnvilOptions): string[] {
  const { blockTimeSeconds, noMining = false, chainId = 31_337, port = 0, hardfork, keepsHistory = true } = options
  return [
    ...['--host', '127.0.0.1', '--port', String(port), '--chain-id', String(chainId)],
    ...(blockTimeSeconds === undefined ? [] : ['--block-time', String(blockTimeSeconds)]),
    ...(noMining ? ['--no-mining'] : []),
    ...(hardfork === undefined ? [] : ['--hardfork', hardfork]),
    ...(keepsHistory === true ? [] : ['--prune-history']),
    ...(typeof keepsHistory === 'number' ? [String(keepsHistory)] : []),
  ]
}

/** Anvil says where it listens, on a line of its own. Its output is read to the end, since it would stand still otherwise. */
async function listeningPort(child: ChildProcess): Promise<string> {
  if (child.stdout === null || child.stderr === null) throw new Error('the output of anvil is not connected')
  let complaint = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-1_000)
  })
  const lines = createInterface({ input: child.stdout })
  const found = Promise.withResolvers<string>()
  lines.on('line', (line) => {
    const port = /^Listening on .*:(\d+)$/.exec(line)?.[1]
    if (port !== undefined) found.resolve(port)
  })
  const timer = setTimeout(() => found.reject(new Error('anvil did not start in time')), START_TIMEOUT_MS)
  child.once('error', (error) => found.reject(new Error(NO_ANVIL, { cause: error })))
  once(child, 'close').then(
    () => found.reject(new Error(`anvil ended at once: ${complaint.trim()}`)),
    () => undefined,
  )
  try {
    return await found.promise
  } finally {
    clearTimeout(timer)
  }
}
