import type { CopyRecord, DealRecord, FileRecord, RecordStore } from '../records/record-store.ts'
import type { FullDeal } from './deal-entry.ts'

/**
 * The deals of these files, in their order, with their copies, those deals about them that the chain has confirmed, and what their contracts
 * hold for them.
 */
export async function fullDeals(records: RecordStore, files: readonly FileRecord[]): Promise<FullDeal[]> {
  const deals = await records.placements.deals(files.map(({ sequence }) => sequence))
  const copies = deals.flatMap((deal) => copiesOf(deal).map(({ id }) => id))
  const onchain = copies.length === 0 ? [] : await records.chain.dealsOf(copies)
  const byFile = new Map(deals.map((deal) => [deal.file, deal]))
  // What one block has may be gone with it.
  const confirmed = onchain.filter(({ state }) => state === 'confirmed' || state === 'final')
  const byCopy = new Map(confirmed.map((deal) => [deal.copy, deal]))
  const named = confirmed.flatMap(({ contract, onchainId }) =>
    contract === null || onchainId === null ? [] : [{ contract, onchainId }],
  )
  const escrows = named.length === 0 ? [] : await records.escrow.find(named)
  return files.map((file) => {
    const placed = byFile.get(file.sequence)
    const own = placed && copiesOf(placed).flatMap(({ id }) => byCopy.get(id) ?? [])
    return { file, placed, onchain: own ?? [], escrows }
  })
}

function copiesOf({ pieces, car }: DealRecord): readonly CopyRecord[] {
  return [...pieces, ...(car === null ? [] : [car])].flatMap((piece) => piece.copies)
}
