import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { NotSo } from './walk.ts'

const LADE = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

/** What `lade devnet --json` says. */
export interface DevnetFacts {
  readonly dir: string
  readonly service: { readonly url: string; readonly pid: number }
  readonly chain: { readonly rpcUrl: string; readonly chainId: number; readonly pid: number }
  readonly usdc: `0x${string}`
  readonly marketplace: `0x${string}`
  readonly provers: readonly {
    readonly name: string
    readonly url: string
    readonly account: string
    readonly pid: number
  }[]
  readonly operator: string
  readonly wallet: { readonly address: string; readonly keyFile: string }
}

export interface OwnDevnet {
  readonly facts: DevnetFacts
  /** Takes it down, and answers its exit code. */
  stop(): Promise<number | null>
}

/** Runs `lade devnet`, which goes on when a prover is killed. */
export async function startOwnDevnet(): Promise<OwnDevnet> {
  const child = spawn(process.execPath, [LADE, 'devnet', '--json', '--provers-may-end'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const stop = async (): Promise<number | null> => {
    child.kill('SIGTERM')
    await closed
    return child.exitCode
  }
  const line = await Promise.race([firstLine(child), closed.then(() => undefined)])
  if (line === undefined) throw new NotSo('The devnet did not start.')
  return { facts: JSON.parse(line), stop }
}

async function firstLine({ stdout }: ChildProcess): Promise<string | undefined> {
  if (stdout === null) throw new TypeError('the output of the devnet is not connected')
  const [line]: (string | undefined)[] = await once(createInterface({ input: stdout }), 'line')
  return line
}

/** Runs the command line to its end, and gives what it printed. @throws {NotSo} when it fails. */
export async function lade(args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(process.execPath, [LADE, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new NotSo(`lade ${args[0]} ended with ${code}.`)
  return Buffer.concat(chunks).toString('utf8')
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
