import { parentPort } from 'node:worker_threads'
import { answerOf, type BlockAnswer } from '@lade/core/dag'
import { measuredResult } from '@lade/node/budget/measured'
import type { ReadingCall, ReadingReply } from './reading-call.ts'

/** A thread that reads blocks, one at a time. */
if (parentPort === null) throw new TypeError('reading-worker.ts runs as a worker')
const parent = parentPort

parent.on('message', (call: ReadingCall) => {
  const { result, processorMs } = measuredResult(() => answerOrError(call))
  parent.postMessage({ ...result, processorMs } satisfies ReadingReply, [...new Set(buffersIn(result))])
})

// The first message answers nothing: it says that this module has loaded.
parent.postMessage({})

function answerOrError({ question, codec, bytes }: ReadingCall): { answer: BlockAnswer } | { error: unknown } {
  try {
    return { answer: answerOf(question, codec, bytes) }
  } catch (error) {
    return { error }
  }
}

/** The memory of the arrays in an answer, which moves to the other thread. */
function buffersIn(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null || value instanceof Error) return []
  if (!ArrayBuffer.isView(value)) return Object.values(value).flatMap(buffersIn)
  return value.buffer instanceof ArrayBuffer && value.byteLength > 0 ? [value.buffer] : []
}
