import type { Config } from '@lade/server/config'
import type { Amount, BlobProblem, MoveReport } from '@lade/server/moving'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'

/** More would fill the terminal; `--json` has them all. */
const SHOWN_PROBLEMS = 20

const PROBLEMS = {
  missing: 'is missing from the storage',
  size: 'has the wrong size in the storage',
  wrong: 'has wrong bytes in the storage',
  unreadable: 'cannot be read from the storage',
} as const satisfies Record<BlobProblem['problem'], string>

/** What the description of a move is made from. */
export interface MoveDescribed {
  readonly from: Config
  readonly to: Config
  readonly toDatabase?: string
  readonly toStorage?: string
  readonly dryRun?: boolean
}

/** What was moved, or would be, for people: what to do next comes last. */
export function describeMove(report: MoveReport, asked: MoveDescribed): string[] {
  if (report.wasDone) return ['An earlier run moved everything. Nothing to do.', ...nextSteps(report, asked)]
  return asked.dryRun
    ? [...plannedBlobs(report), ...plannedRecords(report), 'Nothing was changed.']
    : [...movedBlobs(report), ...movedRecords(report), ...nextSteps(report, asked)]
}

function plannedBlobs({ scan }: MoveReport): string[] {
  if (scan === undefined) return []
  return [
    `Blobs: ${amountOf(scan.needed)} needed; ${amountOf(scan.toCopy)} to copy, ${amountOf(scan.there)} already there.`,
    ...othersIn(scan.others),
    ...problemsIn(scan.problems),
  ]
}

function plannedRecords({ tables, occupied }: MoveReport): string[] {
  if (tables === undefined) return []
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
  const files = tables.files ?? 0
  return [
    `Records: ${countOf(rows, 'row')} in ${countOf(Object.keys(tables).length, 'table')}, which describe ${countOf(files, 'file')}.`,
    ...(occupied !== undefined && occupied.length > 0
      ? [`The new database has data in ${occupied.join(', ')}. Use an empty database.`]
      : []),
  ]
}

function movedBlobs({ scan, blobs }: MoveReport): string[] {
  if (scan === undefined || blobs === undefined) return []
  return [
    `Blobs: ${amountOf(blobs.copied)} copied and hashed, ${amountOf(blobs.there)} already there.`,
    ...othersIn(scan.others),
    ...problemsIn(blobs.problems),
  ]
}

function movedRecords({ records, drift = [], setAside }: MoveReport): string[] {
  if (records === undefined) return []
  const what = `${countOf(records.rows, 'row')} in ${countOf(records.tables, 'table')}`
  return [
    records.outcome === 'copied'
      ? `Records: ${what} copied and compared.`
      : `Records: ${what} already copied and compared.`,
    drift.length === 0
      ? 'All quota counters are consistent.'
      : `The quota counters of ${countOf(drift.length, 'day')} are inconsistent, as they were before the move.`,
    ...(setAside === undefined
      ? []
      : [`The old database was renamed to ${setAside}, so that no service uses it by mistake.`]),
  ]
}

function nextSteps(
  { records, blobs, wasDone = false }: MoveReport,
  { from, to, toDatabase, toStorage }: MoveDescribed,
): string[] {
  const hasRecords = toDatabase !== undefined && (records !== undefined || wasDone)
  const hasBlobs = toStorage !== undefined && (blobs !== undefined || wasDone)
  const variables = [
    ...(hasRecords ? [`LADE_DATABASE=${withoutPassword(toDatabase)}`] : []),
    ...(hasBlobs ? [`LADE_STORAGE=${absolute(to, toStorage)}`] : []),
  ]
  const remarks = [
    ...(toDatabase !== undefined && hasPassword(toDatabase) ? ['Add the password to LADE_DATABASE.'] : []),
    ...(hasRecords && !hasBlobs && from.storage.kind === 'file' ? [`The blobs stay in ${from.storage.dir}.`] : []),
  ]
  return ['Start every instance with:', ...variables.map((variable) => `  ${variable}`), ...remarks]
}

function absolute({ storage }: Config, given: string): string {
  return storage.kind === 'file' ? `file:${storage.dir}` : given
}

function hasPassword(url: string): boolean {
  return new URL(url).password !== ''
}

function withoutPassword(url: string): string {
  const parsed = new URL(url)
  parsed.password = ''
  return parsed.href
}

function amountOf({ count, bytes }: Amount): string {
  return `${count.toLocaleString('en-US')} (${formatBytes(bytes)})`
}

function othersIn(others: number): string[] {
  if (others === 0) return []
  const [blobs, are, them] = [countOf(others, 'blob'), others === 1 ? 'is' : 'are', others === 1 ? 'it' : 'them']
  return [
    `Warning: ${blobs} in the new storage ${are} not part of this service. The service will remove ${them} later.`,
  ]
}

function lineOf({ sha256, sizeBytes, problem, file }: BlobProblem): string {
  const line = `  ${sha256} (${formatBytes(sizeBytes)}) ${PROBLEMS[problem]}`
  if (file === undefined) return line
  return printable(`${line}: ${[file.cid, file.filename].filter((name) => name !== null).join(' ')}`)
}

function problemsIn(problems: readonly BlobProblem[]): string[] {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(lineOf)
  const left = problems.length - lines.length
  if (problems.length === 0) return []
  return [
    `${countOf(problems.length, 'blob')} cannot be copied:`,
    ...lines,
    ...(left > 0 ? [`  and ${left.toLocaleString('en-US')} more; --json lists all.`] : []),
  ]
}
