import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { AdminOperations, AuditPage } from '@lade/client'
import { type AuditChain, addAuditLine, EMPTY_AUDIT_CHAIN } from '@lade/core/wire'
import { sha256Hex } from '@lade/node/hashing/sha256'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { Ended, EXIT } from '../exit-code.ts'
import { itemsOfPages } from '../items-of-pages.ts'
import { readableFile } from '../local-file.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED, takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { writeLines } from '../write-lines.ts'

/** The largest page. */
const PAGE = 1000

interface AuditFlags {
  readonly limit: number
  readonly export?: string
  readonly verify?: string | true
  readonly head?: string
  readonly json?: boolean
}

/** `lade admin audit`: the audit log, its export, and whether it is whole. */
export function addAdminAudit(admin: Command, terminal: Terminal): void {
  const command = admin
    .command('audit')
    .summary('Show, export and verify the audit log.')
    .description(
      'Show the audit log, newest first. --verify reads all of it, or an exported file, and checks that every entry holds the SHA-256 of the one before.',
    )
    .argument('[query]', 'part of an entry, such as an action or a principal')
    .option('--limit <number>', 'Maximum number of entries.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .option('--export <file>', 'Write the whole log to a new file, as JSON lines.')
    .option(
      '--verify [file]',
      'Check the whole log of the service, or of an exported file. Exits with 1 if it is not whole.',
    )
    .option(
      '--head <sha256>',
      'With --verify: fail unless an entry has this hash. Pass the hash that an earlier --verify printed, to notice removed entries.',
    )
    .option('--json', 'Print one JSON array; with --verify one JSON object.')
    .action((query: string | undefined) => audit(query, command, terminal))
  addAccountOptions(command)
}

async function audit(query: string | undefined, command: Command, terminal: Terminal): Promise<void> {
  const { limit, export: file, verify, head, json = false }: AuditFlags = command.opts()
  if (head !== undefined && verify === undefined) throw new UsageError('--head needs --verify.')
  if (file !== undefined && verify !== undefined) throw new UsageError('Use --export and --verify one after the other.')
  if (query !== undefined && (file ?? verify) !== undefined) {
    throw new UsageError('--export and --verify work on the whole log. Leave the query out.')
  }
  if (typeof verify === 'string') return verifyLines(await linesOfFile(verify, terminal), { head, json, terminal })
  const { client } = await connect(command, terminal)
  const { admin } = client
  if (verify) return verifyLines(admin.auditLines({ signal: terminal.interruption() }), { head, json, terminal })
  if (file !== undefined) return exportLog(admin, file, terminal)
  return show(admin, { query, limit, json, terminal })
}

interface ShowRequest {
  readonly query: string | undefined
  readonly limit: number
  readonly json: boolean
  readonly terminal: Terminal
}

async function show(admin: AdminOperations, { query, limit, json, terminal }: ShowRequest): Promise<void> {
  const listed = itemsOfPages(async (page) => {
    const search = query === undefined ? {} : { q: query }
    const { entries: items, nextCursor } = await admin.audit({
      limit: Math.min(PAGE, limit + 1),
      ...search,
      ...page,
      signal: terminal.interruption(),
    })
    return { items, nextCursor }
  })
  const { items: entries, hasMore } = await takeFirst(listed, limit)
  if (json) terminal.print(JSON.stringify(entries))
  else if (entries.length > 0) for (const line of auditTable(entries, terminal)) terminal.print(line)
  else terminal.note(query === undefined ? 'The audit log is empty.' : `No entry has "${printable(query)}".`)
  if (hasMore) terminal.note(`There are more than ${countOf(limit, 'entry', 'entries')}. Raise --limit to see them.`)
}

/** Nothing of an entry is cut: lines can be wider than the terminal. */
const COLUMNS: readonly Column[] = ['entry', 'time', 'action', 'by', 'subject', 'detail'].map((title) => ({ title }))

function auditTable(entries: readonly AuditPage['entries'][number][], { stdout }: Terminal): string[] {
  const rows = entries.map(({ sequence, at, action, actor, subject, detail }) => [
    String(sequence),
    formatTime(at),
    action,
    actor,
    subject,
    Object.entries(detail)
      .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(',') : value}`)
      .join(' '),
  ])
  return formatTable(COLUMNS, rows, { style: styleFor(stdout) })
}

async function exportLog(admin: AdminOperations, file: string, terminal: Terminal): Promise<void> {
  const count = await writeLines(file, terminal.cwd, admin.auditLines({ signal: terminal.interruption() }))
  terminal.print(`Wrote ${countOf(count, 'entry', 'entries')} to ${printable(file)}.`)
}

async function linesOfFile(shown: string, { cwd }: Terminal): Promise<AsyncIterable<string>> {
  const path = await readableFile(shown, cwd, 'admin audit --verify')
  return createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
}

interface VerifyRequest {
  readonly head: string | undefined
  readonly json: boolean
  readonly terminal: Terminal
}

/** Says whether all entries follow each other. @throws {Ended} when they do not. */
async function verifyLines(lines: AsyncIterable<string>, { head, json, terminal }: VerifyRequest): Promise<void> {
  const sha256 = (text: string): string => sha256Hex(Buffer.from(text))
  let chain: AuditChain = EMPTY_AUDIT_CHAIN
  let fault: string | undefined
  let hasHead = head === undefined
  for await (const line of lines) {
    const next = addAuditLine(chain, line, sha256)
    if (typeof next === 'string') {
      fault = next
      break
    }
    chain = next
    hasHead ||= next.head === head?.toLowerCase()
  }
  if (fault === undefined && !hasHead) fault = `No entry has the hash ${head}: entries were removed or changed since.`
  if (json)
    terminal.print(JSON.stringify({ isWhole: fault === undefined, ...chain, ...(fault !== undefined && { fault }) }))
  else if (fault === undefined) {
    terminal.print(`The audit log is whole: ${countOf(chain.entries, 'entry', 'entries')}.`)
    terminal.print(`Hash of the last entry: ${chain.head}`)
  } else terminal.note(fault)
  if (fault !== undefined) throw new Ended(EXIT.failed)
}
