import { spawn } from 'node:child_process'

const TIMEOUT_MS = 60_000

export interface Outcome {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  readonly cwd: string
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>
  /** @default 60_000 */
  readonly timeoutMs?: number
}

/** Runs a program to its end, and ends it when that takes too long. */
export function runProgram(program: string, args: readonly string[], options: ProgramOptions): Promise<Outcome> {
  const { timeoutMs: timeout = TIMEOUT_MS, ...rest } = options
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'], timeout })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, stdout, stderr }))
  })
}
