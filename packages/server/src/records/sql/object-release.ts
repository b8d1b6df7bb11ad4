import type { ObjectHandle } from '../record-store.ts'
import type { ContentWrites } from './content-writes.ts'
import type { DiscardWrites } from './discard-writes.ts'
import type { Sql, Steps } from './sql.ts'

export type ObjectRelease = ReturnType<typeof prepareObjectRelease>

interface KeptRow {
  readonly handle: ObjectHandle
  readonly place: 'inline' | 'blob' | 'none'
}

/** Decides when bytes are needed by no file any more. Runs inside the caller's transaction. */
export function prepareObjectRelease(db: Sql, contents: ContentWrites, discards: DiscardWrites) {
  const anyLive = db
    .prepare<[number], number>(
      `SELECT 1 FROM files ${db.dialect.indexedBy('files_live_by_object')} WHERE object = ? AND ended_at IS NULL LIMIT 1`,
    )
    .pluck()
  const anyWhole = db.prepare<[number], number>('SELECT 1 FROM parts WHERE part = ? LIMIT 1').pluck()
  const keptOf = db.prepare<[number], KeptRow>('SELECT sha256 AS handle, place FROM objects WHERE id = ?')
  const partsOf = db.prepare<[number], number>('SELECT DISTINCT part FROM parts WHERE whole = ?').pluck()

  /** Lets go of the bytes of an object, and of what it was composed of, as far as nothing else needs them. */
  function* releaseObject(object: number, now: number): Steps<void> {
    if ((yield* anyLive.get(object)) !== undefined || (yield* anyWhole.get(object)) !== undefined) return
    const kept = yield* keptOf.get(object)
    if (kept === undefined) return
    const parts = yield* partsOf.all(object)
    yield* contents.dropBytes(object)
    for (const part of parts) yield* releaseObject(part, now)
    if (kept.place === 'blob' && parts.length === 0) yield* discards.discardUnlessNeeded(kept.handle, now)
  }

  return { releaseObject }
}
