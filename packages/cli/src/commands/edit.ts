import type { ChangeFileOptions } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { formatFacts } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

const MAXIMUM_TERM_DAYS = 36_500

interface EditFlags {
  readonly private?: boolean
  readonly public?: boolean
  readonly name?: string
  readonly type?: string
  readonly days?: number
  readonly json?: boolean
}

/** `lade edit CID`: changes what was said of a file when it was uploaded. */
export function addEdit(program: Command, terminal: Terminal): void {
  const command = program
    .command('edit')
    .summary('Change access, name, type or term of a file.')
    .description('Change one of your files without uploading it again. Nothing is charged.')
    .argument('<cid>', 'any id of the file')
    .option('--private', 'From now on, only you and people with your share links can download the file.')
    .option('--public', 'From now on, anyone can download the file.')
    .option('--name <name>', 'New name of the file.')
    .option('--type <type>', 'New media type.')
    .option(
      '--days <number>',
      'New storage term in days, counted from the upload. A term can only be made longer.',
      wholeNumberIn(1, MAXIMUM_TERM_DAYS),
    )
    .option('--json', 'Print the updated file as one JSON object.')
    .action((cid: string) => edit(cid, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function edit(cid: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: EditFlags = command.opts()
  const change = changeOf(flags)
  const { client } = await connect(command, terminal)
  const file = await client.files.change(cid, { ...change, signal: terminal.interruption() })
  if (flags.json) return terminal.print(JSON.stringify(file))
  const style = styleFor(terminal.stdout)
  terminal.print(style.bold(printable(file.filename ?? file.cid)))
  const facts: [string, string][] = [
    ['cid', file.cid],
    ['access', file.visibility],
    ['type', file.contentType],
    ['term', `${file.term}, until ${formatTime(file.expiresAt)}`],
  ]
  for (const line of formatFacts(facts, style)) terminal.print(line)
}

/** @throws {UsageError} for flags that change nothing, or contradict each other. */
function changeOf(flags: EditFlags): ChangeFileOptions {
  if (flags.private && flags.public) throw new UsageError('Use --private or --public, not both.')
  const change: ChangeFileOptions = {
    ...(flags.private && { visibility: 'private' }),
    ...(flags.public && { visibility: 'public' }),
    ...(flags.name !== undefined && { filename: flags.name }),
    ...(flags.type !== undefined && { contentType: flags.type }),
    ...(flags.days !== undefined && { termDays: flags.days }),
  }
  if (Object.keys(change).length > 0) return change
  throw new UsageError('Nothing to change. Pass --private, --public, --name, --type or --days.')
}
