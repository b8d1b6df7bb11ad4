import type { AdminFileList } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'

/** The largest page. */
const PAGE = 1000

interface FilesFlags {
  readonly caller?: string
  readonly limit: number
  readonly json?: boolean
}

/** `lade admin files [QUERY]`: the live files of anybody, newest first. */
export function addAdminFiles(admin: Command, terminal: Terminal): void {
  const command = admin
    .command('files')
    .summary('List the files of anybody.')
    .description('List the live files of all callers, or of one, newest first.')
    .argument('[query]', 'part of the name, cid, owner or principal')
    .option('--caller <caller>', 'Only files of this email address, principal or IP address.')
    .option('--limit <number>', 'Maximum number of files.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .option('--json', 'Print one JSON array with all fields.')
    .action((query: string | undefined) => list(query, command, terminal))
  addAccountOptions(command)
}

async function list(query: string | undefined, command: Command, terminal: Terminal): Promise<void> {
  const { caller, limit, json }: FilesFlags = command.opts()
  const { client } = await connect(command, terminal)
  const files: AdminFileList['files'] = []
  let cursor: string | undefined
  // A page of a search may be empty before a page that follows.
  do {
    const page = await client.admin.files({
      limit: Math.min(PAGE, limit - files.length),
      ...(query !== undefined && { q: query }),
      ...(caller !== undefined && { principal: caller }),
      ...(cursor !== undefined && { cursor }),
      signal: terminal.interruption(),
    })
    files.push(...page.files)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined && files.length < limit)
  if (json) terminal.print(JSON.stringify(files))
  else if (files.length === 0) {
    terminal.note(query === undefined && caller === undefined ? 'No files yet.' : 'No live file matches.')
  } else for (const line of fileTable(files, terminal)) terminal.print(line)
  if (cursor !== undefined) terminal.note(`There are more than ${countOf(limit, 'file')}. Raise --limit to see them.`)
}

const COLUMNS: readonly Column[] = [
  { title: 'cid', minimum: 15 },
  { title: 'size', align: 'right' },
  { title: 'uploaded', rank: 2 },
  { title: 'access', rank: 3 },
  { title: 'caller', minimum: 16 },
  { title: 'name', minimum: 10, rank: 1 },
]

function fileTable(files: AdminFileList['files'], { stdout, now }: Terminal): string[] {
  const at = now()
  const rows = files.map(({ cid, size, uploadedAt, visibility, blocked, principal, owner, filename }) => [
    cid,
    formatBytes(size),
    formatFromNow(uploadedAt, at),
    blocked === undefined ? visibility : 'blocked',
    owner ?? principal,
    filename ?? '-',
  ])
  return formatTable(COLUMNS, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}
