import { StartError } from '@lade/node/settings'
import { type BackupFolder, nameInstallation } from '../backup/backup-folder.ts'
import { BackupRefused } from '../backup/backup-refused.ts'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeProblem } from '../installation/installation-refused.ts'
import { findProblem } from '../installation/join-installation.ts'
import type { RecordStore } from '../records/record-store.ts'
import { placesOf, refuseMissingObjects } from '../wiring/join-objects.ts'

/** Names the folder that records were restored from, which they may be backed up into again. */
const RESTORED_FROM = 'restored from'

/** Before the storage is opened. @throws {BackupRefused} when the disk of the objects is not mounted. */
export async function requireMounted(config: Config, records: RecordStore): Promise<void> {
  try {
    await refuseMissingObjects(config, records)
  } catch (error) {
    throw error instanceof StartError ? new BackupRefused(error.message) : error
  }
}

/**
 * Makes sure that records and objects belong together and that the records did not go back, since a backup of less would take the place of
 * one of more; and that the folder has no other installation.
 *
 * @throws {BackupRefused}
 * @throws {LadeError} `storage_failed`.
 */
export async function requireOwnFolder(
  config: Config,
  deps: { readonly records: RecordStore; readonly source: BlobStore; readonly folder: BackupFolder },
): Promise<BackupFolder> {
  const { records, source, folder } = deps
  if (source.traits.durable) {
    const { problem } = await findProblem({ records, store: source })
    if (problem !== undefined) {
      throw new BackupRefused(`${describeProblem(problem, placesOf(config))} The previous backup was not changed.`)
    }
  }
  const id = (await records.installation.find())?.id
  const { installation, id: folderId } = folder.manifest
  if (id === undefined || id === installation) return folder
  if (installation !== null && (await records.inventory.mark(RESTORED_FROM)) !== folderId) {
    throw new BackupRefused(`${folder.dir} is the backup of another installation. Choose another folder.`)
  }
  return nameInstallation(folder, id)
}

/** Notes in restored records where they are from. */
export function noteRestoredFrom({ inventory }: RecordStore, folder: BackupFolder): Promise<void> {
  return inventory.setMark({ name: RESTORED_FROM, value: folder.manifest.id })
}
