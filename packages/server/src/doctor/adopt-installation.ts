import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createDurableDirectory } from '@lade/node/disk/durable-directory'
import { pino } from 'pino'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeProblem, type InstallationProblem } from '../installation/installation-refused.ts'
import { findProblem } from '../installation/join-installation.ts'
import { renewInstallation } from '../installation/renew-installation.ts'
import { type InstallationStock, takeStock } from '../installation/take-stock.ts'
import { type MoveSurroundings, openForMove } from '../migrate/move-source.ts'
import { describeDamagedLog, dropDamagedLog, findDamagedLog } from '../records/drivers/sqlite/damaged-log.ts'
import { schemaVersionOf } from '../records/drivers/sqlite/schema-version.ts'
import { POSTGRES_MIGRATIONS } from '../records/migrations/postgres.ts'
import { SQLITE_MIGRATIONS } from '../records/migrations/sqlite.ts'
import type { InventoryRecords, RecordStore } from '../records/record-store.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { allowOrphans, orphanDueAt } from '../upkeep/orphans.ts'
import { hasStore, isDatabaseMissing, placesOf } from '../wiring/join-objects.ts'
import { closeAll, openBlobs, openRecords } from '../wiring/open-drivers.ts'
import { readDatabaseFacts } from '../wiring/probes.ts'

export { MoveRefused as AdoptRefused } from '../storage-move/move-refused.ts'

/** Whether records and objects belong together, as a start would find them. */
export type InstallationLook =
  /** There is nothing to compare: no storage, no data yet, or data of another version of Lade. */
  | { readonly state: 'unknown'; readonly sentence: string }
  | { readonly state: 'joined'; readonly id: string }
  /** The next start gives both the same id. */
  | { readonly state: 'new' }
  | { readonly state: 'refused'; readonly sentence: string }

/**
 * Looks at both sides and changes nothing. The service may run.
 *
 * @throws {StartError} when the records or the objects cannot be opened.
 * @throws {LadeError} `storage_failed`.
 */
export async function lookAtInstallation(config: Config): Promise<InstallationLook> {
  const refused = (problem: InstallationProblem): InstallationLook => ({
    state: 'refused',
    sentence: describeProblem(problem, placesOf(config)),
  })
  if (config.storage.kind === 'none') return { state: 'unknown', sentence: 'LADE_STORAGE is none.' }
  if (await isDatabaseMissing(config)) return refused({ kind: 'database_missing' })
  if (!hasRecords(config)) {
    return { state: 'unknown', sentence: 'There are no records yet. "lade serve" creates them.' }
  }
  const damage = damageOf(config)
  if (damage !== undefined) return { state: 'refused', sentence: damage }
  if (!(await isSchemaCurrent(config))) {
    return {
      state: 'unknown',
      sentence: 'The records belong to another version of Lade. Start that version to check them.',
    }
  }
  return withRecords(config, async (records) => {
    if (!(await hasStore(config))) {
      const isPaired = (await records.installation.find())?.isPaired === true
      const hasBlobs = (await records.inventory.stored({ after: '', limit: 1 })).length > 0
      return isPaired || hasBlobs ? refused({ kind: 'objects_missing' }) : { state: 'new' }
    }
    const store = await openStore(config)
    try {
      const found = await findProblem({ records, store })
      if (found.problem !== undefined) return refused(found.problem)
      return found.isJoined ? { state: 'joined', id: found.id } : { state: 'new' }
    } finally {
      await store.close()
    }
  })
}

/** What somebody has to agree to. */
export type AdoptionStep =
  /** A part of the log is dropped, after a copy was made. */
  | { readonly step: 'drop_log'; readonly sentence: string }
  /** Records and objects become one installation with a new id. `problem` is absent where they are one already. */
  | { readonly step: 'adopt'; readonly problem?: string; readonly stock: InstallationStock }

export interface AdoptOptions extends Omit<MoveSurroundings, 'closers'> {
  /** Asked before anything is changed; false ends it. */
  readonly agree: (step: AdoptionStep) => Promise<boolean>
}

/** What was done. */
export interface Adoption {
  readonly outcome: 'adopted' | 'declined'
  /** Where the damaged log was copied to. */
  readonly logCopy?: string
}

/**
 * Makes the records and the objects of a configuration one installation, whatever they were before. Nothing is removed: objects that no
 * file needs are orphans from then on. No instance may run on the records.
 *
 * @throws {MoveRefused} when an instance lives, or there is no storage.
 * @throws {StartError} when the records or the objects cannot be opened.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; the reason of `signal`.
 */
export async function adoptInstallation(config: Config, options: AdoptOptions): Promise<Adoption> {
  const { agree, signal, now } = options
  const { database, storage } = config
  if (storage.kind === 'none') throw new MoveRefused('There is no file storage to adopt: LADE_STORAGE is none.')
  let logCopy: string | undefined
  const damage = damageOf(config)
  if (damage !== undefined && database.kind === 'sqlite') {
    if (!(await agree({ step: 'drop_log', sentence: damage }))) return { outcome: 'declined' }
    logCopy = dropDamagedLog(database.file, now())
    if (logCopy === undefined) throw new MoveRefused(`A service uses ${database.file}. Stop every instance first.`)
  }
  const dropped = { ...(logCopy !== undefined && { logCopy }) }
  const look = await lookAtInstallation(config)
  const closers: MoveSurroundings['closers'] = []
  const openRecordsForMove = () => openForMove(config, { ...options, closers })
  const openStoreForMove = async () => {
    const store = await openStore(config)
    closers.push(() => store.close())
    return store
  }
  try {
    // What is missing is made only when somebody has agreed to it.
    let opened = hasRecords(config) ? await openRecordsForMove() : undefined
    await opened?.requireNobody()
    let store = (await hasStore(config)) ? await openStoreForMove() : undefined
    const inventory = opened?.records.inventory ?? NO_RECORDS
    const stock = await takeStock({ store: store ?? NO_OBJECTS, inventory, signal })
    const problem = look.state === 'refused' ? { problem: look.sentence } : {}
    if (!(await agree({ step: 'adopt', ...problem, stock }))) return { outcome: 'declined', ...dropped }
    await createDurableDirectory(config.dataDir)
    opened ??= await openRecordsForMove()
    store ??= await openStoreForMove()
    await opened.requireNobody()
    const { inventory: kept } = opened.records
    // Before anything can start: a start returns reservations, and removes what they had claimed.
    await kept.keepAsOrphans({ now: now().getTime(), dueAt: orphanDueAt(now().getTime(), config.orphanDays) })
    await allowOrphans(kept, stock.unknown)
    const id = randomUUID()
    await renewInstallation({ installation: opened.records.installation, store, id })
    const subject = `installation:${id}`
    await opened.records.audit.append({
      at: now().getTime(),
      actor: 'operator',
      action: 'installation.adopted',
      subject,
    })
    return { outcome: 'adopted', ...dropped }
  } finally {
    await closeAll(closers)
  }
}

const NO_RECORDS: Pick<InventoryRecords, 'stored' | 'known'> = { stored: async () => [], known: async () => [] }
const NO_OBJECTS: Pick<BlobStore, 'list'> = { async *list() {} }

/** True where there are records of this version, which can be opened without changing them. */
export async function hasCurrentRecords(config: Config): Promise<boolean> {
  if ((await isDatabaseMissing(config)) || !hasRecords(config) || damageOf(config) !== undefined) return false
  return isSchemaCurrent(config)
}

function hasRecords({ database }: Config): boolean {
  return database.kind !== 'sqlite' || existsSync(database.file)
}

function damageOf({ database }: Config): string | undefined {
  const damaged = database.kind === 'sqlite' ? findDamagedLog(database.file) : undefined
  return damaged && describeDamagedLog(damaged)
}

async function isSchemaCurrent({ database }: Config): Promise<boolean> {
  if (database.kind === 'sqlite') return schemaVersionOf(database.file) === SQLITE_MIGRATIONS.length
  return (await readDatabaseFacts(database)).schemaVersion === POSTGRES_MIGRATIONS.length
}

async function openStore(config: Config): Promise<BlobStore> {
  const store = await openBlobs(config)
  if (store === undefined) throw new MoveRefused('There is no storage.')
  return store
}

/** Opens the records as a service does, and closes them again. @throws {StartError} */
export async function withRecords<Value>(
  config: Config,
  use: (records: RecordStore) => Promise<Value>,
): Promise<Value> {
  const closers: MoveSurroundings['closers'] = []
  try {
    const log = pino({ level: 'silent' })
    const { records } = await openRecords(config, { log, closers, onFatal: () => {} })
    return await use(records)
  } finally {
    await closeAll(closers)
  }
}
