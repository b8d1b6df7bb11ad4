import type { BlobStore } from '../blobs/blob-store.ts'
import type { RecordStore } from '../records/record-store.ts'
import { belongTogether, compareSamples } from './compare-samples.ts'
import { type InstallationDocument, readDocument, UnreadableDocument, writeDocument } from './installation-document.ts'
import { type InstallationPlaces, type InstallationProblem, InstallationRefused } from './installation-refused.ts'

export interface JoinDeps {
  readonly records: Pick<RecordStore, 'installation' | 'inventory'>
  readonly store: Pick<BlobStore, 'installation' | 'list' | 'stat'>
  readonly places: InstallationPlaces
  /** Makes the id of a new installation. */
  readonly newId: () => string
}

/**
 * Makes sure that records and objects are of one installation. Where neither side has an id and they belong together, both get one; in
 * every other case nothing is written.
 *
 * The records get the id first, then the objects, and then the records note that the objects have it. After a crash in between, the
 * next call goes on. Several instances may call this at the same time.
 *
 * @returns the id of the installation.
 * @throws {InstallationRefused} when they are of two installations, one is missing, or the records are older than the objects.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`.
 */
export async function joinInstallation(deps: JoinDeps): Promise<string> {
  const { records, store } = deps
  const found = await findProblem(deps)
  if (found.problem !== undefined) throw new InstallationRefused(found.problem, deps.places)
  if (found.isJoined) return found.id
  const { id } = await records.installation.offer(deps.newId())
  await writeDocument(store, { id, progress: 0 }, { ifAbsent: true })
  // Another instance, or another installation, may have been first.
  const written = await documentOf(store)
  if (written === 'unreadable') throw new InstallationRefused({ kind: 'unreadable_document' }, deps.places)
  if (written === undefined || written.id !== id) {
    const problem = { kind: 'different_ids', recordsId: id, objectsId: written?.id ?? 'none' } as const
    throw new InstallationRefused(problem, deps.places)
  }
  await records.installation.pair(id)
  return id
}

/** What {@link findProblem} found. `isJoined`: both sides have this id, and nothing is left to write. */
export type InstallationState =
  | { readonly problem: InstallationProblem }
  | { readonly problem?: undefined; readonly isJoined: true; readonly id: string }
  | { readonly problem?: undefined; readonly isJoined: false }

/** Reads both sides and writes nothing. @throws {LadeError} `storage_failed`. */
export async function findProblem({ records, store }: Pick<JoinDeps, 'records' | 'store'>): Promise<InstallationState> {
  // The objects first: their document is written after the records were, and would seem to be ahead of them otherwise.
  let document = await documentOf(store)
  const recorded = await records.installation.find()
  // An instance may have written it between the two looks.
  if (document === undefined && recorded?.isPaired === true) document = await documentOf(store)
  if (document === 'unreadable') return { problem: { kind: 'unreadable_document' } }
  if (document === undefined) {
    if (recorded?.isPaired === true) return { problem: { kind: 'objects_missing' } }
    const samples = await compareSamples({ store, inventory: records.inventory })
    if (belongTogether(samples)) return { isJoined: false }
    return { problem: samples.stored === 0 ? { kind: 'objects_missing' } : { kind: 'unknown_objects', samples } }
  }
  const { id: objectsId, progress: objectsProgress } = document
  if (recorded === undefined) return { problem: { kind: 'records_without_id', objectsId } }
  const { id, isPaired, progress } = recorded
  if (id !== objectsId) return { problem: { kind: 'different_ids', recordsId: id, objectsId } }
  if (progress < objectsProgress) {
    return { problem: { kind: 'rolled_back', recordsProgress: progress, objectsProgress } }
  }
  return isPaired ? { isJoined: true, id } : { isJoined: false }
}

async function documentOf(
  store: Pick<BlobStore, 'installation'>,
): Promise<InstallationDocument | 'unreadable' | undefined> {
  try {
    return await readDocument(store)
  } catch (error) {
    if (error instanceof UnreadableDocument) return 'unreadable'
    throw error
  }
}
