import type { BlobStore } from '../blobs/blob-store.ts'
import type { InstallationRecords } from '../records/record-store.ts'
import { writeDocument } from './installation-document.ts'

/**
 * Makes records and objects those of a new installation, whatever they were before. No service may run on either. After a crash in between
 * no service starts until this has been called again.
 *
 * @throws {LadeError} `storage_failed`, `insufficient_storage`.
 */
export async function renewInstallation(request: {
  readonly installation: Pick<InstallationRecords, 'replace'>
  readonly store: Pick<BlobStore, 'installation' | 'traits'>
  readonly id: string
}): Promise<void> {
  const { installation, store, id } = request
  const isPaired = store.traits.durable
  await installation.replace({ id, isPaired, progress: 0 })
  if (isPaired) await writeDocument(store, { id, progress: 0 })
}
