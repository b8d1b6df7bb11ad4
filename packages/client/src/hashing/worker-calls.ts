import type { HashWants } from './hash-wants.ts'
import type { PartDigests } from './part-hasher.ts'
import type { HexDigests } from './running-hash.ts'
import type { Slice } from './slice.ts'

/** What is asked of a hashing worker, one thing at a time; `open` comes first. */
export type WorkerCall =
  | { readonly call: 'open'; readonly wants: HashWants }
  | { readonly call: 'part'; readonly slice: Slice }
  | { readonly call: 'finish' }

/** What it says: any number of `hashed`, then one of the others for each call. */
export type WorkerReply =
  | { readonly reply: 'hashed'; readonly bytes: number }
  | { readonly reply: 'open' }
  | { readonly reply: 'part'; readonly digests: PartDigests }
  | { readonly reply: 'finish'; readonly digests: HexDigests }
  | { readonly reply: 'failed'; readonly reason: string | undefined; readonly message: string }

/** The near side of a worker, whatever the runtime has for one. */
export interface WorkerPort {
  /** @param transfer - memory that is given away. */
  post(call: WorkerCall, transfer: readonly ArrayBuffer[]): void
  /** Called for every reply, and once with an error when the worker cannot be had or has died. */
  listen(onReply: (reply: WorkerReply) => void, onBroken: (error: Error) => void): void
  end(): void
}
