/**
 * Bare loop: stores distinct small objects durably, a file each, with no HTTP and no hashing in front. The baseline
 * of small uploads. The thread pool is set by `UV_THREADPOOL_SIZE` from outside.
 *
 * Argument: {@link FilePerObjectInput} as JSON. Prints {@link FilePerObjectResult} as JSON.
 */
import { openSync } from 'node:fs'
import { readPeakMemoryBytes } from '../process-usage.ts'
import type { Latency } from '../sample.ts'
import { seededBytes, stamp } from '../stamped-body.ts'
import { percentile } from '../statistics.ts'
import { storeDurably } from './durable-object.ts'

export interface FilePerObjectInput {
  dir: string
  concurrency: number
  warmUpSeconds: number
  seconds: number
  sizeBytes: number
}

export interface FilePerObjectResult {
  completed: number
  seconds: number
  latencyMs: Latency
  peakMemoryBytes: number | undefined
}

const input: FilePerObjectInput = JSON.parse(process.argv[2] ?? '')
const directory = openSync(input.dir, 'r')
let stored = 0

async function storeUntil(deadline: number, latenciesMs: number[]): Promise<void> {
  const body = seededBytes(0, input.sizeBytes)
  while (performance.now() < deadline) {
    const number = stored++
    stamp(body, number)
    const startedAt = performance.now()
    await storeDurably(input.dir, directory, String(number), body)
    latenciesMs.push(performance.now() - startedAt)
  }
}

async function storeFor(seconds: number): Promise<number[]> {
  const latenciesMs: number[] = []
  const deadline = performance.now() + seconds * 1000
  await Promise.all(Array.from({ length: input.concurrency }, () => storeUntil(deadline, latenciesMs)))
  return latenciesMs
}

await storeFor(input.warmUpSeconds)
const startedAt = performance.now()
const latenciesMs = await storeFor(input.seconds)
const seconds = (performance.now() - startedAt) / 1000
const result: FilePerObjectResult = {
  completed: latenciesMs.length,
  seconds,
  latencyMs: { p50: percentile(latenciesMs, 0.5), p99: percentile(latenciesMs, 0.99) },
  peakMemoryBytes: readPeakMemoryBytes(process.pid),
}
console.log(JSON.stringify(result))
