import type { BlobStore } from '../blobs/blob-store.ts'
import { sha256Of } from '../records/object-handle.ts'
import type { FileRecord, ObjectPart, PartFile, RecordStore } from '../records/record-store.ts'

/** Questions to the store at a time; each may be a request to a bucket. */
const AT_ONCE = 16

export interface LostPartsDeps {
  readonly records: Pick<RecordStore, 'files' | 'compositions'>
  readonly blobs: Pick<BlobStore, 'stat'>
}

/**
 * The parts whose bytes are not stored, although their records are. It compares sizes, of each object once, and reads nothing.
 *
 * @returns the sequences of their files.
 * @throws {LadeError} `storage_failed` when the store does not say.
 */
export async function lostParts(deps: LostPartsDeps, parts: readonly PartFile[]): Promise<Set<number>> {
  const files = new Map(parts.map(({ file }) => [file.sequence, file]))
  const waiting = [...files.values()]
  const lost = new Set<number>()
  const checkAll = async (): Promise<void> => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (!(await isStored(deps, file))) lost.add(file.sequence)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, checkAll))
  return lost
}

async function isStored(deps: LostPartsDeps, file: Pick<FileRecord, 'object' | 'sizeBytes'>): Promise<boolean> {
  if (await isObjectStored(deps, file)) return true
  const parts = await deps.records.compositions.partsOf(file.object)
  const distinct = new Map(parts.map((part) => [part.object, part]))
  for (const part of distinct.values()) if (!(await isObjectStored(deps, part))) return false
  return parts.length > 0
}

/** Of an object that is not composed. */
async function isObjectStored({ records, blobs }: LostPartsDeps, { object, sizeBytes }: ObjectPart): Promise<boolean> {
  const sha256 = sha256Of(object)
  // Most parts are big, and so are blobs.
  const blob = sha256 === null ? undefined : await blobs.stat(sha256)
  if (blob !== undefined) return blob.sizeBytes === sizeBytes
  return (await records.files.inlineBytes(object))?.length === sizeBytes
}
