import { sha256Hex } from '@lade/node/hashing/sha256'
import {
  type NamedValue,
  RunningTableSum,
  type Table,
  type TableImport,
  type TableSource,
  type TableSum,
  type TableTarget,
} from '../records/table-transfer.ts'
import { MoveRefused } from './move-refused.ts'

export interface MoveRecordsDeps {
  readonly source: TableSource
  readonly target: TableTarget
  /** What the target is, in words that hold no secret. */
  readonly place: string
  /** What goes into the secrets of the target beside what the source has there. */
  readonly secrets: readonly NamedValue[]
  readonly now: Date
  readonly signal: AbortSignal
  /** Told of each batch that was written. */
  readonly onRows: (written: { readonly table: string; readonly rows: number }) => void
}

/** What became of the records that were to be copied. */
export interface MovedRecords {
  /** `there`: these records were copied before, and the source has not changed since. */
  readonly outcome: 'copied' | 'there'
  readonly tables: number
  readonly rows: number
}

/**
 * Copies all records into an empty database, in one transaction that is made when every row has been read back and compared. Until then the
 * target is as it was, and it may end anywhere and be run again.
 *
 * @throws {MoveRefused} when the target has data of its own.
 * @throws {LadeError} `storage_failed`, `insufficient_storage`; the reason of `signal`.
 */
export async function moveRecords(deps: MoveRecordsDeps): Promise<MovedRecords> {
  const { source, target, secrets, now, signal } = deps
  const state = await target.state()
  if (state.occupied.length > 0) return await requireSameRecords(deps, state.mark)
  const { tables } = source
  const filling = await target.begin(tables)
  try {
    const sums = new Map<string, TableSum>()
    for (const table of tables) sums.set(table.name, await copyTable(deps, filling, table))
    signal.throwIfAborted()
    await filling.complete(await source.lastNumbers())
    for (const table of tables) {
      signal.throwIfAborted()
      requireEqual(table, sums.get(table.name), await filling.sumOf(table))
    }
    await filling.commit({ secrets, mark: JSON.stringify({ source: sumOfAll(sums), at: now.toISOString() }) })
    return { outcome: 'copied', tables: tables.length, rows: rowsOf(sums) }
  } finally {
    await filling.discard()
  }
}

async function copyTable(
  { source, signal, onRows }: MoveRecordsDeps,
  filling: TableImport,
  table: Table,
): Promise<TableSum> {
  const sum = new RunningTableSum()
  for await (const rows of source.batches(table)) {
    signal.throwIfAborted()
    sum.addRows(rows)
    await filling.insert(table, rows)
    onRows({ table: table.name, rows: rows.length })
  }
  return sum.sum()
}

function requireEqual(table: Table, copied: TableSum | undefined, found: TableSum): void {
  if (copied?.rows === found.rows && copied.sha256 === found.sha256) return
  throw new Error(
    `The copy of the table ${table.name} differs: ${copied?.rows} rows (${copied?.sha256}) became ${found.rows} (${found.sha256}). Nothing was stored.`,
  )
}

/** A copy that was finished, of which nobody was told or the end of which was cut off. */
async function requireSameRecords({ source, place }: MoveRecordsDeps, mark: string | undefined): Promise<MovedRecords> {
  if (mark === undefined) throw new MoveRefused(`${place} already has records. Choose an empty database.`)
  const sums = new Map<string, TableSum>()
  for (const table of source.tables) {
    const sum = new RunningTableSum()
    for await (const rows of source.batches(table)) sum.addRows(rows)
    sums.set(table.name, sum.sum())
  }
  if (sourceIn(mark) !== sumOfAll(sums)) {
    throw new MoveRefused(`${place} has records from another move. Choose an empty database.`)
  }
  return { outcome: 'there', tables: source.tables.length, rows: rowsOf(sums) }
}

function sourceIn(mark: string): unknown {
  try {
    const parsed: unknown = JSON.parse(mark)
    return typeof parsed === 'object' && parsed !== null && 'source' in parsed ? parsed.source : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One digest for all tables; the map is in ascending order of name. */
function sumOfAll(sums: ReadonlyMap<string, TableSum>): string {
  return sha256Hex(Buffer.from(JSON.stringify([...sums])))
}

function rowsOf(sums: ReadonlyMap<string, TableSum>): number {
  return [...sums.values()].reduce((rows, sum) => rows + sum.rows, 0)
}
