import type { AdminLimits, AdminPrincipal, AdminPrincipalList } from '@lade/client'
import { type Command, Option } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { itemsOfPages } from '../items-of-pages.ts'
import { limitMb } from '../limit-option.ts'
import { wholeNumberIn } from '../number-option.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatFacts, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import { DEFAULT_LISTED, MAX_LISTED, takeFirst } from '../take-first.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

/** The largest page. */
const PAGE = 1000
type AdminPrincipalEntry = AdminPrincipalList['principals'][number]

const CALLER = 'an email address, user:ID, wallet:CHAIN:ADDRESS or an IP address'

interface ListFlags {
  readonly order: 'principal' | 'stored' | 'today'
  readonly limit: number
  readonly json?: boolean
}

interface LimitFlags {
  /** In MB of 1,048,576 bytes. */
  readonly daily?: number | 'default'
  readonly stored?: number | 'default'
  readonly json?: boolean
}

/** `lade admin callers`, `caller` and `limit`: who uses the service, and how much they may. */
export function addAdminPrincipals(admin: Command, terminal: Terminal): void {
  const list = admin
    .command('callers')
    .summary('List callers and what they store.')
    .description('List callers that have uploaded something, have a token, or have limits of their own.')
    .argument('[query]', 'part of the principal, or an email address')
    .addOption(
      new Option(
        '--order <order>',
        'Sort order. stored: most stored bytes first. today: most bytes charged today first.',
      )
        .choices(['principal', 'stored', 'today'])
        .default('stored'),
    )
    .option('--limit <number>', 'Maximum number of callers.', wholeNumberIn(1, MAX_LISTED), DEFAULT_LISTED)
    .option('--json', 'Print one JSON array.')
    .action(async (query: string | undefined) => {
      const { order, limit, json }: ListFlags = list.opts()
      const { client } = await connect(list, terminal)
      const listed = itemsOfPages(async (page) => {
        const search = query === undefined ? {} : { q: query }
        const { principals: items, nextCursor } = await client.admin.principals({
          order,
          limit: Math.min(PAGE, limit + 1),
          ...search,
          ...page,
          signal: terminal.interruption(),
        })
        return { items, nextCursor }
      })
      const { items: found, hasMore } = await takeFirst(listed, limit)
      if (json) terminal.print(JSON.stringify(found))
      else if (found.length === 0)
        terminal.note(query === undefined ? 'No callers yet.' : `No caller has "${printable(query)}".`)
      else for (const line of callerTable(found, terminal)) terminal.print(line)
      if (hasMore) terminal.note(`There are more than ${countOf(limit, 'caller')}. Raise --limit to see them.`)
    })
  addAccountOptions(list)

  const show = admin
    .command('caller')
    .summary('Show one caller.')
    .description('Show what one caller stores, its limits, tokens, uploads in flight, and whether it is blocked.')
    .argument('<caller>', CALLER)
    .option('--json', 'Print one JSON object.')
    .action(async (caller: string) => {
      const { client } = await connect(show, terminal)
      const found = await client.admin.principal(caller, { signal: terminal.interruption() })
      if (show.opts().json) return terminal.print(JSON.stringify(found))
      for (const line of callerLines(found, terminal)) terminal.print(line)
    })
  addAccountOptions(show)

  const limit = admin
    .command('limit')
    .summary('Set limits of one caller.')
    .description(
      'Set the daily quota and the limit of stored bytes of one caller. They hold from the next upload on. --daily limits all tokens of a user together. Each token is still limited by its own quota, which this command does not change. To let one token use more than the default, mint it with "lade keys mint --quota-mb".',
    )
    .argument('<caller>', CALLER)
    .option(
      '--daily <amount>',
      'Daily quota, such as 500MB or 20GB. "default" removes the quota that was set.',
      limitMb,
    )
    .option(
      '--stored <amount>',
      'Limit of stored bytes, such as 1TB. "default" removes the limit that was set.',
      limitMb,
    )
    .option('--json', 'Print one JSON object.')
    .action(async (caller: string) => {
      const { daily, stored, json }: LimitFlags = limit.opts()
      if (daily === undefined && stored === undefined) throw new UsageError('Use --daily, --stored or both.')
      const { client } = await connect(limit, terminal)
      const limits = {
        ...(daily !== undefined && { dailyMb: daily === 'default' ? null : daily }),
        ...(stored !== undefined && { storedMb: stored === 'default' ? null : stored }),
      }
      const set = await client.admin.setLimits(caller, limits, { signal: terminal.interruption() })
      terminal.print(json ? JSON.stringify(set) : `Limits of ${printable(caller)}: ${limitsText(set)}.`)
    })
  addAccountOptions(limit)
}

const COLUMNS: readonly Column[] = [
  { title: 'caller', minimum: 20 },
  { title: 'stored', align: 'right' },
  { title: 'files', align: 'right', rank: 3 },
  { title: 'today', align: 'right' },
  { title: 'last upload', rank: 2 },
  { title: 'limits', rank: 1 },
]

function callerTable(callers: readonly AdminPrincipalEntry[], { stdout }: Terminal): string[] {
  const rows = callers.map(({ principal, email, stored, today, lastUploadDay, limits, blocked }) => [
    `${email ?? principal}${blocked === undefined ? '' : ' (blocked)'}`,
    formatBytes(stored.bytes),
    stored.files.toLocaleString('en-US'),
    formatBytes(today.bytes),
    lastUploadDay ?? 'never',
    limits.dailyBytes === null && limits.storedBytes === null ? '-' : limitsText(limits),
  ])
  return formatTable(COLUMNS, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}

function callerLines(found: AdminPrincipal, { stdout, now }: Terminal): string[] {
  const { principal, email, stored, today, lastUploadDay, lastSeenAt, limits, tokens, uploads, blocked } = found
  const style = styleFor(stdout)
  const live = tokens.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > now().getTime(),
  )
  return [
    ...formatFacts(
      [
        ['caller', principal],
        ...(email === null ? [] : [['email', email] as const]),
        ...(blocked === undefined
          ? []
          : [['blocked', `${printable(blocked.reason)} (${formatFromNow(blocked.blockedAt, now())})`] as const]),
        ['stored', `${formatBytes(stored.bytes)}, ${countOf(stored.files, 'file')}`],
        ['today', `${formatBytes(today.bytes)}, ${countOf(today.files, 'file')}`],
        ['last upload', lastUploadDay ?? 'never'],
        ['last seen', lastSeenAt === null ? 'never' : formatFromNow(lastSeenAt, now())],
        ['limits', limitsText(limits)],
        ['uploads', `${uploads.length} in flight`],
        ['tokens', `${live.length} live, ${tokens.length - live.length} expired or revoked`],
      ],
      style,
    ),
  ]
}

function limitsText({ dailyBytes, storedBytes }: Pick<AdminLimits, 'dailyBytes' | 'storedBytes'>): string {
  const daily = dailyBytes === null ? 'default daily quota' : `${formatBytes(dailyBytes)} a day`
  return `${daily}, ${storedBytes === null ? 'default stored limit' : `${formatBytes(storedBytes)} stored`}`
}
