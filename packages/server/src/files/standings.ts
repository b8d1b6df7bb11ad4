import type { FileRecord, RecordStore } from '../records/record-store.ts'
import type { PlacedStanding } from './deal-standing.ts'

/** Where the deals of these files stand, by sequence; files that nobody has begun to place are left out. */
export async function standingsOf(
  records: RecordStore,
  files: readonly FileRecord[],
): Promise<ReadonlyMap<number, PlacedStanding>> {
  const deals = await records.placements.standings(files.map(({ sequence }) => sequence))
  return new Map(deals.map((deal) => [deal.file, deal]))
}

/** Where the deal of one file stands. */
export async function standingOf(records: RecordStore, file: FileRecord): Promise<PlacedStanding | undefined> {
  return (await standingsOf(records, [file])).get(file.sequence)
}
