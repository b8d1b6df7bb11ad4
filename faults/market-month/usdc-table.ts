import { isAddressEqual } from 'viem'
import type { MonthChain, MonthEvent } from './month-chain.ts'

/** What went through one account, or through the contract, in units of 10⁻⁶ USDC. */
export interface UsdcRow {
  readonly name: string
  /** What it had at first. */
  readonly start: bigint
  /** Put in escrow, as pay of deals and extensions. */
  readonly putIn: bigint
  /** Earned by proofs, and paid. */
  readonly paid: bigint
  /** Pay that came back. */
  readonly returned: bigint
  /** Put up as bonds. */
  readonly bonded: bigint
  /** Bonds that came back. */
  readonly released: bigint
  /** Bonds that went to the client. */
  readonly forfeited: bigint
  /** What it has now. */
  readonly left: bigint
}

type Flow = 'putIn' | 'paid' | 'returned' | 'bonded' | 'released' | 'forfeited'
const FLOWS: readonly Flow[] = ['putIn', 'paid', 'returned', 'bonded', 'released', 'forfeited']
/** How each of the flows changes what somebody has. */
const SIGNS = {
  client: { putIn: -1n, paid: 0n, returned: 1n, bonded: 0n, released: 0n, forfeited: 1n },
  prover: { putIn: 0n, paid: 1n, returned: 0n, bonded: -1n, released: 1n, forfeited: 0n },
  contract: { putIn: 1n, paid: -1n, returned: -1n, bonded: 1n, released: -1n, forfeited: -1n },
} as const satisfies Record<string, Record<Flow, bigint>>

/**
 * Adds up the events of the contract, for the client, which is the first account, each prover, and the contract.
 *
 * @returns the rows, and a sentence for each that its balance disagrees with.
 */
export async function usdcTable(chain: MonthChain, events: readonly MonthEvent[], start: bigint) {
  const [client, ...provers] = chain.accounts
  if (client === undefined) throw new TypeError('no accounts')
  const parties = [
    { name: 'client', kind: 'client', address: client, start },
    ...provers.map((address, index) => ({ name: `prover ${index + 1}`, kind: 'prover', address, start }) as const),
    { name: 'contract', kind: 'contract', address: chain.marketplace, start: 0n },
  ] as const
  const rows: UsdcRow[] = []
  const wrong: string[] = []
  for (const { name, kind, address, start } of parties) {
    const sums: Record<Flow, bigint> = { putIn: 0n, paid: 0n, returned: 0n, bonded: 0n, released: 0n, forfeited: 0n }
    for (const { flow, amount, prover } of flowsOf(events, client)) {
      const isOwn =
        kind === 'contract' || (SIGNS[kind][flow] !== 0n && (kind === 'client' || isAddressEqual(prover, address)))
      if (isOwn) sums[flow] += amount
    }
    const left = await chain.balanceOf(address)
    const expected = FLOWS.reduce((sum, flow) => sum + SIGNS[kind][flow] * sums[flow], start)
    if (left !== expected) wrong.push(`${name} has ${left}, and the events say ${expected}`)
    rows.push({ name, start, ...sums, left })
  }
  const total = (of: keyof Omit<UsdcRow, 'name'>) => rows.reduce((sum, row) => sum + row[of], 0n)
  if (total('left') !== total('start')) wrong.push(`all have ${total('left')}, and had ${total('start')}`)
  return { rows, wrong }
}

function* flowsOf(events: readonly MonthEvent[], client: `0x${string}`) {
  const provers = new Map<bigint, `0x${string}`>()
  for (const event of events) {
    // It moves nothing, and may come before the proposal: a batch that is sent again after a reorganisation names deals that are not back yet.
    if (event.eventName === 'Skipped') continue
    if (event.eventName === 'DealProposed') provers.set(event.args.dealId, event.args.prover)
    const prover = provers.get(event.args.dealId)
    if (prover === undefined) throw new Error(`the deal ${event.args.dealId} was not proposed`)
    const of = (flow: Flow, amount: bigint) => ({ flow, amount, prover, dealId: event.args.dealId })
    if (event.eventName === 'DealProposed') yield of('putIn', event.args.totalPayment)
    if (event.eventName === 'DealExtended') yield of('putIn', event.args.extraPayment)
    if (event.eventName === 'DealAccepted') yield of('bonded', event.args.bond)
    if (event.eventName === 'DealWithdrawn') yield of('returned', event.args.refund)
    if (event.eventName !== 'Paid') continue
    const isBack = isAddressEqual(event.args.to, client)
    yield of(isBack ? 'returned' : 'paid', event.args.pay)
    yield of(isBack ? 'forfeited' : 'released', event.args.bond)
  }
}

/** The same by deal. */
export function flowsByDeal(events: readonly MonthEvent[], client: `0x${string}`) {
  const deals = new Map<bigint, Record<Flow, bigint>>()
  for (const { dealId, flow, amount } of flowsOf(events, client)) {
    const sums = deals.get(dealId) ?? { putIn: 0n, paid: 0n, returned: 0n, bonded: 0n, released: 0n, forfeited: 0n }
    sums[flow] += amount
    deals.set(dealId, sums)
  }
  return deals
}

/** The rows as text, in USDC. */
export function shownTable(rows: readonly UsdcRow[]): string {
  const columns = ['start', ...FLOWS, 'left'] as const
  const usdc = (amount: bigint) => (Number(amount) / 1e6).toFixed(6)
  const lines = [['', ...columns], ...rows.map((row) => [row.name, ...columns.map((column) => usdc(row[column]))])]
  return lines
    .map((cells) => cells.map((cell, index) => (index === 0 ? cell.padEnd(10) : cell.padStart(14))).join(''))
    .join('\n')
}
