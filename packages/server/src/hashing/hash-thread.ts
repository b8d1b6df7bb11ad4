import { Worker } from 'node:worker_threads'
import { type BlockHashers, hashHere } from './block-hasher.ts'
import type { HashCall, HashReply } from './hash-thread-protocol.ts'

/** Bodies below this are hashed on the calling thread: for a few blocks a thread gains nothing. */
const MIN_BYTES = 4 * 1024 * 1024

/** Hashes big bodies beside the event loop. */
export interface HashThread {
  readonly hashers: BlockHashers
  close(): Promise<void>
}

interface Waiting {
  readonly resolve: (reply: HashReply) => void
  readonly reject: (error: Error) => void
}

/**
 * Starts one thread that hashes for all bodies of 4 MiB and more, so that receiving and hashing have a core each.
 *
 * Blocks must lie in shared memory to cross without a copy; others are copied.
 */
export function startHashThread(): HashThread {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url))
  const waiting: Waiting[] = []
  let ended: Error | undefined
  let lastStream = 0

  const fail = (error: Error): void => {
    ended ??= error
    for (const { reject } of waiting.splice(0)) reject(error)
  }
  worker.on('message', (reply: HashReply) => waiting.shift()?.resolve(reply))
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', () => fail(new Error('The hashing thread has ended.')))
  worker.unref()

  const ask = (call: HashCall): Promise<HashReply> =>
    new Promise((resolve, reject) => {
      if (ended !== undefined) return reject(ended)
      waiting.push({ resolve, reject })
      worker.postMessage(call)
    })

  return {
    hashers: (sizeBytes) => {
      if (sizeBytes < MIN_BYTES) return hashHere(sizeBytes)
      lastStream += 1
      const stream = lastStream
      let isOpen = true
      return {
        async update(block) {
          await ask({ stream, block })
        },
        async digestHex() {
          isOpen = false
          const { digestHex } = await ask({ stream, end: 'digest' })
          if (digestHex === undefined) throw new TypeError('the hashing thread answered out of turn')
          return digestHex
        },
        discard() {
          if (isOpen && ended === undefined) worker.postMessage({ stream, end: 'discard' } satisfies HashCall)
          isOpen = false
        },
      }
    },
    async close() {
      ended ??= new Error('The hashing thread is closed.')
      await worker.terminate()
    },
  }
}
