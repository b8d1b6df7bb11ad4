import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { Config } from '../config/config.ts'
import { describeDatabase } from '../config/describe.ts'
import { refuseSetAside } from '../records/drivers/sqlite/set-aside.ts'
import { openSqliteTables } from '../records/drivers/sqlite/table-source.ts'
import type { InstanceLocks } from '../records/instance-locks.ts'
import type { RecordStore } from '../records/record-store.ts'
import type { NamedValue, TableSource } from '../records/table-transfer.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { requireStopped, TIMEOUT_MS } from '../storage-move/require-stopped.ts'
import { keptKeyName } from '../tokens/kept-key.ts'
import { keyFileName, readKeyFileText } from '../tokens/key-file.ts'
import { type DriverSurroundings, openRecords } from '../wiring/open-drivers.ts'

/** What a move needs beside source and destination. */
export interface MoveSurroundings {
  readonly signal: AbortSignal
  readonly now: () => Date
  readonly onWarning: (sentence: string) => void
  readonly closers: DriverSurroundings['closers']
}

/** The records that a move starts from. */
export interface MoveSource {
  readonly records: RecordStore
  /** Absent where they are in no file. */
  readonly tables: TableSource | undefined
}

interface OpenSourceOptions extends MoveSurroundings {
  readonly mayRun: boolean
  /** Called when no instance lives and the records can still be changed; not where one may run. */
  readonly beforeHold: (records: RecordStore) => Promise<void> | undefined
}

/**
 * Opens the records of an installation. Unless it may run, none of its instances lives, and none can start until the source is closed.
 *
 * @throws {MoveRefused} when there are no records, or they have been moved, or an instance lives that is not to.
 */
export async function openMoveSource(
  config: Config,
  { mayRun, beforeHold, ...surroundings }: OpenSourceOptions,
): Promise<MoveSource> {
  const { database } = config
  if (database.kind === 'sqlite' && statSync(database.file, { throwIfNoEntry: false }) === undefined) {
    throw new MoveRefused(`There are no records at ${database.file}. Check LADE_DATA_DIR and LADE_DATABASE.`)
  }
  if (database.kind === 'sqlite') refuseMoved(database.file)
  const { records, requireNobody } = await openForMove(config, surroundings)
  if (!mayRun) {
    await requireNobody()
    await beforeHold(records)
  }
  const tables = await hold(config, { ...surroundings, isHeld: !mayRun })
  // One that came before the hold has said by now that it is there.
  if (!mayRun) await requireNobody()
  return { records, tables }
}

function refuseMoved(file: string): void {
  try {
    refuseSetAside(file)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new MoveRefused(error.message)
  }
}

/** The check of all charges reads every file: half a minute for ten million of them, on two cores. */
const READ_TIMEOUT_MS = 10 * 60_000

/** Records, the locks of their instances, and how to make sure that none lives. */
export async function openForMove(
  config: Config,
  { signal, onWarning, closers }: MoveSurroundings,
): Promise<{ readonly records: RecordStore; readonly locks: InstanceLocks; requireNobody(): Promise<void> }> {
  const log = pino({ level: 'warn' }, { write: (line) => onWarning((JSON.parse(line) as { msg: string }).msg) })
  const onFatal = (error: Error): void => onWarning(`The disk of the database failed: ${error.message}`)
  const { records, locks } = await openRecords(config, { log, closers, onFatal, readTimeoutMs: READ_TIMEOUT_MS })
  return {
    records,
    locks,
    requireNobody: () =>
      requireStopped({
        instances: records.instances,
        locks,
        place: describeDatabase(config.database),
        timeoutMs: TIMEOUT_MS[config.database.kind],
        wait: (ms) => sleep(ms, undefined, { signal }),
      }),
  }
}

async function hold(
  { database }: Config,
  { isHeld, closers }: MoveSurroundings & { readonly isHeld: boolean },
): Promise<TableSource | undefined> {
  if (database.kind === 'sqlite') {
    const source = openSqliteTables({ file: database.file, isHeld })
    closers.push(() => source.close())
    return source
  }
  if (!isHeld) return undefined
  const { holdPostgresStill } = await import('../records/drivers/postgres/standstill.ts')
  const still = await holdPostgresStill({ url: database.url.reveal() })
  closers.push(() => still.close())
  return undefined
}

/**
 * The keys of the data directory, as secrets of a database; none where `LADE_TOKEN_KEY` is the key.
 *
 * @throws {LadeError} `auth_offline` when a file cannot be read or holds no key: moved without it, no token would be good any more.
 */
export async function keysForDatabase({ dataDir, tokenKey }: Config): Promise<NamedValue[]> {
  if (tokenKey !== undefined) return []
  const keys: NamedValue[] = []
  for (const alg of ['HS256', 'RS256'] as const) {
    const value = await readKeyFileText({ file: join(dataDir, keyFileName(alg)), alg })
    if (value !== undefined) keys.push({ name: keptKeyName(alg), value })
  }
  return keys
}
