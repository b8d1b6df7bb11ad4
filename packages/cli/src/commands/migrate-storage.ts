import { ConfigError } from '@lade/node/settings'
import type { Config } from '@lade/server/config'
import type { MoveOptions, MoveProgress, MoveReport } from '@lade/server/moving'
import type { Command } from 'commander'
import {
  type CopyFlags,
  copySurroundings,
  DEFAULT_JOBS,
  INSTALLATION_SETTINGS,
  readBandwidth,
  readJobs,
  runCopy,
  viewOfRows,
} from '../copy-run.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { describeMove } from '../move/describe-move.ts'
import { reportForPrograms } from '../move/report-for-programs.ts'
import { createProgress, type Progress, type ProgressView } from '../output/progress.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

interface MigrateFlags extends CopyFlags {
  readonly toDatabase?: string
  readonly toStorage?: string
  readonly dryRun?: boolean
  readonly verify?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade migrate-storage`: moves a stopped installation to another storage, to PostgreSQL, or both. */
export function addMigrateStorage(program: Command, terminal: Terminal): void {
  const command = program
    .command('migrate-storage')
    .summary('Move a stopped service to another storage or database.')
    .description(
      'Move a stopped service to another storage, from SQLite to PostgreSQL, or both. Everything that is copied is checked, nothing is removed, and a run that was cut off goes on when it is repeated.',
    )
    .option(
      '--to-database <url>',
      'Where the records are to be: postgres://user@host/database; the password can be left to PGPASSWORD.',
    )
    .option('--to-storage <url>', 'Where the blobs are to be, as LADE_STORAGE says it.')
    .option('--dry-run', 'Say what would be moved, and change nothing. The service may run.')
    .option('--verify', 'Read back and hash every blob at the new place, also those that were there.')
    .option('--jobs <number>', 'Blobs that are copied at the same time.', readJobs, DEFAULT_JOBS)
    .option('--bandwidth <number>', 'How many MiB are copied in a second at most.', readBandwidth)
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Show no progress.')
    .action(() => migrate(command, terminal))
  addSettingOptions(command, INSTALLATION_SETTINGS)
}

async function migrate(command: Command, terminal: Terminal): Promise<void> {
  const flags: MigrateFlags = command.opts()
  const { toDatabase, toStorage } = flags
  if (toDatabase === undefined && toStorage === undefined) {
    throw new UsageError('Say where to: --to-database, --to-storage, or both.')
  }
  const from = configOf(command, INSTALLATION_SETTINGS, terminal)
  const to = destinationOf(command, terminal, flags)
  const progress = createProgress(terminal.stderr, { isQuiet: flags.quiet === true })
  const report = await run(
    {
      from,
      to,
      moves: { database: toDatabase !== undefined, storage: toStorage !== undefined },
      isDryRun: flags.dryRun === true,
      verify: flags.verify === true,
      ...copySurroundings(flags, { terminal, progress, viewOf }),
    },
    progress,
    terminal,
  )
  if (flags.json) terminal.print(JSON.stringify(reportForPrograms(report, flags)))
  else for (const line of describeMove(report, { from, to, ...flags })) terminal.print(line)
  if (hasFailed(report)) throw new Ended(EXIT.failed)
}

/** The configuration after the move. What contradicts the new places is found out here, and not at the next start. */
function destinationOf(command: Command, terminal: Terminal, { toDatabase, toStorage }: MigrateFlags): Config {
  try {
    return configOf(command, INSTALLATION_SETTINGS, terminal, {
      ...(toDatabase !== undefined && { database: toDatabase }),
      ...(toStorage !== undefined && { storage: toStorage }),
    })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(
      error.message.replaceAll('--database', '--to-database').replaceAll('--storage', '--to-storage'),
    )
  }
}

async function run(options: MoveOptions, progress: Progress, terminal: Terminal): Promise<MoveReport> {
  const { moveInstallation, MoveRefused } = await import('@lade/server/moving')
  return runCopy({
    run: () => moveInstallation(options),
    Refused: MoveRefused,
    progress,
    terminal,
    interrupted: 'The service can start where it was; the same command goes on with what is left.',
    failed: 'Nothing is lost: the service can start where it was, and the same command goes on with what is left.',
  })
}

function viewOf(made: MoveProgress): ProgressView {
  switch (made.phase) {
    case 'survey':
      return { label: 'Comparing', doneBytes: 0 }
    case 'blobs':
      return { label: 'Copying blobs', doneBytes: made.doneBytes, totalBytes: made.totalBytes }
    case 'records':
      return viewOfRows(made)
  }
}

function hasFailed({ survey, blobs, occupied }: MoveReport): boolean {
  return (blobs?.problems ?? survey?.problems ?? []).length > 0 || (occupied ?? []).length > 0
}
