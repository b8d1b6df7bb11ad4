import { randomBytes } from 'node:crypto'
import type { BlobStore, ResumeOptions } from '../../blob-store.ts'
import { BufferList } from '../../buffer-list.ts'
import type { S3Calls } from './s3-calls.ts'
import type { S3Keys } from './s3-keys.ts'
import type { S3Leftovers } from './s3-leftovers.ts'
import { listKeys } from './s3-objects.ts'
import { S3PendingBlob } from './s3-pending-blob.ts'
import type { S3Puts } from './s3-puts.ts'
import { S3ResumableBlob } from './s3-resumable-blob.ts'
import { sweepHolder } from './s3-sweep.ts'
import { Slots } from './slots.ts'

/** Parts in flight at once, of all uploads together: what they hold in memory beside the part that each one fills. */
const PARTS_IN_FLIGHT = 16
const PART_BUFFERS_KEPT = 8
/** Smaller buffers, for files that are put by one request: fresh memory costs them as much as their digest. */
const SMALL_BUFFERS = { bufferBytes: 1024 * 1024, keepAtMost: 16 }

export interface S3PendingBlobsParts {
  readonly calls: S3Calls
  readonly keys: S3Keys
  readonly puts: S3Puts
  readonly leftovers: S3Leftovers
}

/** The blobs on their way in: those of this process, and what other processes left in `pending/<holder>/`. */
export class S3PendingBlobs {
  readonly #parts: S3PendingBlobsParts
  readonly #buffers: readonly BufferList[]
  readonly #slots = new Slots(PARTS_IN_FLIGHT)
  readonly #byHolder = new Map<string, Set<S3PendingBlob>>()

  constructor(parts: S3PendingBlobsParts) {
    this.#parts = parts
    const { partBytes } = parts.calls.settings
    this.#buffers = [
      new BufferList(SMALL_BUFFERS),
      new BufferList({ bufferBytes: partBytes, keepAtMost: PART_BUFFERS_KEPT }),
    ]
  }

  async begin(options: Parameters<BlobStore['begin']>[0]): Promise<S3PendingBlob> {
    const { holder, sizeBytes, expected } = options
    const { calls, keys, puts, leftovers } = this.#parts
    const id = randomBytes(12).toString('hex')
    const put = options.put ?? id
    const siblings = this.#byHolder.get(holder) ?? new Set()
    this.#byHolder.set(holder, siblings)
    const pending = await S3PendingBlob.begin({
      calls,
      keys,
      slots: this.#slots,
      leftovers,
      buffers: this.#buffers,
      holder,
      id,
      put,
      isOwnKey: options.put === undefined,
      expected,
      sizeBytes,
      onEnd(sha256) {
        siblings.delete(pending)
        if (sha256 !== undefined) puts.remember({ sha256, put })
      },
    })
    siblings.add(pending)
    return pending
  }

  /** Opens the bytes of an upload in several requests; undefined when they are not all there. */
  resume(options: ResumeOptions): Promise<S3ResumableBlob | undefined> {
    const { calls, keys, puts } = this.#parts
    return S3ResumableBlob.open({ calls, keys, puts, slots: this.#slots, buffers: this.#buffers }, options)
  }

  /** Makes the blobs of a holder fail, and removes what they uploaded. Resolves to how many there were. */
  async sweep(holder: string): Promise<number> {
    const blobs = [...(this.#byHolder.get(holder) ?? [])]
    const inMemory = blobs.filter((pending) => pending.isInMemory)
    for (const pending of blobs) pending.sweep()
    this.#byHolder.delete(holder)
    return inMemory.length + (await sweepHolder(this.#parts.calls, this.#parts.keys, holder))
  }

  /** All that have pending blobs, here or in the bucket. */
  async holders(): Promise<string[]> {
    const { calls, keys } = this.#parts
    const holders = new Set([...this.#byHolder].filter(([, blobs]) => blobs.size > 0).map(([holder]) => holder))
    for await (const { groups } of listKeys(calls, { prefix: keys.pending, delimiter: '/' })) {
      for (const group of groups) holders.add(group.slice(keys.pending.length, -1))
    }
    return [...holders]
  }
}
