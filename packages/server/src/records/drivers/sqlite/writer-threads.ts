import { Worker } from 'node:worker_threads'
import type { WriterMessage, WriterSettings } from './writer-protocol.ts'

/** As many as are open at the same time for long in one process. */
const MAX_IDLE = 2
/** Threads that have closed their file. A start takes ten times as long as the opening of a file. */
const idle: Worker[] = []

/** A thread that writes to this file: one that has closed another file, or else a new one. */
export function takeWriterThread(settings: WriterSettings): Worker {
  const thread = idle.pop() ?? new Worker(new URL('./writer-thread.ts', import.meta.url))
  thread.removeAllListeners()
  thread.ref()
  thread.postMessage({ open: settings } satisfies WriterMessage)
  return thread
}

/** Keeps a thread that has closed its file for the next one. It does not keep the process alive. */
export async function giveBackWriterThread(thread: Worker): Promise<void> {
  thread.removeAllListeners()
  if (idle.length >= MAX_IDLE) return void (await thread.terminate())
  const forget = (): void => {
    const place = idle.indexOf(thread)
    if (place >= 0) idle.splice(place, 1)
  }
  thread.once('error', forget).once('exit', forget)
  thread.unref()
  idle.push(thread)
}
