import { LadeError } from '@lade/core/errors'
import { hashHere, type SliceTools } from './hash-here.ts'
import type { Hashing } from './hashing.ts'
import type { WorkerCall, WorkerReply } from './worker-calls.ts'

/** The far side of a hashing worker: answers calls one after the other. */
export function serveHashing(
  tools: SliceTools,
  post: (reply: WorkerReply) => void,
): (call: WorkerCall) => Promise<void> {
  let hashing: Hashing | undefined
  const answer = async (call: WorkerCall): Promise<WorkerReply> => {
    if (call.call === 'open') {
      hashing = await hashHere(call.wants, tools)
      return { reply: 'open' }
    }
    if (hashing === undefined) throw new TypeError('nothing has been opened')
    if (call.call === 'finish') return { reply: 'finish', digests: await hashing.finish() }
    const digests = await hashing.part(call.slice, (bytes) => post({ reply: 'hashed', bytes }))
    return { reply: 'part', digests }
  }
  return async (call) => {
    try {
      post(await answer(call))
    } catch (error) {
      const reason = LadeError.has(error, 'source_changed') ? error.evidence.reason : undefined
      post({ reply: 'failed', reason, message: error instanceof Error ? error.message : String(error) })
    }
  }
}
