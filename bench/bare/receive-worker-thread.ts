/**
 * Bare server: as `receive-main-thread.ts`, but hashing and writing happen on a worker thread. The bytes reach it
 * through a ring of shared buffers; only slot numbers are sent. One upload at a time.
 *
 * Argument: `{"dir": "…"}`. Prints its address; answers `{"sha256": "…"}`.
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { coalesce } from './coalesce.ts'
import { serveBare } from './serve-bare.ts'
import type { FromWriter, ToWriter } from './write-worker.ts'

const BUFFER_BYTES = 1024 * 1024
/** Deep enough that the worker always has a next one. */
const BUFFERS = 6

const { dir }: { dir: string } = JSON.parse(process.argv[2] ?? '')
const slots = Array.from({ length: BUFFERS }, () => new SharedArrayBuffer(BUFFER_BYTES))
const slotOf = new Map(slots.map((slot, index) => [slot, index]))
const free = slots.map((slot) => Buffer.from(slot))
const releases = new Map<number, () => void>()
const worker = new Worker(new URL('./write-worker.ts', import.meta.url), { workerData: slots })
let uploads = 0
let onDigest: ((sha256: string) => void) | undefined

worker.on('message', (message: FromWriter) => {
  if ('sha256' in message) onDigest?.(message.sha256)
  else releases.get(message.slot)?.()
})
await once(worker, 'online')

const tell = (message: ToWriter): void => worker.postMessage(message)

serveBare(async (request) => {
  const digest = new Promise<string>((resolve) => {
    onDigest = resolve
  })
  tell({ create: `${dir}/bare-${uploads++}` })
  await coalesce(request, free, (bytes, release) => {
    const slot = slotOf.get(bytes.buffer as SharedArrayBuffer)
    if (slot === undefined) throw new TypeError('a buffer from outside the ring')
    releases.set(slot, release)
    tell({ slot, lengthBytes: bytes.length })
  })
  tell({ finish: true })
  return JSON.stringify({ sha256: await digest })
})
