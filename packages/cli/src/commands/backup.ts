import { resolve } from 'node:path'
import type { BackupOptions, BackupProgress, BackupReport, VerifyScope } from '@lade/server/backing-up'
import { type Command, Option } from 'commander'
import about from '../../package.json' with { type: 'json' }
import { backupForPrograms, describeBackup } from '../backup/describe-backup.ts'
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

const SCOPES = ['all', 'copy', 'new'] as const satisfies readonly VerifyScope[]
const GOES_ON = 'The previous backup is still complete. Run the same command again to resume.'

interface BackupFlags extends CopyFlags {
  readonly verify: VerifyScope
  readonly heal?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade backup`: backs an installation up into a folder, while it runs or not. */
export function addBackup(program: Command, terminal: Terminal): void {
  const command = program
    .command('backup')
    .summary('Back up the service to a folder.')
    .description(
      'Back up the records, files and signing key of a service to a folder. The service may be running. Only new files are copied. By default, all files of the service and the backup are read and verified against their digests.',
    )
    .argument('<dir>', 'folder of the backup: empty, or with an earlier backup')
    .addOption(
      new Option(
        '--verify <scope>',
        'Which files to read and hash. all: every file of the service and of the backup. copy: every file of the backup, and new files of the service. new: only new files.',
      )
        .choices(SCOPES)
        .default('all'),
    )
    .option(
      '--heal',
      'Repair damaged or missing files of the service with the bytes of the backup. Small files, which are stored in the database, cannot be repaired this way.',
    )
    .option('--jobs <number>', 'Files to read at the same time.', readJobs, DEFAULT_JOBS)
    .option('--bandwidth <number>', 'Maximum read speed, in MiB per second.', readBandwidth)
    .option('--json', 'Print one JSON object.')
    .option('-q, --quiet', 'Do not show progress.')
    .action((dir: string) => backUpInto(dir, command, terminal))
  addSettingOptions(command, INSTALLATION_SETTINGS, INSTALLATION_MEANINGS)
}

async function backUpInto(dir: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: BackupFlags = command.opts()
  const config = configOf(command, INSTALLATION_SETTINGS, terminal)
  // A backup is as secret as the service.
  process.umask(0o077)
  const progress = createProgress(terminal.stderr, { isQuiet: flags.quiet === true })
  const report = await run(
    {
      config,
      dir: resolve(terminal.cwd, dir),
      version: about.version,
      verify: flags.verify,
      heal: flags.heal === true,
      ...copySurroundings(flags, { terminal, progress, viewOf }),
    },
    progress,
    terminal,
  )
  if (flags.json) terminal.print(JSON.stringify(backupForPrograms(report, flags)))
  else for (const line of describeBackup(report, { dir, ...flags })) terminal.print(line)
  if (hasDamage(report)) throw new Ended(EXIT.failed)
}

async function run(options: BackupOptions, progress: Progress, terminal: Terminal): Promise<BackupReport> {
  const { backUp, BackupRefused } = await import('@lade/server/backing-up')
  return runCopy({
    run: () => backUp(options),
    Refused: BackupRefused,
    progress,
    terminal,
    interrupted: GOES_ON,
  })
}

function viewOf(made: BackupProgress): ProgressView {
  switch (made.phase) {
    case 'records':
      return viewOfRows(made)
    case 'blobs':
      return { label: 'Checking and copying files', doneBytes: made.doneBytes, totalBytes: made.totalBytes }
    case 'removing':
      return { label: 'Removing unused files', doneBytes: 0 }
  }
}

function hasDamage({ blobs, inlineProblems }: BackupReport): boolean {
  return blobs.problems.some(({ healed }) => !healed) || inlineProblems.length > 0
}
