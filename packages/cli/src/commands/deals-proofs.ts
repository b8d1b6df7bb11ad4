import type { DealAudit, DealProofs } from '@lade/core/wire'
import type { Command } from 'commander'
import { addAccountOptions, connect } from '../account/connection.ts'
import { addWalletOptions } from '../account/wallet-options.ts'
import { printable } from '../output/printable.ts'
import { styleFor } from '../output/style.ts'
import { type Column, formatTable } from '../output/table.ts'
import { formatTime } from '../output/times.ts'
import type { Terminal } from '../terminal.ts'

/** `lade deals proofs ID`: what provers have proved of a deal. */
export function addDealsProofs(deals: Command, terminal: Terminal): void {
  const command = deals
    .command('proofs')
    .summary('Show the proofs of a deal.')
    .description('Show the latest audits of each copy of a deal, newest first. "lade challenge" requests a new proof.')
    .argument('<id>', 'the id of a deal')
    .option(
      '--json',
      'Print one JSON object with the seed and proof of the last audit of each copy, so that anyone can check it.',
    )
    .action(async (id: string) => {
      const { client } = await connect(command, terminal)
      const proofs = await client.deals.proofs(id, { signal: terminal.interruption() })
      if (command.opts().json) return terminal.print(JSON.stringify(proofs))
      show(proofs, terminal)
    })
  addAccountOptions(command)
  addWalletOptions(command)
}

function show({ audits, aggregate }: DealProofs, terminal: Terminal): void {
  if (audits.length === 0) terminal.note('There are no audits yet.')
  else for (const line of tableOf(audits, terminal)) terminal.print(line)
  if (aggregate !== null) terminal.note(`The file is proved as part of the aggregate ${printable(aggregate)}.`)
  for (const { prover, cause } of audits.filter(({ passed }) => !passed)) {
    terminal.note(`${printable(prover)}: ${printable(cause ?? 'The proof was invalid.')}`)
  }
}

const COLUMNS: readonly Column[] = [
  { title: 'when' },
  { title: 'result' },
  { title: 'by', rank: 2 },
  { title: 'prover', minimum: 16 },
  { title: 'piece', minimum: 15, rank: 1 },
]

function tableOf(audits: readonly DealAudit[], { stdout }: Terminal): string[] {
  const rows = audits.map(({ at, passed, proofs, prover, pieceCid }) => [
    formatTime(at),
    passed ? 'passed' : 'failed',
    proofs === null ? '-' : `${proofs.length} leaves`,
    prover,
    pieceCid,
  ])
  return formatTable(COLUMNS, rows, { width: stdout.isTTY ? stdout.columns : undefined, style: styleFor(stdout) })
}
