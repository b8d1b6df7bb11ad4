import type { BlobInRecords } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

/** What the blob store should hold. */
export function prepareInventoryReads(db: Sql) {
  // The handle of an object that was only ever composed is its piece key, which is no digest.
  const stored = db.prepare<[string, number], BlobInRecords>(
    `SELECT sha256, put, size_bytes AS "sizeBytes" FROM objects
     WHERE sha256 > ? AND sha256 < 'g' AND place = 'blob' AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)
     ORDER BY sha256 LIMIT ?`,
  )
  // What an object or an upload needs, and what is about to be removed: these records have met the bytes before.
  const knownBy = [
    'SELECT 1 FROM objects WHERE sha256 = ?',
    'SELECT 1 FROM discards WHERE sha256 = ? LIMIT 1',
    'SELECT 1 FROM reservations WHERE claimed_sha256 = ? LIMIT 1',
  ].map((text) => db.prepare<[string], number>(text).pluck())
  const orphans = db.prepare<[], number>('SELECT COUNT(*) FROM discards WHERE is_orphan = 1').pluck()
  const putOf = db
    .prepare<[string], string>(
      `SELECT put FROM objects WHERE sha256 = ? AND place = 'blob'
       AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
    )
    .pluck()
  const claimedPuts = db
    .prepare<[string], string>('SELECT claimed_put FROM reservations WHERE claimed_sha256 = ?')
    .pluck()
  const mark = db.prepare<[string], string>('SELECT value FROM marks WHERE name = ?').pluck()

  return {
    stored: ({ after, limit }: { after: string; limit: number }): Steps<BlobInRecords[]> => stored.all(after, limit),
    *known(digests: readonly string[]): Steps<string[]> {
      const known: string[] = []
      for (const sha256 of digests) {
        for (const place of knownBy) {
          if ((yield* place.get(sha256)) === undefined) continue
          known.push(sha256)
          break
        }
      }
      return known
    },
    *orphans(): Steps<number> {
      return (yield* orphans.get()) ?? 0
    },
    /** While an object has its bytes there, claims are of uploads that will take its place. */
    *puts(sha256: string): Steps<string[]> {
      const put = yield* putOf.get(sha256)
      return put === undefined ? yield* claimedPuts.all(sha256) : [put]
    },
    mark: (name: string): Steps<string | undefined> => mark.get(name),
  }
}
