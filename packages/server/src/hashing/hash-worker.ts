import { parentPort } from 'node:worker_threads'
import type { HashCall, HashReply } from './hash-thread-protocol.ts'
import type { Hasher } from './hasher.ts'
import { createSha256 } from './sha256.ts'

/** The thread that hashes big bodies. Blocks come in shared memory, so that only their address crosses over. */
if (parentPort === null) throw new TypeError('hash-worker.ts runs as a worker')
const parent = parentPort
const streams = new Map<number, Hasher>()

parent.on('message', (call: HashCall) => {
  const hasher = streams.get(call.stream) ?? createSha256()
  if ('block' in call) {
    streams.set(call.stream, hasher)
    hasher.update(call.block)
    parent.postMessage({} satisfies HashReply)
    return
  }
  streams.delete(call.stream)
  if (call.end === 'digest') parent.postMessage({ digestHex: hasher.digestHex() } satisfies HashReply)
})
