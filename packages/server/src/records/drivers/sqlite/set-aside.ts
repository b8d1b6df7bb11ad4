import { closeSync, fsyncSync, linkSync, openSync, readSync, renameSync, statSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isAbsent } from './absence.ts'
import { openDurable } from './open-durable.ts'
import { syncPath } from './sync-path.ts'

/** How a file begins that stands where records were. SQLite takes no such file for a database. */
const BEGINNING = 'The records of Lade that were here have been moved'
const RESTORING = 'The records of Lade are being restored here'

/**
 * Puts a finished database file aside, durably, and leaves in its place a few lines that say so, on which no service starts. At no moment
 * is there nothing at the old name, where a service would begin anew.
 *
 * @param options.where - where the records are now, in words that hold no secret.
 * @returns the name that the file has now, in the same folder.
 * @throws {Error} when somebody has the file open.
 */
export function setRecordsAside(options: {
  readonly file: string
  readonly where: string
  readonly now: Date
}): string {
  const { file, where, now } = options
  foldLogIn(file)
  const stamp = now
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
  const aside = `${file}.moved-${stamp}`
  const temporary = `${aside}.tmp`
  writeDurably(
    temporary,
    `${BEGINNING} to ${where}, on ${now.toISOString()}.\n` +
      `Their state of that time is in ${basename(aside)}. To go back to it, rename that file to ${basename(file)}.\n`,
  )
  linkSync(file, aside)
  renameSync(temporary, file)
  syncPath(dirname(file))
  return aside
}

/** Leaves a few lines where a restore is to put records, on which no service starts meanwhile. */
export function markRestoring({ file, from }: { readonly file: string; readonly from: string }): void {
  const temporary = `${file}.tmp`
  writeDurably(temporary, `${RESTORING} from ${from}.\nRun lade restore again with the same settings to finish it.\n`)
  renameSync(temporary, file)
  syncPath(dirname(file))
}

/** True for a file that {@link markRestoring} left. */
export function isMarkedRestoring(file: string): boolean {
  return beginningOf(file).startsWith(RESTORING)
}

/**
 * Refuses a file whose records were put aside, or are being restored.
 *
 * @throws {Error} with what stands in it.
 */
export function refuseSetAside(file: string): void {
  const said = beginningOf(file)
  if (said.startsWith(BEGINNING) || said.startsWith(RESTORING)) throw new Error(said.trim().replaceAll('\n', ' '))
}

/** Whether the records of `file` were put aside because they are at `where`, in the words of {@link setRecordsAside}. */
export function isSetAsideFor({ file, where }: { readonly file: string; readonly where: string }): boolean {
  return beginningOf(file).startsWith(`${BEGINNING} to ${where}, on `)
}

/** The first lines of a file; empty when there is none. */
function beginningOf(file: string): string {
  if (!(statSync(file, { throwIfNoEntry: false })?.isFile() ?? false)) return ''
  const text = Buffer.alloc(4096)
  const handle = openSync(file, 'r')
  try {
    return text.toString('utf8', 0, readSync(handle, text))
  } finally {
    closeSync(handle)
  }
}

/** Brings what is still in the log into the file itself, which from then on is all there is. */
function foldLogIn(file: string): void {
  const connection = openDurable(file)
  try {
    const mode = connection.pragma('journal_mode = DELETE', { simple: true })
    if (mode !== 'delete') throw new Error(`${file} is in use: SQLite does not close its log.`)
  } finally {
    connection.close()
  }
  if (!isAbsent(`${file}-wal`)) throw new Error(`${file} is in use: its log is there again.`)
}

function writeDurably(path: string, text: string): void {
  const handle = openSync(path, 'w', 0o600)
  try {
    writeSync(handle, text)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
