import type { AdminFileList } from '@lade/client'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { itemsOfPages } from '../items-of-pages.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED, takeFirst } from '../take-first.ts'
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
    .argument('[query]', 'part of the file name, the cid, the email address or wallet of the owner, or the principal')
    .option('--caller <caller>', 'Only files of this email address, principal or IP address.')
    .option('--limit <number>', 'Maximum number of files.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .option('--json', 'Print one JSON array with all fields.')
    .action((query: string | undefined) => list(query, command, terminal))
  addAccountOptions(command)
}

async function list(query: string | undefined, command: Command, terminal: Terminal): Promise<void> {
  const { caller, limit, json }: FilesFlags = command.opts()
  const { client } = await connect(command, terminal)
  const listed = itemsOfPages(async (page) => {
    const search = { ...(query !== undefined && { q: query }), ...(caller !== undefined && { principal: caller }) }
    const { files: items, nextCursor } = await client.admin.files({
      limit: Math.min(PAGE, limit + 1),
      ...search,
      ...page,
      signal: terminal.interruption(),
    })
    return { items, nextCursor }
  })
  const { items: files, hasMore } = await takeFirst(listed, limit)
  if (json) terminal.print(JSON.stringify(files))
  else if (files.length === 0) {
    terminal.note(query === undefined && caller === undefined ? 'No files yet.' : 'No live file matches.')
  } else for (const line of fileTable(files, terminal)) terminal.print(line)
  if (hasMore) terminal.note(`There are more than ${countOf(limit, 'file')}. Raise --limit to see them.`)
}

const COLUMNS: readonly Column[] = [
  { title: 'cid', minimum: 15 },
  { title: 'size', align: 'right' },
  { title: 'uploaded', rank: 2 },
  { title: 'access', rank: 3 },
  { title: 'caller', minimum: 16 },
  { title: 'name', minimum: 10, rank: 1 },
]

function fileTable(files: readonly AdminFileList['files'][number][], { stdout, now }: Terminal): string[] {
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
