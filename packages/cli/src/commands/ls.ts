import {
  FILE_KINDS,
  FILE_STATUSES,
  type FileEntry,
  type FileKind,
  MAX_ENDS_WITHIN_DAYS,
  MAX_FILES_PER_PAGE,
} from '@lade/core/wire'
import { type Command, Option } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatBriefly, formatTime } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED, takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'
import { folderPathOf, lsFolder } from './ls-folder.ts'

interface LsFlags {
  readonly long?: boolean
  readonly limit: number
  readonly type?: string
  readonly kind?: FileKind
  readonly endsWithin?: number
  readonly status?: FileEntry['status']
  readonly json?: boolean
}

/** `lade ls [QUERY]`: the caller's files, newest first. */
export function addLs(program: Command, terminal: Terminal): void {
  const command = program
    .command('ls')
    .summary('List your files, or what is in a folder.')
    .description('List your files, newest first. With the cid of a folder, list what is in it.')
    .argument('[query]', 'part of the name or cid; or CID or CID/path of a folder')
    .option('-l, --long', 'Show full ids, times and deals. Lines can be wider than the terminal.')
    .option('--limit <number>', 'Maximum number of files.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .option('--type <type>', 'Only files with this media type.')
    .addOption(new Option('--kind <kind>', 'Only files of this kind, by their media type.').choices(FILE_KINDS))
    .option(
      '--ends-within <days>',
      'Only live files whose term ends within this many days.',
      wholeNumberIn(1, MAX_ENDS_WITHIN_DAYS),
    )
    .addOption(
      new Option('--status <status>', 'Only files with this status (default: all live files).').choices(FILE_STATUSES),
    )
    .option('--json', 'Print one JSON array with all fields.')
    .action((query: string | undefined) => ls(query, command, terminal))
  addAccountOptions(command)
  addWalletOptions(command)
}

async function ls(query: string | undefined, command: Command, terminal: Terminal): Promise<void> {
  const { long, limit, type, kind, endsWithin, status, json }: LsFlags = command.opts()
  const { client } = await connect(command, terminal)
  const folder = query === undefined ? undefined : folderPathOf(query)
  if (
    folder !== undefined &&
    (await lsFolder(client, folder, { long: long === true, limit, json: json === true }, terminal))
  )
    return
  const found = await takeFirst(
    client.files.list({
      limit: Math.min(limit + 1, MAX_FILES_PER_PAGE),
      q: query,
      contentType: type,
      kind,
      endsWithinDays: endsWithin,
      status,
      signal: terminal.interruption(),
    }),
    limit,
  )
  if (json) terminal.print(JSON.stringify(found.items))
  else {
    const lines = long ? longTable(found.items, terminal) : shortTable(found.items, terminal)
    if (found.items.length > 0) for (const line of lines) terminal.print(line)
    else terminal.note(noFiles({ query, type, kind, endsWithin, status }))
  }
  if (found.hasMore) terminal.note(`There are more than ${countOf(limit, 'file')}. Raise --limit to see them.`)
}

interface Asked {
  readonly query: string | undefined
  readonly type: string | undefined
  readonly kind: string | undefined
  readonly endsWithin: number | undefined
  readonly status: string | undefined
}

/** Says that nothing was found, and not that there is nothing, where the listing was asked for less than all. */
function noFiles({ query, type, kind, endsWithin, status }: Asked): string {
  const asked = [
    ...(query === undefined ? [] : [`"${printable(query)}" in its name or cid`]),
    ...(type === undefined ? [] : [`the media type ${printable(type)}`]),
    ...(kind === undefined ? [] : [`the kind ${kind}`]),
    ...(endsWithin === undefined ? [] : [`an end within ${countOf(endsWithin, 'day')}`]),
    ...(status === undefined ? [] : [`the status ${status}`]),
  ]
  if (asked.length === 0) return 'No files yet. Upload one with "lade put FILE".'
  const whole = type === undefined || type.includes('/') ? '' : ' A media type has two halves, such as image/png.'
  return `None of your files has ${asked.join(' and ')}.${whole}`
}

const SHORT: readonly Column[] = [
  { title: 'cid', minimum: 15 },
  { title: 'size', align: 'right' },
  { title: 'type', minimum: 10, rank: 3 },
  { title: 'age', align: 'right', rank: 2 },
  { title: 'left', align: 'right', rank: 1 },
  { title: 'access', rank: 1 },
  { title: 'name', minimum: 10 },
]

function shortTable(files: readonly FileEntry[], { stdout, now }: Terminal): string[] {
  const atMs = now().getTime()
  const rows = files.map(({ cid, size, contentType, uploadedAt, expiresAt, filename, visibility }) => [
    cid,
    formatBytes(size),
    contentType,
    formatBriefly((atMs - Date.parse(uploadedAt)) / 1000),
    formatBriefly((Date.parse(expiresAt) - atMs) / 1000),
    visibility,
    filename ?? '-',
  ])
  return formatTable(SHORT, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}

const LONG: readonly Column[] = [
  { title: 'cid' },
  { title: 'bytes', align: 'right' },
  { title: 'type' },
  { title: 'uploaded' },
  { title: 'expires' },
  { title: 'status' },
  { title: 'visibility' },
  { title: 'deal' },
  { title: 'name' },
]

function longTable(files: readonly FileEntry[], { stdout }: Terminal): string[] {
  const rows = files.map((file) => [
    file.cid,
    String(file.size),
    file.contentType,
    formatTime(file.uploadedAt),
    formatTime(file.expiresAt),
    file.status,
    file.visibility,
    file.dealId,
    file.filename ?? '-',
  ])
  return formatTable(LONG, rows, { style: styleFor(stdout) })
}
