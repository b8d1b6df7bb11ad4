import { LadeError } from '@lade/core/errors'
import { chunkCount } from '@lade/node/hashing/chunk-digests'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { BlobWithoutChunks, IntegrityRecords } from '../records/record-store.ts'
import type { DamageControl } from './damage.ts'
import { digestOfBlob, type SeenBlob } from './digest-of-blob.ts'

const PAGE = 50

export interface RecordChunksDeps {
  readonly integrity: Pick<IntegrityRecords, 'withoutChunks' | 'chunkDigests' | 'setChunkDigests'>
  /** The store itself, whose bytes are all read. */
  readonly blobs: BlobStore
  readonly damage: Pick<DamageControl, 'suspect'>
  /** Called after so many bytes were read; what it waits for holds the work up, and what it throws ends it. */
  readonly onBytes: (sizeBytes: number) => Promise<void>
}

/**
 * Reads the blobs that an older version stored, and records the digests of their chunks, so that ranges of them can be verified.
 *
 * @param afterObject - where to go on; 0 begins.
 * @param isOver - asked before each blob; true ends the work for now.
 * @returns where to go on; undefined when all were looked at. Those that are missing or damaged are left for the scrub.
 */
export async function recordMissingChunks(
  deps: RecordChunksDeps,
  afterObject: number,
  isOver: () => boolean,
): Promise<number | undefined> {
  for (let place = afterObject; ; ) {
    const page = await deps.integrity.withoutChunks({ afterObject: place, limit: PAGE })
    for (const blob of page) {
      if (isOver()) return place
      await recordOne(deps, blob)
      place = blob.number
    }
    if (page.length < PAGE) return undefined
  }
}

async function recordOne({ integrity, blobs, damage, onBytes }: RecordChunksDeps, { sha256 }: BlobWithoutChunks) {
  try {
    const seen = await digestOfBlob(blobs, sha256, onBytes)
    if (seen === undefined) return
    if (seen.actual === sha256) await keepChunks(integrity, seen)
    else await damage.suspect(sha256)
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    // A store that is down says nothing of this blob.
    await blobs.check()
  }
}

/** Has the digests of the chunks of a blob that was right recorded, where they are not. */
export async function keepChunks(
  integrity: Pick<IntegrityRecords, 'chunkDigests' | 'setChunkDigests'>,
  { actual: sha256, sizeBytes, chunkDigests }: SeenBlob,
): Promise<void> {
  if (chunkDigests === undefined) return
  // One more than there should be: too many are wrong, too.
  const count = chunkCount(sizeBytes) + 1
  const recorded = await integrity.chunkDigests({ sha256, from: 0, count })
  if (recorded !== undefined && Buffer.compare(recorded, chunkDigests) === 0) return
  await integrity.setChunkDigests({ sha256, digests: chunkDigests })
}
