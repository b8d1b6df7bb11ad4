import { parentPort } from 'node:worker_threads'
import { measuredResult } from '../budget/measured.ts'
import type { LaneAnswer, LaneCall, LaneReply } from './lane-calls.ts'
import { type BodyLanes, openLanes } from './lanes.ts'
import { sha256HashingWith } from './sha256-hashing.ts'

/** A thread that runs lanes of big bodies, a call at a time. */
if (parentPort === null) throw new TypeError('lane-worker.ts runs as a worker')
type Answer = Omit<LaneAnswer, 'processorMs'>
const parent = parentPort
const bodies = new Map<number, BodyLanes>()
const DONE: Answer = {}

parent.on('message', (call: LaneCall) => {
  const { result, processorMs } = measuredResult(() => answerOrError(call))
  parent.postMessage({ ...result, processorMs } satisfies LaneReply)
})

// The first message answers nothing: it says that this module has loaded.
parent.postMessage(DONE)

function answerOrError(call: LaneCall): Answer | { readonly error: unknown } {
  try {
    return answerTo(call)
  } catch (error) {
    // The other bodies have nothing to do with it.
    discard(call.body)
    return { error }
  }
}

function answerTo(call: LaneCall): Answer {
  switch (call.call) {
    case 'open':
      bodies.set(
        call.body,
        openLanes(call.lanes, {
          sizeBytes: call.sizeBytes,
          hashing: call.withoutAddon ? sha256HashingWith(undefined) : undefined,
        }),
      )
      return DONE
    case 'block':
      lanesOf(call.body).update(call.block)
      return { heldBytes: lanesOf(call.body).heldBytes() }
    case 'close': {
      const results = lanesOf(call.body).finish()
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

function lanesOf(body: number): BodyLanes {
  const lanes = bodies.get(body)
  if (lanes === undefined) throw new TypeError('this body is not open')
  return lanes
}
