import type { UsageResult } from '@lade/core/wire'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { countOf, formatBytes } from '../output/amounts.ts'
import { styleFor } from '../output/style.ts'
import { formatFacts, formatTable } from '../output/table.ts'
import { formatFromNow } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

/** `lade usage`: what is used of the daily quota, and what is stored. */
export function addUsage(program: Command, terminal: Terminal): void {
  const command = program
    .command('usage')
    .summary('Show your usage and quota.')
    .description('Show your usage today and in the last seven days, the quota left, and your stored files.')
    .option('--json', 'Print one JSON object.')
    .action(async () => {
      const { client } = await connect(command, terminal)
      const usage = await client.usage({ signal: terminal.interruption() })
      if (command.opts().json) terminal.print(JSON.stringify(usage))
      else for (const line of describe(usage, terminal)) terminal.print(line)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}

function describe(usage: UsageResult, { stdout, now }: Terminal): string[] {
  const { userId, email, quotaBytes, today, stored, last7DaysTotalBytes, days } = usage
  const style = styleFor(stdout)
  const reserved = today.reservedBytes === 0 ? '' : `; ${formatBytes(today.reservedBytes)} reserved by running uploads`
  return [
    ...formatFacts(
      [
        ['user', email ?? userId],
        [
          'today',
          `${formatBytes(today.bytes)} of ${formatBytes(quotaBytes)} (${shareOf(today.bytes, quotaBytes)}), ${filesOf(today)}${reserved}`,
        ],
        [
          'left',
          `${formatBytes(today.remainingBytes)}${filesLeft(today)}, until the day ends ${formatFromNow(today.resetsAt, now())} (days are UTC)`,
        ],
        ['7 days', formatBytes(last7DaysTotalBytes)],
        ['stored', `${formatBytes(stored.bytes)}, ${countOf(stored.files, 'file')}`],
      ],
      style,
    ),
    '',
    ...formatTable(
      [{ title: 'day' }, { title: 'size', align: 'right' }, { title: 'files', align: 'right' }],
      days.map(({ date, bytes, files }) => [date, formatBytes(bytes), String(files)]),
      { style },
    ).map((line) => `  ${line}`),
  ]
}

/** Older services do not limit files. */
function filesOf({ files, filesLimit }: UsageResult['today']): string {
  if (filesLimit === undefined) return countOf(files, 'file')
  return `${files.toLocaleString('en-US')} of ${countOf(filesLimit, 'file')}`
}

function filesLeft({ remainingFiles }: UsageResult['today']): string {
  return remainingFiles === undefined ? '' : ` and ${countOf(remainingFiles, 'file')}`
}

function shareOf(bytes: number, quotaBytes: number): string {
  if (bytes >= quotaBytes) return '100%'
  const percent = Math.floor((bytes / quotaBytes) * 100)
  return percent === 0 && bytes > 0 ? 'less than 1%' : `${percent}%`
}
