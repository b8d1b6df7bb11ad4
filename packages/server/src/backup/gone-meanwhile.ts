import type { InventoryRecords } from '../records/record-store.ts'

const AROUND = 16

/** True when the records do not need a blob of this digest. */
export async function isGone(inventory: Pick<InventoryRecords, 'stored'>, sha256: string): Promise<boolean> {
  const around = await inventory.stored({ after: sha256.slice(0, -1), limit: AROUND })
  return !around.some((blob) => blob.sha256 === sha256)
}
