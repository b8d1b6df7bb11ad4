import type { DealCopy, DealEntry } from '@lade/core/wire'
import type { Terminal } from '../terminal.ts'
import { formatBytes } from './amounts.ts'
import { printable } from './printable.ts'
import { styleFor } from './style.ts'
import { type Column, formatFacts, formatTable } from './table.ts'
import { formatFromNow, formatTime } from './times.ts'

/** One deal in full, for people: its facts, a table of its copies, and why those that failed did. */
export function describeDeal(deal: DealEntry, terminal: Pick<Terminal, 'stdout' | 'now'>): string[] {
  const style = styleFor(terminal.stdout)
  const facts = formatFacts(factsOf(deal).filter((fact) => fact[1] !== undefined) as [string, string][], style)
  const failures = deal.copies.flatMap(({ prover, cause }) =>
    cause === null ? [] : [`${printable(prover)}: ${printable(cause)}`],
  )
  return [
    style.bold(printable(deal.dealId)),
    ...facts,
    ...(deal.copies.length === 0 ? [] : ['', ...copiesTable(deal, terminal)]),
    ...(failures.length === 0 ? [] : ['', ...failures]),
  ]
}

function factsOf(deal: DealEntry): [name: string, value: string | undefined][] {
  const { aggregate, cause, provedCopies, redundancy, onchainDealId } = deal
  const seen = (time: string | null) => (time === null ? '-' : formatTime(time))
  return [
    ['status', `${deal.status}, since ${formatTime(deal.statusAt)}`],
    ['cause', cause ?? undefined],
    ['cid', deal.cid],
    ['piece', deal.pieceCid ?? '-'],
    ['aggregate', aggregate === null ? undefined : `${aggregate.pieceCid}, at byte ${aggregate.offset}`],
    ['size', formatBytes(deal.size)],
    ['term', `${deal.term}, from ${formatTime(deal.createdAt)} until ${formatTime(deal.expiresAt)}`],
    ['ended', deal.endedAt === null ? undefined : formatTime(deal.endedAt)],
    ['copies', `${provedCopies} of ${redundancy} proved`],
    ['stored', seen(deal.storedAt)],
    ['proved', seen(deal.provedAt)],
    ['read back', seen(deal.retrievableAt)],
    ['on chain', onchainDealId ?? undefined],
    ['contract', contractsOf(deal).join(', ') || undefined],
    ['url', deal.retrievalUrl],
  ]
}

const PROVER: Column = { title: 'prover', minimum: 16 }
const ON_CHAIN: Column = { title: 'on chain', rank: 1 }
const ESCROW: Column = { title: 'escrow', rank: 3 }
const CONTRACT: Column = { title: 'contract', rank: 4 }
const PIECE: Column = { title: 'piece', minimum: 15, rank: 2 }

/** The marketplace contracts of the copies, each once. A service of an older version says nothing about it. */
function contractsOf({ copies }: Pick<DealEntry, 'copies'>): string[] {
  return [...new Set(copies.map(contractText).filter((text) => text !== '-'))]
}

function contractText({ onchain }: DealCopy): string {
  return onchain?.contract == null ? '-' : `${onchain.contract} on chain ${onchain.chainId}`
}

/** As `contractsOf`. */
function escrowText({ onchain }: DealCopy): string {
  if (onchain == null) return '-'
  return `${onchain.state}: ${onchain.escrowed} USDC, ${onchain.paid} paid, ${onchain.returned} back`
}

/** What every copy would have the same is not shown for each. */
function copiesTable({ copies }: DealEntry, { stdout, now }: Pick<Terminal, 'stdout' | 'now'>): string[] {
  const at = now()
  const isInPieces = new Set(copies.map(({ pieceCid }) => pieceCid)).size > 1
  const isOnChain = copies.some(({ onchainDealId }) => onchainDealId !== null)
  const isKnownOnChain = copies.some(({ onchain }) => onchain != null)
  const columns: [Column, (copy: DealCopy) => string][] = [
    [PROVER, ({ prover }) => prover],
    [{ title: 'state' }, ({ state }) => state],
    [{ title: 'proved' }, ({ provedAt }) => (provedAt === null ? '-' : formatFromNow(provedAt, at))],
    ...(isOnChain ? ([[ON_CHAIN, ({ onchainDealId }) => onchainDealId ?? '-']] as typeof columns) : []),
    ...(isKnownOnChain ? ([[ESCROW, escrowText]] as typeof columns) : []),
    ...(contractsOf({ copies }).length > 1 ? ([[CONTRACT, contractText]] as typeof columns) : []),
    ...(isInPieces ? ([[PIECE, ({ pieceCid }) => pieceCid]] as typeof columns) : []),
  ]
  const rows = copies.map((copy) => columns.map(([, cellOf]) => cellOf(copy)))
  const width = stdout.isTTY ? stdout.columns : undefined
  return formatTable(
    columns.map(([column]) => column),
    rows,
    { width, style: styleFor(stdout) },
  )
}
