import type { BlockedCallerEntry, BlockList, ContentBlockEntry } from '@lade/client'
import { type Command, Option } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { itemsOfPages } from '../items-of-pages.ts'
import { countOf } from '../output/amounts.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'

/** Entries that are asked for at a time. */
const PAGE = 1000
const JSON_OBJECT = 'Print one JSON object.'
const JSON_ARRAY = 'Print one JSON array.'

interface BlockFlags {
  readonly reason: string
  readonly delete?: boolean
  readonly json?: boolean
}

/** `lade admin block CID`: refuses content, and `unblock` and `blocks`. */
export function addAdminBlocks(admin: Command, terminal: Terminal): void {
  const block = admin
    .command('block')
    .summary('Block content: all its ids get 451.')
    .description(
      'Block content. Within 2 seconds, every instance answers 451 to requests for any known id of the content, and refuses new uploads of it. Owners are told the reason.',
    )
    .argument('<cid>', 'any id of the content')
    .requiredOption('--reason <text>', 'Why, in one line.')
    .option('--delete', 'Remove the files, and delete their bytes at once.')
    .option('--json', JSON_OBJECT)
    .action(async (cid: string) => {
      const { client } = await connect(block, terminal)
      const { reason, delete: deletes = false, json }: BlockFlags = block.opts()
      const result = await client.admin.blocks.add(cid, { reason, delete: deletes, signal: terminal.interruption() })
      if (json) return terminal.print(JSON.stringify(result))
      const files = deletes
        ? `Removed ${countOf(result.ended, 'file')} and the bytes.`
        : `${countOf(result.files, 'live file')} ${result.files === 1 ? 'is' : 'are'} refused now.`
      terminal.print(`Blocked ${printable(result.cid)}. ${files}`)
      if (result.containing.length === 0) return
      terminal.note(
        `Other files contain it, and are refused as a whole; their bytes stay: ${result.containing.join(', ')}`,
      )
    })
  addAccountOptions(block)

  const unblock = admin
    .command('unblock')
    .summary('Unblock content.')
    .description('Unblock content. Files that were removed stay removed.')
    .argument('<cid>', 'the content id')
    .option('--json', JSON_OBJECT)
    .action(async (cid: string) => {
      const { client } = await connect(unblock, terminal)
      const entry = await client.admin.blocks.remove(cid, { signal: terminal.interruption() })
      terminal.print(unblock.opts().json ? JSON.stringify(entry) : `Unblocked ${printable(entry.cid)}.`)
    })
  addAccountOptions(unblock)

  const blocks = admin
    .command('blocks')
    .summary('List blocked content and denylists.')
    .description('List blocked content, newest first, and the denylists in force.')
    .option('--json', JSON_OBJECT)
    .action(async () => {
      const { client } = await connect(blocks, terminal)
      const entries: ContentBlockEntry[] = []
      let denylists: BlockList['denylists'] = []
      const listed = itemsOfPages(async (page) => {
        const answer = await client.admin.blocks.page({ limit: PAGE, ...page, signal: terminal.interruption() })
        denylists = answer.denylists
        return { items: answer.blocks, nextCursor: answer.nextCursor }
      })
      for await (const entry of listed) entries.push(entry)
      if (blocks.opts().json) return terminal.print(JSON.stringify({ blocks: entries, denylists }))
      for (const line of blockTable(entries, terminal)) terminal.print(line)
      for (const { file, rules, invalid } of denylists) {
        const faults = invalid === 0 ? '' : `, ${countOf(invalid, 'invalid line')}`
        terminal.print(`Denylist ${printable(file)}: ${countOf(rules, 'rule')}${faults}`)
      }
    })
  addAccountOptions(blocks)
}

interface BlockCallerFlags {
  readonly email?: string
  readonly principal?: string
  readonly address?: string
  readonly network?: string
  readonly reason: string
  readonly files: 'keep' | 'remove'
  readonly json?: boolean
}

/** `lade admin block-caller`: refuses a caller, and `unblock-caller` and `blocked-callers`. */
export function addAdminBlockedCallers(admin: Command, terminal: Terminal): void {
  const block = admin
    .command('block-caller')
    .summary('Block a user, a wallet, an IP address or a network.')
    .description(
      'Block a caller: one of --email, --principal, --address and --network. Within 2 seconds, every instance refuses its requests with 403. The caller is told the reason.',
    )
    .option('--email <address>', 'Email address of a user.')
    .option('--principal <principal>', 'user:ID, wallet:CHAIN:ADDRESS or ip:ADDRESS.')
    .option('--address <address>', 'An IP address, or the 0x address of a wallet.')
    .option('--network <cidr>', 'A network, such as 192.0.2.0/24.')
    .requiredOption('--reason <text>', 'Why, in one line.')
    .addOption(
      new Option('--files <what>', 'What to do with the files of the caller.')
        .choices(['keep', 'remove'])
        .default('keep'),
    )
    .option('--json', JSON_OBJECT)
    .action(async () => {
      const { json, ...request }: BlockCallerFlags = block.opts()
      const { email, principal, address, network, reason, files } = request
      const subjects = { email, principal, address, network }
      if (Object.values(subjects).filter((one) => one !== undefined).length !== 1) {
        throw new UsageError('Use exactly one of --email, --principal, --address and --network.')
      }
      const { client } = await connect(block, terminal)
      const subject = Object.fromEntries(Object.entries(subjects).filter(([, one]) => one !== undefined))
      const signal = terminal.interruption()
      const caller = await client.admin.blockedCallers.add({ ...subject, reason, files }, { signal })
      if (json) return terminal.print(JSON.stringify(caller))
      terminal.print(`Blocked ${printable(caller.given)} as number ${caller.id}.`)
      if (caller.removing) terminal.note('Its files are being removed.')
    })
  addAccountOptions(block)

  const unblock = admin
    .command('unblock-caller')
    .summary('Unblock a caller.')
    .description('Unblock a caller by its number. "lade admin blocked-callers" lists them.')
    .argument('<number>', 'number of the blocked caller')
    .option('--json', JSON_OBJECT)
    .action(async (number: string) => {
      if (!/^[1-9]\d{0,14}$/.test(number)) throw new UsageError(`${number} is not the number of a blocked caller.`)
      const { client } = await connect(unblock, terminal)
      const caller = await client.admin.blockedCallers.remove(Number(number), { signal: terminal.interruption() })
      terminal.print(unblock.opts().json ? JSON.stringify(caller) : `Unblocked ${printable(caller.given)}.`)
    })
  addAccountOptions(unblock)

  const list = admin
    .command('blocked-callers')
    .summary('List blocked callers.')
    .description('List blocked callers, newest first.')
    .option('--json', JSON_ARRAY)
    .action(async () => {
      const { client } = await connect(list, terminal)
      const callers: BlockedCallerEntry[] = []
      const listed = itemsOfPages(async (page) => {
        const request = { limit: PAGE, ...page, signal: terminal.interruption() }
        const { callers: items, nextCursor } = await client.admin.blockedCallers.page(request)
        return { items, nextCursor }
      })
      for await (const caller of listed) callers.push(caller)
      if (list.opts().json) return terminal.print(JSON.stringify(callers))
      for (const line of callerTable(callers, terminal)) terminal.print(line)
    })
  addAccountOptions(list)
}

function blockTable(entries: readonly ContentBlockEntry[], { stdout, now }: Terminal): string[] {
  const columns = [
    { title: 'cid', rank: 1 },
    { title: 'reason', minimum: 20 },
    { title: 'blocked', rank: 3 },
    { title: 'bytes', rank: 4 },
  ]
  const at = now()
  const rows = entries.map(({ cid, reason, blockedAt, deleted }) => [
    cid,
    reason,
    formatFromNow(blockedAt, at),
    deleted ? 'deleted' : 'kept',
  ])
  return formatTable(columns, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}

function callerTable(callers: readonly BlockedCallerEntry[], { stdout, now }: Terminal): string[] {
  const columns = [
    { title: 'number', align: 'right' as const },
    { title: 'caller', rank: 1 },
    { title: 'reason', minimum: 20 },
    { title: 'files', rank: 4 },
    { title: 'blocked', rank: 3 },
  ]
  const at = now()
  const rows = callers.map(({ id, given, value, reason, files, removing, blockedAt }) => [
    String(id),
    given === value ? given : `${given} (${value})`,
    reason,
    removing ? 'being removed' : files === 'remove' ? 'removed' : 'kept',
    formatFromNow(blockedAt, at),
  ])
  return formatTable(columns, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}
