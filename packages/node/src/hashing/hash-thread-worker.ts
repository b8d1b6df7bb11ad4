import { parentPort } from 'node:worker_threads'
import { measuredResult } from '../budget/measured.ts'
import type { HashAnswer, HashCall, HashReply } from './hash-calls.ts'
import { type BodyStreams, openStreams } from './hash-streams.ts'
import { sha256HashingWith } from './sha256-hashing.ts'

/** A thread that runs streams of big bodies, a call at a time. */
if (parentPort === null) throw new TypeError('stream-worker.ts runs as a worker')
type Answer = Omit<HashAnswer, 'processorMs'>
const parent = parentPort
const bodies = new Map<number, BodyStreams>()
const DONE: Answer = {}

parent.on('message', (call: HashCall) => {
  const { result, processorMs } = measuredResult(() => answerOrError(call))
  parent.postMessage({ ...result, processorMs } satisfies HashReply)
})

// The first message answers nothing: it says that this module has loaded.
parent.postMessage(DONE)

function answerOrError(call: HashCall): Answer | { readonly error: unknown } {
  try {
    return answerTo(call)
  } catch (error) {
    // The other bodies have nothing to do with it.
    discard(call.body)
    return { error }
  }
}

function answerTo(call: HashCall): Answer {
  switch (call.call) {
    case 'open':
      bodies.set(
        call.body,
        openStreams(call.streams, {
          sizeBytes: call.sizeBytes,
          hashing: call.withoutAddon ? sha256HashingWith(undefined) : undefined,
        }),
      )
      return DONE
    case 'block':
      streamsOf(call.body).update(call.block)
      return { heldBytes: streamsOf(call.body).heldBytes() }
    case 'close': {
      const results = streamsOf(call.body).finish()
      bodies.delete(call.body)
      return { results }
    }
    case 'discard':
      discard(call.body)
      return DONE
  }
}

function discard(body: number): void {
  bodies.get(body)?.discard()
  bodies.delete(body)
}

function streamsOf(body: number): BodyStreams {
  const streams = bodies.get(body)
  if (streams === undefined) throw new TypeError('this body is not open')
  return streams
}
