import type { DiscardWrites } from './discard-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** Of blobs that are looked through. Each function runs inside the caller's transaction. */
export function prepareInventoryWrites(db: Sql, discards: DiscardWrites) {
  const setMark = db.prepare<[string, string]>(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )

  return {
    *setMark({ name, value }: { name: string; value: string }): Steps<void> {
      yield* setMark.run(name, value)
    },

    *adopt({ sha256, now }: { sha256: string; now: number }): Steps<boolean> {
      if (yield* discards.isNeeded(sha256)) return false
      yield* discards.discardUnlessNeeded(sha256, now)
      return true
    },
  }
}
