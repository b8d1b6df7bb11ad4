import { statSync } from 'node:fs'
import type { BlobStore } from '../blobs/blob-store.ts'
import { openMemoryBlobStore } from '../blobs/drivers/memory/memory-blob-store.ts'
import type { Config } from '../config/config.ts'
import { describeDatabase, describeStorage } from '../config/describe.ts'
import { isSetAsideFor, setRecordsAside } from '../records/drivers/sqlite/set-aside.ts'
import type { UsageDrift } from '../records/record-store.ts'
import { type CopiedBlobs, copyBlobs } from '../storage-move/copy-blobs.ts'
import { type MovedRecords, moveRecords } from '../storage-move/move-records.ts'
import { MoveRefused } from '../storage-move/move-refused.ts'
import { nameProblems } from '../storage-move/name-problems.ts'
import { type BlobScan, scanBlobs } from '../storage-move/scan-blobs.ts'
import { closeAll, openBlobs } from '../wiring/open-drivers.ts'
import { carryInstallation, joinForMove, refuseOthersObjects } from './carry-installation.ts'
import { keysForDatabase, type MoveSource, type MoveSurroundings, openForMove, openMoveSource } from './move-source.ts'

export type { CopiedBlobs } from '../storage-move/copy-blobs.ts'
export type { MovedRecords } from '../storage-move/move-records.ts'
export { MoveRefused } from '../storage-move/move-refused.ts'
export type { Amount, BlobProblem, BlobScan } from '../storage-move/scan-blobs.ts'

/** How far a move has come. */
export type MoveProgress =
  | { readonly phase: 'scan' }
  | { readonly phase: 'blobs'; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly phase: 'records'; readonly table: string; readonly rows: number; readonly totalRows: number }

export interface MoveOptions extends Omit<MoveSurroundings, 'closers'> {
  /** As the installation is. */
  readonly from: Config
  /** As it is to be: what is not moved is the same as in `from`. */
  readonly to: Config
  readonly moves: { readonly database: boolean; readonly storage: boolean }
  /** Looks and tells, and changes nothing; the installation may run. */
  readonly isDryRun: boolean
  /** Reads back every blob that the destination has. */
  readonly verify: boolean
  /** Blobs on their way at a time. */
  readonly jobs: number
  /** Absent: as fast as it goes. */
  readonly bytesPerSecond?: number | undefined
  readonly onProgress: (progress: MoveProgress) => void
}

/** What was found and done. What was not asked for is absent, and in a dry run what was done. */
export interface MoveReport {
  /** True when an earlier run of the same move has come to its end: then nothing else is reported. */
  readonly wasDone?: boolean
  readonly scan?: BlobScan
  readonly blobs?: CopiedBlobs
  /** Rows by table, before anything was copied. */
  readonly tables?: Readonly<Record<string, number>>
  /** Tables of the new database that hold data; told in a dry run. */
  readonly occupied?: readonly string[]
  readonly records?: MovedRecords
  /** Days whose counters were not the sum of their files, before the move as after it. */
  readonly drift?: readonly UsageDrift[]
  /** Where the old database file is now. */
  readonly setAside?: string
}

type Move = MoveOptions & MoveSurroundings

/**
 * Moves a stopped installation to another storage, another database, or both: blobs first, then records. Nothing is removed where they were.
 *
 * It may end anywhere and be run again, also after its end. From its beginning to its end no service can start on the old records, and after the end none starts on
 * an old database file, which is put aside.
 *
 * @throws {MoveRefused} when it would do harm: an instance lives, or the new database has data.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`, `auth_offline`; the reason of `signal`.
 */
export async function moveInstallation(options: MoveOptions): Promise<MoveReport> {
  refuseUnsuitable(options)
  if (wasDone(options)) return { wasDone: true }
  const move: Move = { ...options, closers: [] }
  let report: MoveReport
  try {
    const keys = options.moves.database ? await keysForDatabase(options.from) : []
    const source = await openMoveSource(options.from, {
      ...move,
      mayRun: options.isDryRun,
      beforeHold: (records) => (options.moves.storage ? joinForMove(options.from, records) : undefined),
    })
    const blobs = options.moves.storage ? await moveBlobs(move, source) : {}
    const records = options.moves.database && source.tables ? await moveTables(move, source, keys) : {}
    report = { ...blobs, ...records }
  } finally {
    // Nobody but the last step may have the old file open.
    await closeAll(move.closers)
  }
  if (options.moves.storage && !options.isDryRun) await forgetPuts(options)
  const { database } = options.from
  if (report.records === undefined || database.kind !== 'sqlite') return report
  const where = describeDestination(options)
  return { ...report, setAside: setRecordsAside({ file: database.file, where, now: options.now() }) }
}

function describeDestination({ to, moves }: MoveOptions): string {
  const database = describeDatabase(to.database)
  return moves.storage ? `${database}, with the blobs in ${describeStorage(to.storage)}` : database
}

/** The old database file says where its records went. Blobs that were moved alone leave no trace, and are compared again. */
function wasDone(options: MoveOptions): boolean {
  const { database } = options.from
  if (!options.moves.database || database.kind !== 'sqlite') return false
  return isSetAsideFor({ file: database.file, where: describeDestination(options) })
}

function refuseUnsuitable({ from, to, moves }: MoveOptions): void {
  if (moves.database && (from.database.kind !== 'sqlite' || to.database.kind !== 'postgres')) {
    throw new MoveRefused(
      'Records can only be moved from SQLite to PostgreSQL. Between PostgreSQL databases, use pg_dump and pg_restore.',
    )
  }
  if (!moves.storage) return
  if (from.storage.kind === 'none') throw new MoveRefused('There are no blobs to move: LADE_STORAGE is none.')
  if (to.storage.kind === 'none')
    throw new MoveRefused('LADE_STORAGE=none cannot store blobs. Choose a directory or a bucket.')
  if (JSON.stringify(from.storage) === JSON.stringify(to.storage)) {
    throw new MoveRefused(`The blobs are already in ${describeStorage(from.storage)}.`)
  }
}

async function moveBlobs(move: Move, { records }: MoveSource): Promise<Pick<MoveReport, 'scan' | 'blobs'>> {
  const { signal, jobs, verify, bytesPerSecond, onProgress } = move
  const source = await openStore(move, move.from, records)
  const destination = await openStore(move, move.to)
  const { inventory } = records
  await refuseOthersObjects(move.to, { records, store: destination })
  onProgress({ phase: 'scan' })
  const found = await scanBlobs({ inventory, source, destination }, signal)
  const named = (problems: BlobScan['problems']) => nameProblems(records.files, problems, move.now().getTime())
  const scan = { ...found, problems: await named(found.problems) }
  if (move.isDryRun) return { scan }
  const totalBytes = scan.toCopy.bytes
  await destination.requireRoom(totalBytes)
  let doneBytes = 0
  const onBytes = (sizeBytes: number): void => {
    doneBytes += sizeBytes
    onProgress({ phase: 'blobs', doneBytes, totalBytes })
  }
  const deps = { inventory, source, destination, jobs, verify, bytesPerSecond, signal, onBytes }
  const copied = await copyBlobs(deps)
  await carryInstallation({ records, destination })
  return { scan, blobs: { ...copied, problems: await named(copied.problems) } }
}

/** On a disk a digest has one place, whatever its puts were called in a bucket. */
async function forgetPuts(options: MoveOptions): Promise<void> {
  if (options.to.storage.kind !== 's3') {
    const closers: Move['closers'] = []
    try {
      const { records } = await openForMove(options.to, { ...options, closers })
      await records.inventory.forgetPuts()
    } finally {
      await closeAll(closers)
    }
  }
}

async function openStore(
  { isDryRun, closers }: Move,
  config: Config,
  records?: MoveSource['records'],
): Promise<BlobStore> {
  // A store of files makes its folder, which a look must not.
  const { storage } = config
  const isMissing = storage.kind === 'file' && statSync(storage.dir, { throwIfNoEntry: false }) === undefined
  const store = isMissing && isDryRun ? openMemoryBlobStore() : await openBlobs(config, { ...(records && { records }) })
  if (store === undefined) throw new MoveRefused('There is no storage.')
  closers.push(() => store.close())
  return store
}

async function moveTables(
  move: Move,
  { records, tables: source }: MoveSource,
  secrets: Awaited<ReturnType<typeof keysForDatabase>>,
): Promise<Omit<MoveReport, 'scan' | 'blobs'>> {
  const { to, now, signal, closers, onProgress } = move
  if (source === undefined || to.database.kind !== 'postgres') throw new TypeError('There are no tables to move.')
  const counts: (readonly [string, number])[] = []
  for (const table of source.tables) counts.push([table.name, await source.countRows(table)])
  const tables = Object.fromEntries(counts)
  const totalRows = counts.reduce((sum, [, rows]) => sum + rows, 0)
  const { openPostgresTableTarget } = await import('../records/drivers/postgres/table-target.ts')
  const target = await openPostgresTableTarget({ url: to.database.url.reveal() })
  closers.push(() => target.close())
  if (move.isDryRun) return { tables, occupied: (await target.state()).occupied }

  // Brings the schema up to date, which a look must not.
  const opened = await openForMove(to, move)
  await opened.requireNobody()
  const before = await records.quotas.checkDrift()
  let rows = 0
  const moved = await moveRecords({
    source,
    target,
    place: describeDatabase(to.database),
    secrets,
    now: now(),
    signal,
    onRows(written) {
      rows += written.rows
      onProgress({ phase: 'records', table: written.table, rows, totalRows })
    },
  })
  return { tables, records: moved, drift: requireSameDrift(before, await opened.records.quotas.checkDrift(), moved) }
}

/** What was exact before is exact after it. A database that was in use meanwhile has gone on. */
function requireSameDrift(
  before: readonly UsageDrift[],
  after: readonly UsageDrift[],
  { outcome }: MovedRecords,
): readonly UsageDrift[] {
  const inOrder = (drift: readonly UsageDrift[]) =>
    drift
      .map((each) => JSON.stringify(each))
      .sort()
      .join()
  if (outcome === 'copied' && inOrder(before) !== inOrder(after)) {
    throw new Error(
      'The quota counters of the new database differ from those of the old one. The old database is unchanged.',
    )
  }
  return after
}
