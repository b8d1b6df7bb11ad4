/**
 * Loaded into a process of a devnet before its own program (`node --import`): has it end with the process that started it.
 *
 * Standard input is a pipe from that process, which the system closes whatever becomes of it, SIGKILL included. The program
 * gets SIGTERM then, as if somebody had asked it to end, and SIGKILL when it takes too long.
 */
import { isMainThread } from 'node:worker_threads'

const TIMEOUT_MS = 8000

// Threads of the program load this, too, and have no standard input.
if (isMainThread) {
  let isEnding = false
  const end = (): void => {
    if (isEnding) return
    isEnding = true
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), TIMEOUT_MS).unref()
  }
  process.stdin.on('end', end).on('close', end).on('error', end).resume()
  // It must not keep a program running that has come to its end.
  if ('unref' in process.stdin) process.stdin.unref()
}
