import { LadeError } from '@lade/core/errors'
import type { HashWants } from './hash-wants.ts'
import type { Hashing } from './hashing.ts'
import type { Slice } from './slice.ts'
import type { WorkerCall, WorkerPort, WorkerReply } from './worker-calls.ts'

/**
 * Hashes in a worker.
 *
 * @throws {Error} when the worker cannot be had; the caller hashes here then.
 */
export async function hashInWorker(port: WorkerPort, wants: HashWants): Promise<Hashing> {
  let waiting: { resolve(reply: WorkerReply): void; reject(error: unknown): void } | undefined
  let broken: Error | undefined
  let onHashed: ((bytes: number) => void) | undefined
  port.listen(
    (reply) => {
      if (reply.reply === 'hashed') return onHashed?.(reply.bytes)
      if (reply.reply === 'failed') return waiting?.reject(errorFrom(reply))
      waiting?.resolve(reply)
    },
    (error) => {
      broken = error
      waiting?.reject(error)
    },
  )
  const ask = <Kind extends WorkerCall['call']>(
    call: WorkerCall & { readonly call: Kind },
    transfer: readonly ArrayBuffer[] = [],
  ) =>
    new Promise<WorkerReply & { readonly reply: Kind }>((resolve, reject) => {
      if (broken !== undefined) return reject(broken)
      waiting = { resolve: resolve as (reply: WorkerReply) => void, reject }
      port.post(call, transfer)
    })
  const close = () => {
    broken ??= new Error('the hashing was given up')
    waiting?.reject(broken)
    port.end()
  }

  try {
    await ask({ call: 'open', wants })
  } catch (error) {
    close()
    throw error
  }
  return {
    async part(slice, report) {
      onHashed = report
      const own = readyToCross(slice)
      const given = own.kind === 'bytes' ? [own.bytes.buffer] : []
      return (await ask({ call: 'part', slice: own }, given)).digests
    },
    finish: async () => (await ask({ call: 'finish' })).digests,
    close,
  }
}

function errorFrom({ reason, message }: WorkerReply & { readonly reply: 'failed' }): Error {
  return reason === undefined ? new Error(message) : new LadeError('source_changed', { reason })
}

/** A view of an array would cross with everything around it. */
function readyToCross(slice: Slice): Slice {
  return slice.kind === 'bytes' ? { kind: 'bytes', bytes: slice.bytes.slice() } : slice
}
