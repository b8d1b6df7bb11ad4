import { type ContentDigests, digestsWanted } from '@lade/core/content'
import { isCarMediaType } from '@lade/core/wire'
import type { BodyBill } from '@lade/node/budget/body-bill'
import type { ContentHasher, ContentHashers } from '@lade/node/hashing/content-hasher'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { PartFile, RecordStore } from '../records/record-store.ts'
import { composedBody } from '../retrieval/composed-body.ts'
import { openObject } from '../retrieval/open-object.ts'
import { type AdmitInput, LEASE_MS, quotaRefusal, type SizedHead, type Terms } from './admit-upload.ts'
import type { Reservations } from './reservations.ts'

const BLOCK_BYTES = 1024 * 1024
/** Enough for hashers of unequal speed to be busy at once. */
const BLOCKS = 4

export interface ReadPartsDeps {
  readonly records: RecordStore
  readonly reservations: Reservations
  readonly blobs: BlobStore
  readonly hashers: ContentHashers
  readonly instanceId: string
  readonly now: () => number
  readonly newId: () => string
}

export interface ReadPartsInput extends Pick<AdmitInput, 'tier'> {
  readonly head: SizedHead
  readonly admit: Terms['admit']
  readonly parts: readonly PartFile[]
  /** Ends the reading; its reason is what the call rejects with. */
  readonly signal: AbortSignal
  /** Charged for the hashing. */
  readonly bill: BodyBill
}

/**
 * Reads the parts one behind the other through every hasher that the id of the whole needs, as an upload of it would be
 * read. Counts as an upload in flight meanwhile. Memory is four blocks.
 *
 * @throws {LadeError} `too_many_uploads`, `storage_failed`.
 */
export async function readParts(deps: ReadPartsDeps, input: ReadPartsInput): Promise<ContentDigests> {
  const { instanceId } = deps
  const { tier, admit, parts, signal, bill } = input
  const { cid, sizeBytes, contentType } = input.head
  const now = deps.now()
  const reservationId = deps.newId()
  // Whether it fits the day, as a file and with what is repeated, is for its commit to say.
  const asked = { ...admit, sizeBytes: 0, capBytes: Number.MAX_SAFE_INTEGER }
  const reserved = await deps.reservations.make({ ...asked, reservationId, instanceId, leaseUntil: now + LEASE_MS })
  if (reserved.outcome !== 'reserved') throw quotaRefusal({ tier, sizeBytes }, reserved, now)
  const wanted = digestsWanted(cid, sizeBytes, { mayBeCar: isCarMediaType(contentType) })
  const hasher = deps.hashers(wanted, sizeBytes, bill)
  const body = composedBody(
    parts.map(({ file }) => file),
    (part) => openObject(deps, part),
  )
  try {
    await hashAll(body.chunks(), hasher, signal)
    return await hasher.digests()
  } finally {
    hasher.discard()
    await body.close()
    await deps.reservations.release({ reservationId, now: deps.now() })
  }
}

async function hashAll(chunks: AsyncIterable<Uint8Array>, hasher: ContentHasher, signal: AbortSignal): Promise<void> {
  // Chunks are only valid for a moment, and the hasher keeps several blocks busy at once.
  const blocks = Array.from({ length: BLOCKS }, () => ({
    bytes: Buffer.from(new SharedArrayBuffer(BLOCK_BYTES)),
    used: Promise.resolve(),
  }))
  let turn = 0
  let filledBytes = 0
  const hand = (): void => {
    const block = blocks[turn]
    if (block === undefined || filledBytes === 0) return
    block.used = hasher.update(block.bytes.subarray(0, filledBytes))
    // Looked at when the block's turn comes again, and at the end.
    block.used.catch(() => {})
    turn = (turn + 1) % BLOCKS
    filledBytes = 0
  }
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    for (let at = 0; at < chunk.length; ) {
      const block = blocks[turn]
      if (filledBytes === 0) await block?.used
      const part = chunk.subarray(at, at + BLOCK_BYTES - filledBytes)
      block?.bytes.set(part, filledBytes)
      at += part.length
      filledBytes += part.length
      if (filledBytes === BLOCK_BYTES) hand()
    }
  }
  hand()
  await Promise.all(blocks.map(({ used }) => used))
}
