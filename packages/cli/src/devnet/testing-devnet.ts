import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { DevnetFacts } from './devnet-facts.ts'

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))

/** `lade devnet` as somebody at a shell runs it. */
export interface DevnetProcess {
  readonly pid: number
  stdout(): string
  stderr(): string
  /** Sends a signal to its process group, as a terminal does, and waits for the end. */
  end(signal: NodeJS.Signals): Promise<number | null>
  /** Waits for the end, and answers the exit code; null after SIGKILL. */
  readonly exited: Promise<number | null>
}

/** A new folder that is gone after the test. */
export async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'lade-devnet-test-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return dir
}

/** Starts it in a process group of its own; a test that fails leaves nothing behind. */
export function runDevnet(args: readonly string[], env: Readonly<Record<string, string>> = {}): DevnetProcess {
  const child = spawn(process.execPath, [MAIN, 'devnet', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString('utf8')
  const exited = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const { pid } = child
  if (pid === undefined) throw new Error('the devnet has no process id')
  return {
    pid,
    stdout: () => text(stdout),
    stderr: () => text(stderr),
    async end(signal) {
      process.kill(-pid, signal)
      return exited
    },
    exited,
  }
}

/** What a devnet with `--json` says once it is ready. */
export async function factsOf(devnet: DevnetProcess): Promise<DevnetFacts> {
  await expect.poll(devnet.stdout, { timeout: 45_000 }).toContain('\n')
  return JSON.parse(devnet.stdout())
}

/** Every process of a devnet. */
export function pidsOf({ service, chain, provers }: DevnetFacts): number[] {
  return [service.pid, chain.pid, ...provers.map(({ pid }) => pid)]
}

/** The processes that a process has started, and theirs. */
export function descendantsOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number)
  return [...children, ...children.flatMap(descendantsOf)]
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Whether somebody listens where the parts of a devnet did. */
export async function openPorts({ service, chain, provers }: DevnetFacts): Promise<string[]> {
  const urls = [service.url, chain.rpcUrl, ...provers.map(({ url }) => url)]
  const answers = await Promise.all(urls.map(answersAt))
  return urls.filter((_, index) => answers[index])
}

function answersAt(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
