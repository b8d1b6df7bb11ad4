import { LadeError } from '@lade/core/errors'
import { causesOf } from './causes.ts'
import { Interrupted } from './exit-code.ts'
import { wholeNumberIn } from './number-option.ts'
import type { Progress, ProgressView } from './output/progress.ts'
import type { Terminal } from './terminal.ts'
import { LocalError } from './usage-error.ts'

/** The settings of commands that read or write a whole installation: `backup`, `restore`, `migrate-storage`. */
export const INSTALLATION_SETTINGS = ['dataDir', 'database', 'storage', 'tokenKey', 'tokenAlg', 'minFreeMb'] as const

/** What they mean where no uploads arrive. */
export const INSTALLATION_MEANINGS = {
  minFreeMb: 'The setting of the service: how much space stays free on the disk of its data directory, in MB.',
} as const

export const DEFAULT_JOBS = 4
const MAXIMUM_JOBS = 64
const MEBIBYTE = 1024 * 1024
const MAXIMUM_MEBIBYTES = 1_000_000

export const readJobs = wholeNumberIn(1, MAXIMUM_JOBS)
export const readBandwidth = wholeNumberIn(1, MAXIMUM_MEBIBYTES)

/** The flags that every copy has. */
export interface CopyFlags {
  readonly jobs: number
  readonly bandwidth?: number
}

/** What every copy is told besides what it copies: how fast, until when, and where its progress and its warnings go. */
export function copySurroundings<Made>(
  { jobs, bandwidth }: CopyFlags,
  {
    terminal,
    progress,
    viewOf,
  }: Pick<CopyRun<unknown>, 'terminal' | 'progress'> & { viewOf(made: Made): ProgressView },
) {
  return {
    jobs,
    bytesPerSecond: bandwidth === undefined ? undefined : bandwidth * MEBIBYTE,
    signal: terminal.interruption(),
    now: () => terminal.now(),
    onProgress: (made: Made) => progress.show(viewOf(made)),
    onWarning: (sentence: string) => progress.around(() => terminal.note(`Warning: ${sentence}`)),
  }
}

/** How rows of records on their way are shown. */
export function viewOfRows(made: {
  readonly table: string
  readonly rows: number
  readonly totalRows: number
}): ProgressView {
  return {
    label: 'Copying records',
    doneBytes: made.rows,
    totalBytes: made.totalRows,
    unit: 'rows',
    remark: made.table,
  }
}

/** A command that copies an installation, as the terminal runs it. */
export interface CopyRun<Report> {
  run(): Promise<Report>
  /** The error by which the server refuses to begin, whose message is for the person at the terminal. */
  readonly Refused: abstract new (
    ...values: never[]
  ) => Error
  readonly progress: Progress
  readonly terminal: Terminal
  /** What is printed when the run was interrupted. */
  readonly interrupted: string
  /** What is printed after the cause when the run failed. @default `interrupted` */
  readonly failed?: string
}

/** Runs a copy under its progress, which ends before anything is said about a failure. */
export async function runCopy<Report>(copy: CopyRun<Report>): Promise<Report> {
  const { progress, terminal, interrupted, failed = interrupted } = copy
  try {
    return await copy.run()
  } catch (error) {
    progress.stop()
    if (error instanceof copy.Refused) throw new LocalError(error.message)
    if (error instanceof Interrupted) throw new Interrupted(interrupted)
    if (LadeError.is(error)) {
      terminal.note(causesOf(error))
      terminal.note(failed)
    }
    throw error
  } finally {
    progress.stop()
  }
}
