import { LadeError } from '@lade/core/errors'
import type { DealEvent } from '../chain/chain.ts'
import type { EscrowChange } from '../records/record-store.ts'
import type { ProposerRound, RoundContract } from './proposer-round.ts'

/** The most ranges of blocks that are asked for in one round. */
const MAX_RANGES = 20
const MAX_RANGE_BLOCKS = 5_000
/** Blocks without events are written down no more often than this; a restart asks about as many again. */
const MIN_EMPTY_BLOCKS = 200

/** How many blocks the node is asked about at a time: fewer after a failure, more after an answer. */
export interface ScanRange {
  blocks: number
  /** From the last block that is counted up to this one there were no events. */
  emptyTo?: number
}

/**
 * Counts what a contract said about deals of the account in blocks that are final: what went in, what was paid, what came back.
 *
 * The first range begins with the first transaction of the account that is recorded, or now. A node that does not return a range, because it
 * is too long or has too many events, is asked for half of it.
 *
 * @returns false while there is more to be counted.
 */
export async function countEscrow(
  round: ProposerRound,
  { contract, range }: { readonly contract: RoundContract; readonly range: ScanRange },
): Promise<boolean> {
  const { escrow, marketplace, accountId, head, finalityBlocks } = round
  const { account } = marketplace
  const final = head.number - finalityBlocks
  let scanned = await escrow.scannedTo(contract.id)
  for (let count = 0; count < MAX_RANGES; count += 1) {
    const from =
      scanned === undefined
        ? ((await escrow.firstBlock(accountId)) ?? Math.max(0, final))
        : Math.max(scanned, range.emptyTo ?? 0) + 1
    if (from > final) return true
    const to = Math.min(final, from + range.blocks - 1)
    const events = await eventsOf(contract, { from, to })
    if (events === undefined) {
      if (range.blocks === 1)
        round.trouble(`The node does not return the events of block ${from}. Escrow is not counted beyond it.`)
      range.blocks = Math.max(1, Math.floor((to - from + 1) / 2))
      return false
    }
    range.blocks = Math.min(MAX_RANGE_BLOCKS, range.blocks * 2)
    const changes = events.flatMap((event) => changeOf(event, account))
    if (changes.length > 0 || scanned === undefined || to - scanned >= MIN_EMPTY_BLOCKS) {
      // Somebody else counts, too: the next round sees how far it got.
      if (!(await escrow.apply({ contract: contract.id, after: scanned, to, changes, now: round.now() }))) {
        delete range.emptyTo
        return false
      }
      scanned = to
    }
    // Only now: what could not be written down is asked about again.
    range.emptyTo = to
  }
  return false
}

async function eventsOf(
  contract: RoundContract,
  blocks: { readonly from: number; readonly to: number },
): Promise<readonly DealEvent[] | undefined> {
  try {
    return await contract.events(blocks)
  } catch (error) {
    if (LadeError.has(error, 'chain_offline')) return undefined
    throw error
  }
}

function changeOf(event: DealEvent, account: string): readonly EscrowChange[] {
  const onchainId = event.dealId.toString()
  switch (event.kind) {
    case 'proposed': {
      const isOwn = event.client.toLowerCase() === account.toLowerCase()
      return isOwn ? [{ onchainId, kind: 'proposed', microUsdc: Number(event.microUsdc) }] : []
    }
    case 'accepted':
      return [{ onchainId, kind: 'accepted', endsAt: event.endsAt, bondMicroUsdc: Number(event.bondMicroUsdc) }]
    case 'ending':
      return [{ onchainId, kind: 'ending', endsAt: event.endsAt }]
    case 'extended':
      return [{ onchainId, kind: 'extended', extraMs: event.extraMs, microUsdc: Number(event.microUsdc) }]
    case 'withdrawn':
      return [{ onchainId, kind: 'withdrawn', microUsdc: Number(event.microUsdc) }]
    case 'settled':
    case 'slashed':
      return [{ onchainId, kind: event.kind }]
    case 'paid': {
      const isBack = event.to.toLowerCase() === account.toLowerCase()
      const amounts = { microUsdc: Number(event.microUsdc), bondMicroUsdc: Number(event.bondMicroUsdc) }
      return [{ onchainId, kind: isBack ? 'returned' : 'paidOut', ...amounts }]
    }
    // Who is owed what within the contract: it shows when it is paid.
    case 'proven':
    case 'missed':
      return []
  }
}
