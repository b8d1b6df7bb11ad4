import { resolve } from 'node:path'
import type { RestoreOptions, RestoreProgress, RestoreReport } from '@lade/server/restoring'
import type { Command } from 'commander'
import { describeRestore, restoreForPrograms } from '../backup/describe-restore.ts'
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
import { createProgress, type Progress, type ProgressView } from '../output/progress.ts'
import { addSettingOptions, configOf } from '../setting-options.ts'
import type { Terminal } from '../terminal.ts'

const GOES_ON = 'The service cannot start there until the restore is complete. Run the same command again to resume.'

interface RestoreFlags extends CopyFlags {
  readonly keepTokens?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade restore`: brings a backup into an empty place, where a service can start on it. */
export function addRestore(program: Command, terminal: Terminal): void {
  const command = program
    .command('restore')
    .summary('Restore a backup into an empty data directory.')
    .description(
      'Restore a backup into an empty data directory, or an empty database and file storage. Every byte is verified against its digest. All tokens become invalid unless --keep-tokens is set.',
    )
    .argument('<dir>', 'folder of the backup')
    .option('--keep-tokens', 'Restore the signing key. Tokens revoked after the backup become valid again.')
    .option('--jobs <number>', 'Files to copy at the same time.', readJobs, DEFAULT_JOBS)
    .option('--bandwidth <number>', 'Maximum copy speed, in MiB per second.', readBandwidth)
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Do not show progress.')
    .action((dir: string) => restoreFrom(dir, command, terminal))
  addSettingOptions(command, INSTALLATION_SETTINGS, INSTALLATION_MEANINGS)
}

async function restoreFrom(dir: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: RestoreFlags = command.opts()
  const config = configOf(command, INSTALLATION_SETTINGS, terminal)
  // As the service does.
  process.umask(0o077)
  const progress = createProgress(terminal.stderr, { isQuiet: flags.quiet === true })
  const report = await run(
    {
      config,
      dir: resolve(terminal.cwd, dir),
      keepTokens: flags.keepTokens === true,
      ...copySurroundings(flags, { terminal, progress, viewOf }),
    },
    progress,
    terminal,
  )
  if (flags.json) terminal.print(JSON.stringify(restoreForPrograms(report)))
  else for (const line of describeRestore(report)) terminal.print(line)
  if (report.blobs.problems.length > 0 || report.inlineProblems.length > 0) throw new Ended(EXIT.failed)
}

async function run(options: RestoreOptions, progress: Progress, terminal: Terminal): Promise<RestoreReport> {
  const { restore, BackupRefused } = await import('@lade/server/restoring')
  return runCopy({
    run: () => restore(options),
    Refused: BackupRefused,
    progress,
    terminal,
    interrupted: GOES_ON,
  })
}

function viewOf(made: RestoreProgress): ProgressView {
  switch (made.phase) {
    case 'checking':
      return { label: 'Checking the records', doneBytes: 0 }
    case 'blobs':
      return { label: 'Copying files', doneBytes: made.doneBytes, totalBytes: made.totalBytes }
    case 'records':
      return viewOfRows(made)
  }
}
