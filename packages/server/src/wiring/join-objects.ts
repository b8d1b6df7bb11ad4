import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { LadeError } from '@lade/core/errors'
import { hasCode } from '@lade/node/disk/durable-directory'
import { StartError } from '@lade/node/settings'
import type { Logger } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import { holdsStore } from '../blobs/drivers/fs/fs-installation.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase, describeStorage } from '../config/describe.ts'
import { type InstallationPlaces, InstallationRefused } from '../installation/installation-refused.ts'
import { joinInstallation } from '../installation/join-installation.ts'
import { createProgressKeeper, type ProgressKeeper } from '../installation/progress-keeper.ts'
import type { RecordStore } from '../records/record-store.ts'
import { openBlobs } from './open-drivers.ts'

/** How often it is written beside the objects how far the records have come; a bucket is paid by the request. */
const KEEP_EVERY_MS = { file: 1000, s3: 5000, none: 5000 } as const

export type JoinConfig = Pick<Config, 'database' | 'storage'>

/**
 * Refuses to make a new database beside the objects of an installation. Before the records are opened; reads only.
 *
 * @throws {StartError}
 */
export async function refuseMissingDatabase(config: Config): Promise<void> {
  if (!(await isDatabaseMissing(config))) return
  throw asStartError(new InstallationRefused({ kind: 'database_missing' }, placesOf(config)))
}

/** True where a new database would be made beside the objects of an installation. Reads only. */
export async function isDatabaseMissing(config: Config): Promise<boolean> {
  const { database, storage } = config
  if (database.kind !== 'sqlite' || existsSync(database.file) || storage.kind === 'none') return false
  if (!(await hasStore(config))) return false
  const store = await openBlobs(config)
  if (store === undefined) return false
  try {
    return (await store.installation.read()) !== undefined || !(await isEmpty(store))
  } finally {
    await store.close()
  }
}

/** False for a directory that is missing, or in which no store has ever been, such as the mount point of a disk that is not mounted. */
export async function hasStore({ storage }: Pick<Config, 'storage'>): Promise<boolean> {
  return storage.kind !== 'file' || isStoreAt(storage.dir)
}

/**
 * Refuses to make a directory for objects, or to use an empty one, where the records have objects already: a disk that is not mounted
 * would hide what is uploaded meanwhile. Before the store is opened; reads only.
 *
 * @throws {StartError}
 */
export async function refuseMissingObjects(config: JoinConfig, records: RecordStore): Promise<void> {
  if (await hasStore(config)) return
  const isPaired = (await records.installation.find())?.isPaired === true
  if (!isPaired && (await records.inventory.stored({ after: '', limit: 1 })).length === 0) return
  throw asStartError(new InstallationRefused({ kind: 'objects_missing' }, placesOf(config)))
}

/**
 * Makes sure that records and objects belong together, before anything is swept or taken.
 *
 * @returns what keeps a number beside the objects while the service runs; undefined without a store that outlives the process.
 * @throws {StartError}
 */
export async function joinObjects(
  config: JoinConfig,
  deps: { readonly records: RecordStore; readonly store: BlobStore | undefined; readonly log: Logger },
): Promise<ProgressKeeper | undefined> {
  const { records, store, log } = deps
  if (store?.traits.durable !== true) return undefined
  let id: string
  try {
    id = await joinInstallation({ records, store, places: placesOf(config), newId: randomUUID })
  } catch (error) {
    if (error instanceof InstallationRefused) throw asStartError(error)
    if (!LadeError.has(error, 'insufficient_storage') && !LadeError.has(error, 'read_only')) throw error
    // They belong together, and the next start with room gives them their id.
    log.warn({ err: error }, 'could not give the database and the file storage an id')
    return undefined
  }
  const keeper = createProgressKeeper({ installation: records.installation, store, id, log })
  // A log that is lost right after the start is noticed too.
  await keeper.keep({ isForced: true })
  keeper.start(KEEP_EVERY_MS[config.storage.kind])
  return keeper
}

/** How records and objects are called in messages. */
export function placesOf({ database, storage }: JoinConfig): InstallationPlaces {
  return { records: describeDatabase(database), objects: describeStorage(storage) }
}

function asStartError(error: InstallationRefused): StartError {
  return new StartError(error.message, { cause: error })
}

async function isEmpty(store: BlobStore): Promise<boolean> {
  for await (const _ of store.list({ limit: 1 })) return false
  return true
}

/** True when the directory is there and a store has been in it. */
async function isStoreAt(dir: string): Promise<boolean> {
  try {
    return holdsStore(await readdir(dir))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
