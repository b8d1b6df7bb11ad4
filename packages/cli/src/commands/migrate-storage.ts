import { ConfigError } from '@lade/node/settings'
import type { Config } from '@lade/server/config'
import type { MoveOptions, MoveProgress, MoveReport } from '@lade/server/moving'
import type { Command } from 'commander'
import {
  type CopyFlags,
  copySurroundings,
  DEFAULT_JOBS,
  INSTALLATION_MEANINGS,
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
    .summary('Move a stopped service to another file storage or database.')
    .description(
      'Move a stopped service to another file storage, or from SQLite to PostgreSQL, or both at once. Blobs are hashed while they are copied; --verify also reads them back. The source is not deleted. After a move to PostgreSQL, the source SQLite database is renamed so that no service uses it. Run the command again to resume.',
    )
    .option('--to-database <url>', 'New database: postgres://user@host/database. PGPASSWORD can hold the password.')
    .option('--to-storage <url>', 'New file storage, in the syntax of LADE_STORAGE.')
    .option('--dry-run', 'Show what would be moved and change nothing. The service may be running.')
    .option('--verify', 'Read and hash every blob in the new file storage, including blobs copied by an earlier run.')
    .option('--jobs <number>', 'Blobs to copy at the same time.', readJobs, DEFAULT_JOBS)
    .option('--bandwidth <number>', 'Maximum copy speed, in MiB per second.', readBandwidth)
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Do not show progress.')
    .action(() => migrate(command, terminal))
  addSettingOptions(command, INSTALLATION_SETTINGS, INSTALLATION_MEANINGS)
}

async function migrate(command: Command, terminal: Terminal): Promise<void> {
  const flags: MigrateFlags = command.opts()
  const { toDatabase, toStorage } = flags
  if (toDatabase === undefined && toStorage === undefined) {
    throw new UsageError('Specify the destination: --to-database, --to-storage, or both.')
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
    interrupted: 'The service can still start with its old settings. Run the same command again to resume.',
    failed: 'Nothing is lost. The service can still start with its old settings. Run the same command again to resume.',
  })
}

function viewOf(made: MoveProgress): ProgressView {
  switch (made.phase) {
    case 'scan':
      return { label: 'Comparing', doneBytes: 0 }
    case 'blobs':
      return { label: 'Copying blobs', doneBytes: made.doneBytes, totalBytes: made.totalBytes }
    case 'records':
      return viewOfRows(made)
  }
}

function hasFailed({ scan, blobs, occupied }: MoveReport): boolean {
  return (blobs?.problems ?? scan?.problems ?? []).length > 0 || (occupied ?? []).length > 0
}
