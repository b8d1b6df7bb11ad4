import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { FolderProgress, PutFolderResult } from '@lade/client'
import type { Command } from 'commander'
import { accountKey, addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { type ChangedPaths, changesOf } from '../deploy/changed-paths.ts'
import { DeployMemory, type EarlierDeploy } from '../deploy/deploy-memory.ts'
import { siteUrl } from '../deploy/site-url.ts'
import { Interrupted } from '../exit-code.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { createProgress } from '../output/progress.ts'
import { retryNotes } from '../output/retry-notes.ts'
import { type Style, styleFor } from '../output/style.ts'
import { formatFacts } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import type { LeftOut } from '../put/collect-files.ts'
import type { Terminal } from '../terminal.ts'
import { LocalError, UsageError } from '../usage-error.ts'

const DEFAULT_JOBS = 4
const MAXIMUM_JOBS = 16
const MAXIMUM_TERM_DAYS = 36_500
/** The others are counted. */
const PATHS_SHOWN = 20

interface DeployFlags {
  readonly hidden?: boolean
  readonly private?: boolean
  readonly days?: number
  readonly name?: string
  readonly jobs: number
  readonly json?: boolean
  readonly quiet?: boolean
}

/** `lade deploy DIR`: puts a folder as a site, and says what changed since the last time. */
export function addDeploy(program: Command, terminal: Terminal): void {
  const command = program
    .command('deploy')
    .summary('Upload a folder as a site.')
    .description(
      'Upload a folder as a site, and show what changed since its last deploy from this machine. Only files that the service does not have are sent. Earlier deploys keep their addresses until their term ends.',
    )
    .argument('<folder>', 'local folder')
    .option('--hidden', 'Include files and folders whose names start with a dot.')
    .option('--private', 'Only you and people with your share links can open the site. Needs a token or a wallet.')
    .option(
      '--days <number>',
      'Storage term in days, within the limit of the service.',
      wholeNumberIn(1, MAXIMUM_TERM_DAYS),
    )
    .option('--name <name>', 'Name to store the folder under (default: the local name).')
    .option('--jobs <number>', 'Simultaneous uploads.', wholeNumberIn(1, MAXIMUM_JOBS), DEFAULT_JOBS)
    .option('--json', 'Print one JSON object, with all paths that changed.')
    .option('-q, --quiet', 'Print only the address and errors.')
    .action((folder: string) => deploy(folder, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function deploy(shown: string, command: Command, terminal: Terminal): Promise<void> {
  const flags: DeployFlags = command.opts()
  const folder = resolve(terminal.cwd, shown)
  const found = await stat(folder).catch(() => undefined)
  if (found === undefined) throw new LocalError(`There is no folder ${shown}.`)
  if (!found.isDirectory()) throw new UsageError(`${shown} is a file. Use "lade put".`)
  const isQuiet = flags.quiet === true
  const progress = createProgress(terminal.stderr, { isQuiet })
  const connection = await connect(command, terminal, { onRetry: retryNotes({ terminal, progress, isQuiet }) })
  const { client } = connection
  const { PutMemory } = await import('../put/put-memory.ts')
  const { viewOfFolder } = await import('../put/put-counters.ts')
  const memory = new DeployMemory(terminal, { folder, account: accountKey(connection) })
  const signal = terminal.interruption()
  const leftOut: LeftOut[] = []
  try {
    const { sitesUrl } = await client.info({ signal })
    const result = await client.putFolder(folder, {
      hidden: flags.hidden === true,
      onLeftOut: (path, because) => leftOut.push({ shown: path, because }),
      visibility: flags.private ? 'private' : undefined,
      termDays: flags.days,
      filename: flags.name ?? basename(folder),
      concurrency: flags.jobs,
      signal,
      state: await new PutMemory(terminal).folderState(folder, accountKey(connection)),
      onProgress: (update: FolderProgress) => progress.show(viewOfFolder(update)),
    })
    progress.stop()
    const before = await memory.load()
    await memory.save(result, terminal.now())
    const changes = changesOf(before?.files, result.entries)
    const site = result.visibility === 'public' ? siteUrl(sitesUrl, result.cid) : undefined
    await report({ shown, result, site, before, changes, leftOut }, flags, terminal)
  } catch (error) {
    if (error instanceof Interrupted)
      throw new Interrupted('Uploaded files are saved. Run the same command again to resume.')
    throw error
  } finally {
    progress.stop()
  }
}

interface Deployed {
  readonly shown: string
  readonly result: PutFolderResult
  readonly site: string | undefined
  readonly before: EarlierDeploy | undefined
  readonly changes: ChangedPaths
  readonly leftOut: readonly LeftOut[]
}

async function report(deployed: Deployed, flags: DeployFlags, terminal: Terminal): Promise<void> {
  const { checkKept } = await import('../put/check-kept.ts')
  const { bytesOf, describeLeftOut, folderUrl } = await import('../put/describe.ts')
  const { shown, result, site, before, changes, leftOut } = deployed
  const remark = checkKept(result, { visibility: flags.private ? 'private' : undefined, termDays: flags.days })
  if (remark !== undefined) terminal.note(remark)
  const url = folderUrl(result)
  const bytes = bytesOf(result)
  if (flags.json) {
    const { entries: _, ...rest } = result
    const since = before === undefined ? null : { cid: before.cid, deployedAt: before.deployedAt }
    terminal.print(
      JSON.stringify({ folder: shown, ...rest, bytes, retrievalUrl: url, siteUrl: site ?? null, since, changes }),
    )
    return
  }
  if (flags.quiet) return terminal.print(site ?? url)
  const skipped = describeLeftOut(leftOut)
  if (skipped !== undefined) terminal.note(skipped)
  const style = styleFor(terminal.stdout)
  const { sentFiles, sentBytes, files } = result
  terminal.print(style.bold(printable(shown)))
  const facts: [string, string][] = [
    ['cid', result.cid],
    ...(site === undefined ? [] : [['site', site] as [string, string]]),
    ['url', url],
    ['files', `${countOf(files, 'file')}, ${formatBytes(bytes)}`],
    ['sent', sentFiles === 0 ? 'nothing' : `${countOf(sentFiles, 'file')}, ${formatBytes(sentBytes)}`],
    ['term', `${result.term}, until ${formatTime(result.expiresAt)}`],
    ['changes', describeChanges(before, changes, result.cid)],
  ]
  for (const line of formatFacts(facts, style)) terminal.print(line)
  for (const line of changedLines(before, changes, style)) terminal.print(line)
}

function describeChanges(before: EarlierDeploy | undefined, changes: ChangedPaths, cid: string): string {
  if (before === undefined) return 'first deploy from this machine'
  const since = `since ${formatTime(before.deployedAt)}`
  if (before.cid === cid) return `none ${since}`
  const { added, changed, removed, same } = changes
  const counts = [`${added.length} new`, `${changed.length} changed`, `${removed.length} removed`, `${same} same`]
  return `${counts.join(', ')} ${since}`
}

function changedLines(before: EarlierDeploy | undefined, changes: ChangedPaths, style: Style): string[] {
  if (before === undefined) return []
  const lines = [
    ...changes.added.map((path) => style.good(`    + ${printable(path)}`)),
    ...changes.changed.map((path) => style.doubtful(`    ~ ${printable(path)}`)),
    ...changes.removed.map((path) => style.bad(`    - ${printable(path)}`)),
  ]
  const more = lines.length - PATHS_SHOWN
  return more > 0 ? [...lines.slice(0, PATHS_SHOWN), style.faint(`    and ${more} more (--json lists all)`)] : lines
}
