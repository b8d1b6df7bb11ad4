import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { PlacedDealStatus } from './deal-status.ts'

/** The status of the deals of these files, by sequence; files that nobody has begun to place are left out. */
export async function placedStatusesOf(
  records: RecordStore,
  files: readonly FileRecord[],
): Promise<ReadonlyMap<number, PlacedDealStatus>> {
  const deals = await records.placements.statuses(files.map(({ sequence }) => sequence))
  return new Map(deals.map((deal) => [deal.file, deal]))
}

/** The status of the deal of one file. */
export async function placedStatusOf(records: RecordStore, file: FileRecord): Promise<PlacedDealStatus | undefined> {
  return (await placedStatusesOf(records, [file])).get(file.sequence)
}
