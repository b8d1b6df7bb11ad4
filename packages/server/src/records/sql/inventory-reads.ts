import type { BlobInRecords } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** What the blob store should hold. */
export function prepareInventoryReads(db: Sql) {
  // The handle of an object that was only ever composed is its piece key, which is no digest.
  const stored = db.prepare<[string, number], BlobInRecords>(
    `SELECT sha256, size_bytes AS "sizeBytes" FROM objects
     WHERE sha256 > ? AND sha256 < 'g' AND place = 'blob' AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)
     ORDER BY sha256 LIMIT ?`,
  )
  const mark = db.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck()

  return {
    stored: ({ after, limit }: { after: string; limit: number }): Steps<BlobInRecords[]> => stored.all(after, limit),
    mark: (name: string): Steps<string | undefined> => mark.get(name),
  }
}
