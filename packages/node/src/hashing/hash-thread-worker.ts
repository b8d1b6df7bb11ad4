import { parentPort } from 'node:worker_threads'
import { measuredResult } from '../budget/measured.ts'
import type { HashAnswer, HashCall, HashReply, OpenBody } from './hash-calls.ts'
import { type BodyStreams, openStreams, type StreamResult } from './hash-streams.ts'
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
    case 'block': {
      const streams = streamsOf(call)
      streams.update(call.block)
      return call.isLast ? { results: closed(call.body, streams) } : { heldBytes: streams.heldBytes() }
    }
    case 'close':
      return { results: closed(call.body, streamsOf(call)) }
    case 'discard':
      discard(call.body)
      return DONE
  }
}

function discard(body: number): void {
  bodies.get(body)?.discard()
  bodies.delete(body)
}

function closed(body: number, streams: BodyStreams): readonly StreamResult[] {
  const results = streams.finish()
  bodies.delete(body)
  return results
}

function streamsOf({ body, open }: Extract<HashCall, { open: unknown }>): BodyStreams {
  const streams = open === undefined ? bodies.get(body) : opened(open)
  if (streams === undefined) throw new TypeError('this body is not open')
  bodies.set(body, streams)
  return streams
}

function opened({ streams, sizeBytes, withoutAddon }: OpenBody): BodyStreams {
  return openStreams(streams, { sizeBytes, hashing: withoutAddon ? sha256HashingWith(undefined) : undefined })
}
