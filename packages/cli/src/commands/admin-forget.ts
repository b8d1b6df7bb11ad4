import type { PersonalDataErased } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { canAsk, confirm } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { writeLines } from '../write-lines.ts'

interface ForgetFlags {
  readonly email?: string
  readonly principal?: string
  readonly export?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** `lade admin forget`: exports and erases what is kept of one person. */
export function addAdminForget(admin: Command, terminal: Terminal): void {
  const command = admin
    .command('forget')
    .summary('Export and erase what is kept of one person.')
    .description(
      'Erase the data of one person. This revokes the tokens, ends the sessions, removes the files and deletes their bytes at once, and erases names, labels and email addresses. ' +
        'Bytes that another caller also uploaded are kept. Use either --email or --principal.',
    )
    .option('--email <address>', 'Email address of a user.')
    .option('--principal <principal>', 'user:ID, wallet:CHAIN:ADDRESS or an IP address.')
    .option('--export <file>', 'Before erasing, write all data of the person to a new file, as JSON lines.')
    .option('--dry-run', 'Erase nothing. Show the stored data; with --export, also write it to the file.')
    .option('-y, --yes', 'Do not ask for confirmation. Required without a terminal.')
    .option('--json', 'Print one JSON object. Needs --yes or --dry-run.')
    .action(() => forget(command, terminal))
  addAccountOptions(command)
}

async function forget(command: Command, terminal: Terminal): Promise<void> {
  const { email, principal, export: file, dryRun = false, yes = false, json = false }: ForgetFlags = command.opts()
  const [caller, ...others] = [email, principal].filter((one) => one !== undefined)
  if (caller === undefined || others.length > 0) throw new UsageError('Use exactly one of --email and --principal.')
  if (!yes && !dryRun && (json || !canAsk(terminal))) {
    throw new UsageError('Cannot ask for confirmation without a terminal or with --json. Add --yes or --dry-run.')
  }
  const { client } = await connect(command, terminal)
  const { admin } = client
  const signal = terminal.interruption()
  const kept = await admin.principal(caller, { signal })
  const lines = file === undefined ? 0 : await writeLines(file, terminal.cwd, admin.personalData(caller, { signal }))
  const summary = `${printable(caller)}: ${countOf(kept.stored.files, 'live file')} (${formatBytes(kept.stored.bytes)}), ${countOf(kept.tokens.length, 'token')}.`
  if (!json) {
    terminal.print(summary)
    if (file !== undefined) terminal.print(`Wrote ${countOf(lines, 'line')} to ${printable(file)}.`)
  }
  if (dryRun) return json ? terminal.print(JSON.stringify(kept)) : terminal.print('Nothing was erased.')
  if (!yes && !(await confirm(terminal, 'Erase all of it? This cannot be undone.'))) {
    terminal.note('Nothing was erased.')
    throw new Ended(EXIT.failed)
  }
  const erased = await admin.erasePersonalData(caller, { signal })
  if (json) return terminal.print(JSON.stringify(erased))
  for (const line of erasedLines(erased)) terminal.print(line)
}

function erasedLines({ files, ended, tokens, sessions, kept }: PersonalDataErased): string[] {
  return [
    `Erased the names of ${countOf(files, 'file')}, ${ended} of them live, and ended ${countOf(tokens, 'token')} and ${countOf(sessions, 'session')}.`,
    'Kept:',
    ...kept.map((one) => `- ${one}`),
  ]
}
