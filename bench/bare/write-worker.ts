/** Worker thread of `receive-worker-thread.ts`: hashes and writes the slots of a shared ring, in order. */
import { createHash } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { DurableFile } from './durable-file.ts'

/** Starts a file, adds the first `lengthBytes` of a slot to it, or ends it. */
export type ToWriter = { create: string } | { slot: number; lengthBytes: number } | { finish: true }
/** A slot is free again, or the file is durable. */
export type FromWriter = { slot: number } | { sha256: string }

const port = parentPort
if (port === null) throw new TypeError('runs as a worker thread only')
const tell = (message: FromWriter): void => port.postMessage(message)
const slots: Buffer[] = (workerData as SharedArrayBuffer[]).map((slot) => Buffer.from(slot))

let hash = createHash('sha256')
let file: Promise<DurableFile> | undefined

port.on('message', async (message: ToWriter) => {
  if ('create' in message) {
    hash = createHash('sha256')
    file = DurableFile.create(message.create)
    return
  }
  const opened = await file
  if (opened === undefined) throw new TypeError('no file was created')
  if ('finish' in message) {
    await opened.finish()
    tell({ sha256: hash.digest('hex') })
    return
  }
  const bytes = slots[message.slot]?.subarray(0, message.lengthBytes)
  if (bytes === undefined) throw new TypeError(`no slot ${message.slot}`)
  // A slot is free once it is both written and hashed; hashing ends in this turn, before any callback.
  opened.append(bytes, () => tell({ slot: message.slot }))
  hash.update(bytes)
})
