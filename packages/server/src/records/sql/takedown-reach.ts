import { type BlockedName, keysOf, multihashOf } from '../blocked-name.ts'
import { prepareContentReads } from './content-reads.ts'
import type { Sql, Steps } from './sql.ts'
import { prepareTakedownReads } from './takedown-reads.ts'

/** What a name leads to. Objects that have a block of it are in `touched`, and in `whole` are all others. */
export interface Reach {
  readonly names: ReadonlySet<BlockedName>
  readonly whole: ReadonlySet<number>
  readonly touched: ReadonlySet<number>
}

/** Finds all that a takedown reaches. Runs inside the caller's transaction. */
export function prepareTakedownReach(db: Sql) {
  const content = prepareContentReads(db)
  const { namesOfObject } = prepareTakedownReads(db)
  const wholesOf = db.prepare<[number], number>('SELECT DISTINCT whole FROM parts WHERE part = ?').pluck()
  const holdersOf = db
    .prepare<[Uint8Array], number>(
      'SELECT DISTINCT object FROM blocks JOIN dags ON dags.id = blocks.dag WHERE multihash = ? AND object IS NOT NULL',
    )
    .pluck()

  function* objectsNamed(name: BlockedName): Steps<number[]> {
    const objects: number[] = []
    for (const key of keysOf(name)) {
      for (const { object } of yield* content.objectsEverNamedBy(key)) objects.push(object)
    }
    return objects
  }

  return {
    *reachOf(name: BlockedName): Steps<Reach> {
      const names = new Set([name])
      const whole = new Set<number>()
      // Both sets grow while they are walked, which ends when neither has anything new.
      for (const one of names) {
        const found = new Set(yield* objectsNamed(one))
        for (const object of found) {
          if (whole.has(object)) continue
          whole.add(object)
          for (const other of yield* namesOfObject(object)) names.add(other)
          for (const composed of yield* wholesOf.all(object)) found.add(composed)
        }
      }
      const touched = new Set<number>()
      for (const one of names) {
        const multihash = multihashOf(one)
        if (multihash === undefined) continue
        for (const object of yield* holdersOf.all(multihash)) {
          if (!whole.has(object)) touched.add(object)
        }
      }
      for (const object of touched) {
        for (const composed of yield* wholesOf.all(object)) if (!whole.has(composed)) touched.add(composed)
      }
      return { names, whole, touched }
    },
  }
}
