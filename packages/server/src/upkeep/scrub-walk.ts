import { LadeError } from '@lade/core/errors'
import type { BlobInfo, BlobStore } from '../blobs/blob-store.ts'
import type { IntegrityRecords, InventoryRecords } from '../records/record-store.ts'
import type { DamageControl } from './damage.ts'
import { digestOfBlob } from './digest-of-blob.ts'
import { type ComparedBlob, mergeByDigest } from './merge-by-digest.ts'
import type { OrphanPolicy } from './orphans.ts'
import { keepChunks } from './record-chunks.ts'
import type { ScrubCounters } from './scrub-mark.ts'

/** Blobs and records that are laid side by side at a time. */
const PAGE = 500

export interface ScrubWalkDeps {
  readonly inventory: InventoryRecords
  readonly integrity: Pick<IntegrityRecords, 'chunkDigests' | 'setChunkDigests' | 'damageOf' | 'clearDamaged'>
  /** The store itself, whose bytes are all read. */
  readonly blobs: BlobStore
  readonly damage: DamageControl
  readonly orphans: Pick<OrphanPolicy, 'meet'>
  /** Called after so many bytes were read; what it waits for holds the walk up, and what it throws ends it. */
  readonly onBytes: (sizeBytes: number) => Promise<void>
  /** Called when a digest is done, with what was met on the way to it since the call before. */
  readonly onDone: (sha256: string, met: Partial<ScrubCounters>) => Promise<void>
}

/**
 * Compares the store with the records, and every blob with its digest, in ascending order from the first digest greater than `after` to
 * the last one less than `before`.
 *
 * Both change meanwhile, so whatever looks wrong is looked at again before anything is said or done about it.
 *
 * @throws {LadeError} `storage_failed` when the store or the records do not answer; a single blob that cannot be read does not end the walk.
 */
export async function scrubWalk(
  deps: ScrubWalkDeps,
  { after, before }: { after: string; before: string },
): Promise<void> {
  for (let place = after; ; ) {
    const page = await nextPage(deps, place, before)
    for (const compared of page.blobs) {
      await deps.onDone(compared.sha256, await scrubOne(deps, compared))
      place = compared.sha256
    }
    if (page.isLast) return
  }
}

/** What is known on both sides up to the same digest: of two lists that go on, the one that ends first says how far. */
async function nextPage(
  { blobs, inventory }: ScrubWalkDeps,
  after: string,
  before: string,
): Promise<{ blobs: readonly ComparedBlob[]; isLast: boolean }> {
  const stored: BlobInfo[] = []
  // The store first: a blob is there before its record.
  for await (const blob of blobs.list({ after, limit: PAGE })) {
    if (blob.sha256 >= before) break
    stored.push(blob)
  }
  const recorded = await inventory.stored({ after, limit: PAGE })
  const ends = [stored, recorded].filter(({ length }) => length >= PAGE).map((list) => list.at(-1)?.sha256 ?? '')
  const end = ends.sort()[0]
  const isWithin = ({ sha256 }: ComparedBlob) => sha256 < before && (end === undefined || sha256 <= end)
  return {
    blobs: [...mergeByDigest(stored, recorded)].filter(isWithin),
    isLast: end === undefined || end >= before,
  }
}

async function scrubOne(
  deps: ScrubWalkDeps,
  { sha256, put, storedBytes, recordedBytes }: ComparedBlob,
): Promise<Partial<ScrubCounters>> {
  if (storedBytes === undefined) return (await reportIfMissing(deps, sha256)) ? { missing: 1 } : {}
  if (recordedBytes === undefined) {
    return (await deps.orphans.meet({ sha256, put })) ? { orphans: 1 } : {}
  }
  return verify(deps, sha256, recordedBytes)
}

async function verify(deps: ScrubWalkDeps, sha256: string, recordedBytes: number): Promise<Partial<ScrubCounters>> {
  const { blobs, damage } = deps
  let bytes = 0
  const count = (sizeBytes: number): Promise<void> => {
    bytes += sizeBytes
    return deps.onBytes(sizeBytes)
  }
  try {
    const seen = await digestOfBlob(blobs, sha256, count)
    if (seen === undefined) return (await reportIfMissing(deps, sha256)) ? { missing: 1 } : {}
    if (seen.actual !== sha256) {
      await damage.suspect(sha256)
      return { blobs: 1, bytes, wrong: 1 }
    }
    if (seen.sizeBytes === recordedBytes) {
      await keepChunks(deps.integrity, seen)
      if ((await deps.integrity.damageOf(sha256)) !== undefined) await deps.integrity.clearDamaged(sha256)
      return { blobs: 1, bytes }
    }
    damage.reportMissing({ sha256, recordedBytes, storedBytes: seen.sizeBytes })
    return { blobs: 1, bytes, missing: 1 }
  } catch (error) {
    if (!LadeError.has(error, 'storage_failed')) throw error
    // A store that is down says nothing of this blob: the walk ends here and is tried again.
    await blobs.check()
    await damage.suspect(sha256)
    return { blobs: 1, bytes, wrong: 1 }
  }
}

/** Reports a blob that a record needs and that is not there. Both come and go, so neither is believed by one look. */
async function reportIfMissing({ blobs, inventory, damage }: ScrubWalkDeps, sha256: string): Promise<boolean> {
  const found = await blobs.stat(sha256)
  const [record] = await inventory
    .stored({ after: sha256.slice(0, -1), limit: 16 })
    .then((all) => all.filter((each) => each.sha256 === sha256))
  if (record === undefined) return false
  if (found === undefined) {
    if ((await blobs.stat(sha256)) !== undefined) return false
    damage.reportMissing({ sha256, recordedBytes: record.sizeBytes, storedBytes: undefined })
    return true
  }
  // Listed after the record was read: a put is there before its record.
  const puts: string[] = []
  for await (const blob of blobs.list({ after: sha256.slice(0, -1), limit: 16 })) {
    if (blob.sha256 === sha256) puts.push(blob.put)
  }
  const [put] = puts
  // Another put has the same bytes, or is found wrong when it is read.
  if (put !== undefined && !puts.includes(record.put)) {
    await inventory.usePut({ sha256, put, missing: record.put })
  }
  return false
}
