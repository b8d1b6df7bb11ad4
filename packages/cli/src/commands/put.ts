import type { PutOptions } from '@lade/client'
import { LadeError } from '@lade/core/errors'
import { type Command, Option } from 'commander'
import { accountKey, addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { Interrupted } from '../exit-code.ts'
import { wholeNumberIn } from '../number-option.ts'
import { createProgress } from '../output/progress.ts'
import { retryNotes } from '../output/retry-notes.ts'
import type { Item } from '../put/put-files.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

/** The name of standard input on the command line. */
const STANDARD_INPUT = '-'
const DEFAULT_JOBS = 4
const MAXIMUM_JOBS = 16
const MAXIMUM_TERM_DAYS = 36_500

interface PutFlags {
  readonly recursive?: boolean
  readonly loose?: boolean
  readonly hidden?: boolean
  readonly private?: boolean
  readonly days?: number
  readonly name?: string
  readonly type?: string
  readonly cid: NonNullable<PutOptions['cid']>
  readonly jobs: number
  readonly overDays?: boolean
  readonly sponsored?: boolean
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade put FILE…`: stages files and folders, each by itself. */
export function addPut(program: Command, terminal: Terminal): void {
  const command = program
    .command('put')
    .summary('Upload files and folders.')
    .description(
      'Upload files and folders. Each file is hashed on this machine, uploaded under its content id and verified by the service. To resume an interrupted upload, run the command again.',
    )
    .argument('<files...>', 'local files and, with -r, folders; - is standard input')
    .option(
      '-r, --recursive',
      'Upload each folder as one: its cid is the one that "ipfs add -r" prints with the profile unixfs-v1-2025, and only files that the service does not have are sent. Symbolic links are kept as links.',
    )
    .option(
      '--loose',
      'With -r: upload each file in a folder separately, under its own name, and make no folder of them. Symbolic links are left out.',
    )
    .option('--hidden', 'With -r: include files and folders whose names start with a dot.')
    .option('--private', 'Only you and people with your share links can download the files. Needs a token or a wallet.')
    .option(
      '--days <number>',
      'Storage term in days, within the limit of the service.',
      wholeNumberIn(1, MAXIMUM_TERM_DAYS),
    )
    .option('--name <name>', 'Name to store the file or folder under (default: the local name).')
    .option('--type <type>', 'Media type of the files (default: guessed from the file extension). Not for folders.')
    .addOption(
      new Option(
        '--cid <kind>',
        'Kind of content id. unixfs is the CID that Helia computes (import profile unixfs-v1-2025). A plain "ipfs add" computes another CID; "lade hash" prints both. Folders have unixfs.',
      )
        .choices(['unixfs', 'raw', 'piece', 'sha256'])
        .default('unixfs'),
    )
    .option(
      '--jobs <number>',
      'Simultaneous uploads, of several files or of parts of a large file.',
      wholeNumberIn(1, MAXIMUM_JOBS),
      DEFAULT_JOBS,
    )
    .option(
      '--over-days',
      "If a file or folder exceeds the rest of today's quota, upload as much of it as fits. Run the command again on later days to finish.",
    )
    .option('--sponsored', "Upload anonymously, against this IP address's quota.")
    .option('--json', 'Print one JSON object per file or folder, one per line.')
    .option('-q, --quiet', 'Print only content ids and errors.')
    .action((names: string[]) => put(names, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function put(names: readonly string[], command: Command, terminal: Terminal): Promise<void> {
  const flags: PutFlags = command.opts()
  if (flags.private && flags.sponsored) {
    throw new UsageError('Sponsored uploads are always public. Use --private or --sponsored, not both.')
  }
  const { items, hasStream } = await itemsOf(names, flags, terminal)
  const isQuiet = flags.quiet === true
  // A line that moves would be in the way of somebody who types.
  const isTyped = hasStream && terminal.stdin.isTTY === true
  const progress = createProgress(terminal.stderr, { isQuiet: isQuiet || isTyped })
  const onRetry = retryNotes({ terminal, progress, isQuiet })
  const connection = await connect(command, terminal, { isSponsored: flags.sponsored === true, onRetry })
  const { client } = connection
  const { putFiles } = await import('../put/put-files.ts')
  const { PutMemory } = await import('../put/put-memory.ts')
  const { PutReport } = await import('../put/put-report.ts')

  const isOne = names.length === 1 && items.length === 1 && !(flags.recursive && flags.loose)
  const report = new PutReport(terminal, { isOne, isQuiet, isJson: flags.json === true })
  try {
    const notTried = await putFiles(items, {
      client,
      memory: new PutMemory(terminal),
      progress,
      signal: terminal.interruption(),
      jobs: flags.jobs,
      put: {
        cid: flags.cid,
        visibility: flags.private ? 'private' : undefined,
        termDays: flags.days,
        overDays: flags.overDays === true,
      },
      takesHidden: flags.hidden === true,
      account: accountKey(connection),
      name: flags.name,
      mediaType: flags.type,
      onOutcome: (outcome) => report.add(outcome),
    })
    report.end(notTried)
  } catch (error) {
    if (flags.overDays && LadeError.has(error, 'quota_exceeded')) {
      terminal.note('Uploaded files and parts are saved. Run the same command again when the quota resets.')
    }
    if (!(error instanceof Interrupted) || hasStream) throw error
    throw new Interrupted('Uploaded files and parts are saved. Run the same command again to resume.')
  }
}

/** @throws {UsageError} for what a folder cannot have. */
function refuseForFolders({ type, cid }: PutFlags): void {
  if (type !== undefined) {
    throw new UsageError('A folder has no media type. Leave --type out, or upload each file by itself with --loose.')
  }
  if (cid !== 'unixfs') {
    throw new UsageError(`The id of a folder is unixfs. Leave --cid out, or upload each file by itself with --loose.`)
  }
}

/** What is to be put. Says on standard error what of it is left out. */
async function itemsOf(
  names: readonly string[],
  flags: PutFlags,
  terminal: Terminal,
): Promise<{ readonly items: readonly Item[]; readonly hasStream: boolean }> {
  const { collectFiles } = await import('../put/collect-files.ts')
  const { describeLeftOut } = await import('../put/describe.ts')
  const paths = names.filter((name) => name !== STANDARD_INPUT)
  const streams = names.length - paths.length
  if (streams > 1) throw new UsageError('Standard input can be uploaded only once. Pass - only once.')
  const { files, folders, leftOut } = await collectFiles(paths, {
    cwd: terminal.cwd,
    isRecursive: flags.recursive === true,
    isLoose: flags.loose === true,
    takesHidden: flags.hidden === true,
  })
  if (folders.length > 0) refuseForFolders(flags)
  const items: Item[] = [...folders, ...files]
  if (streams > 0) items.push({ shown: flags.name ?? STANDARD_INPUT, stream: terminal.stdin })
  if (flags.name !== undefined && items.length > 1) {
    throw new UsageError(`--name works with one file or folder; you gave ${items.length}.`)
  }
  const remark = describeLeftOut(leftOut)
  if (remark !== undefined && !flags.quiet) terminal.note(remark)
  if (items.length === 0) throw new UsageError('There are no files to upload in the given folders.')
  if (streams > 0 && terminal.stdin.isTTY) terminal.note('Reading from the keyboard. Press Ctrl-D to finish.')
  return { items, hasStream: streams > 0 }
}
