import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { tempDirectory } from './temp-directory.ts'

/** The threads of a server that touch the disk: HTTP, the files of objects, the records. */
export const THREADS = { http: 'MainThread', files: 'libuv-worker', records: 'WorkerThread' } as const
export type ThreadName = keyof typeof THREADS

/** With one thread for files, the n-th call of the thread is the n-th call. */
export const ONE_FILE_THREAD = { UV_THREADPOOL_SIZE: '1' }

/** Calls by which an upload changes the disk, or tells anyone that it did. */
const CHANGING_CALLS = 'openat,write,writev,pwrite64,fsync,fdatasync,ftruncate,rename,unlink,rmdir,mkdir,close'

/** A watched thread. */
export interface SyscallTrace {
  /** The calls so far, one a line, descriptors with their paths. */
  lines(): readonly string[]
  /** Stops watching; the thread runs on, if it still lives. */
  detach(): Promise<void>
}

/**
 * Watches one thread of a process with strace from now on, and injects what `injections` say, in strace's own words
 * such as `fsync:error=EIO:when=1`. Counts start at this moment, for every call by itself.
 *
 * @throws {Error} when the thread is not there or cannot be watched within 10 s.
 */
export async function traceThread(
  pid: number,
  thread: ThreadName,
  injections: readonly string[] = [],
): Promise<SyscallTrace> {
  const tid = threadId(pid, THREADS[thread])
  const file = join(tempDirectory(), 'trace')
  const args = ['-qq', '-y', '-o', file, '-p', String(tid), '-e', `trace=${CHANGING_CALLS}`, '-e', 'signal=none']
  const strace = spawn('strace', [...args, ...injections.flatMap((injection) => ['-e', `inject=${injection}`])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  strace.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const exited = new Promise<void>((resolve) => strace.once('exit', () => resolve()))
  const detach = async (): Promise<void> => {
    strace.kill('SIGTERM')
    await exited
  }
  onTestFinished(detach)
  for (const end = Date.now() + 10_000; !isTraced(pid, tid); await sleep(5)) {
    if (Date.now() > end || strace.exitCode !== null) throw new Error(`strace does not watch thread ${tid}: ${said}`)
  }
  return { lines: () => readFileSync(file, 'utf8').split('\n').filter(Boolean), detach }
}

/** How often each call stands in a trace. */
export function callCounts(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) {
    const call = /^(\w+)\(/.exec(line)?.[1]
    if (call !== undefined) counts.set(call, (counts.get(call) ?? 0) + 1)
  }
  return counts
}

function threadId(pid: number, name: string): number {
  const tasks = `/proc/${pid}/task`
  const tid = readdirSync(tasks).find((task) => readFileSync(`${tasks}/${task}/comm`, 'utf8').trim() === name)
  if (tid === undefined) throw new Error(`Process ${pid} has no thread ${name}.`)
  return Number(tid)
}

function isTraced(pid: number, tid: number): boolean {
  const status = readFileSync(`/proc/${pid}/task/${tid}/status`, 'utf8')
  return !/^TracerPid:\s*0$/m.test(status)
}
