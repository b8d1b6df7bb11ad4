import { parentPort } from 'node:worker_threads'
import { answerOf } from '@lade/core/dag'
import { processorMsOf } from '../budget/work-budget.ts'
import type { ReadingCall, ReadingReply } from './reading-call.ts'

/** A thread that reads blocks, one at a time. */
if (parentPort === null) throw new TypeError('reading-worker.ts runs as a worker')
const parent = parentPort

parent.on('message', ({ question, codec, bytes }: ReadingCall) => {
  let reply: ReadingReply | undefined
  const processorMs = processorMsOf(() => {
    try {
      reply = { answer: answerOf(question, codec, bytes), processorMs: 0 }
    } catch (error) {
      reply = { error, processorMs: 0 }
    }
  })
  parent.postMessage({ ...reply, processorMs }, [...new Set(buffersIn(reply))])
})

// The first message answers nothing: it says that this module has loaded.
parent.postMessage({})

/** The memory of the arrays in an answer, which moves to the other thread. */
function buffersIn(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || value instanceof Error) return []
  if (!ArrayBuffer.isView(value)) return Object.values(value).flatMap(buffersIn)
  return value.buffer instanceof ArrayBuffer && value.byteLength > 0 ? [value.buffer] : []
}
