import { randomUUID } from 'node:crypto'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeStorage } from '../config/describe.ts'
import { readDocument, UnreadableDocument, writeDocument } from '../installation/installation-document.ts'
import { InstallationRefused } from '../installation/installation-refused.ts'
import { joinInstallation } from '../installation/join-installation.ts'
import type { RecordStore } from '../records/record-store.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { placesOf, refuseMissingObjects } from '../wiring/join-objects.ts'
import { openBlobs } from '../wiring/open-drivers.ts'

/**
 * Makes sure that the records and objects that are to be moved belong together, as a start does.
 *
 * @throws {MoveRefused} when they do not.
 */
export async function joinForMove(config: Config, records: RecordStore): Promise<void> {
  await refuseMissingObjects(config, records)
  const store = await openBlobs(config)
  if (store === undefined) return
  try {
    await joinInstallation({ records, store, places: placesOf(config), newId: randomUUID })
  } catch (error) {
    throw error instanceof InstallationRefused ? new MoveRefused(error.message) : error
  } finally {
    await store.close()
  }
}

/** @throws {MoveRefused} when the destination has objects of another installation. */
export async function refuseOthersObjects(
  { storage }: Pick<Config, 'storage'>,
  { records, store }: { readonly records: RecordStore; readonly store: BlobStore },
): Promise<void> {
  const id = (await records.installation.find())?.id
  const theirs = await documentIdOf(store)
  if (theirs === undefined || theirs === id) return
  for await (const _ of store.list({ limit: 1 })) {
    throw new MoveRefused(
      `${describeStorage(storage)} contains files of another installation. Choose an empty storage.`,
    )
  }
}

/** Writes beside the objects at their new place to which installation they belong. As the last step: no service starts on them before. */
export async function carryInstallation(deps: {
  readonly records: RecordStore
  readonly destination: BlobStore
}): Promise<void> {
  const installation = await deps.records.installation.find()
  if (installation === undefined) throw new TypeError('The installation has no id.')
  const { id, progress } = installation
  await writeDocument(deps.destination, { id, progress })
}

async function documentIdOf(store: BlobStore): Promise<string | undefined> {
  try {
    return (await readDocument(store))?.id
  } catch (error) {
    if (error instanceof UnreadableDocument) return 'unreadable'
    throw error
  }
}
