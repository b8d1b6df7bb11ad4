import type { ObjectHandle } from '../record-store.ts'
import {
  ALIAS_COLUMNS,
  ALIAS_ROWS,
  type Alias,
  choicesOf,
  NAME_ROLE,
  type NamedObject,
  partsOf,
} from './content-reads.ts'
import { batchesOf, MANY, prepareForMany } from './many.ts'
import { damagedRecords, isIntact, type SealedRow } from './seals.ts'
import type { Sql, SqlValue, Steps } from './sql.ts'

interface HandleRow {
  readonly id: number
  readonly asked: ObjectHandle
  readonly handle: ObjectHandle | null
}

interface PieceRow {
  readonly id: number
  readonly piece_root: Buffer
  readonly size_bytes: number
}

/** No handle, key or name is empty, and no piece root either. */
const NO_TEXT = ''
const NO_BYTES = Buffer.alloc(0)

/** Finds what many content keys mean, in a few statements. Answers what `objectsNamedBy` answers for each. */
export function prepareNamedObjects(db: Sql) {
  const handles = prepareForMany<ObjectHandle, HandleRow>(
    db,
    NO_TEXT,
    (list) => `SELECT entry.id, entry.sha256 AS asked, stored.sha256 AS handle
       FROM objects AS entry LEFT JOIN objects AS stored ON stored.id = entry.id WHERE entry.sha256 IN (${list})`,
  )
  const aliases = db.prepare<SqlValue[], Alias & { readonly key: string }>(
    `SELECT key, ${ALIAS_COLUMNS} FROM ${ALIAS_ROWS} WHERE key IN (${MANY}) AND place <> 'none' ORDER BY since, object`,
  )
  const names = db.prepare<SqlValue[], SealedRow & { readonly name: string; readonly object: number }>(
    `SELECT name, object, seal, piece_root, size_bytes FROM names JOIN objects ON objects.id = object WHERE name IN (${MANY})`,
  )
  // By the index of heads, as for one root.
  const pieces = db.prepare<SqlValue[], PieceRow>(
    `SELECT id, piece_root, size_bytes FROM objects
     WHERE piece_root IS NOT NULL AND substr(piece_root, 1, 6) IN (${MANY}) AND piece_root IN (${MANY}) ORDER BY id`,
  )
  const firstFileOf = db.prepare<[number], number | null>('SELECT MIN(sequence) FROM files WHERE object = ?').pluck()

  function* objectsOfHandles(asked: readonly ObjectHandle[]): Steps<Map<ObjectHandle, number>> {
    const rows = yield* handles.all(asked)
    for (const { asked, handle } of rows) {
      if (asked !== handle) throw damagedRecords(`the index leads from ${asked} to ${handle}`)
    }
    return new Map(rows.map(({ id, asked }) => [asked, id]))
  }

  function* byAlias(keys: readonly string[]): Steps<Map<string, Alias[]>> {
    const found = new Map<string, Alias[]>()
    for (const batch of batchesOf(keys, NO_TEXT)) {
      for (const row of yield* aliases.all(...batch)) {
        const others = found.get(row.key)
        if (others === undefined) found.set(row.key, [row])
        else others.push(row)
      }
    }
    return found
  }

  function* byName(searched: readonly string[]): Steps<Map<string, number>> {
    const found = new Map<string, number>()
    for (const batch of batchesOf(searched, NO_TEXT)) {
      for (const row of yield* names.all(...batch)) {
        if (!isIntact(row.name, NAME_ROLE, row)) throw damagedRecords(`the name ${row.name} leads to other bytes`)
        found.set(row.name, row.object)
      }
    }
    return found
  }

  /** The oldest object of each root, by `root`, and of each root and size, by `root:size`. */
  function* byPiece(roots: readonly string[]): Steps<Map<string, number>> {
    const found = new Map<string, number>()
    for (const batch of batchesOf(roots, NO_TEXT)) {
      const bytes = batch.map((root) => (root === NO_TEXT ? NO_BYTES : Buffer.from(root, 'hex')))
      const heads = bytes.map((root) => root.subarray(0, 6))
      for (const { id, piece_root, size_bytes } of yield* pieces.all(...heads, ...bytes)) {
        const root = piece_root.toString('hex')
        for (const key of [root, `${root}:${size_bytes}`]) if (!found.has(key)) found.set(key, id)
      }
    }
    return found
  }

  return {
    /** The objects that are called so. */
    objectsOfHandles,

    /** The objects that each key can mean, the first choice first. */
    *namedByEach(keys: readonly string[]): Steps<Map<string, readonly NamedObject[]>> {
      const isBound = (key: string): boolean => ['opaque', 'piece', 'piece-v1'].includes(kindOf(key))
      const bound = keys.filter(isBound)
      const named = yield* byName(
        bound.flatMap((key) => (kindOf(key) === 'opaque' ? nameOf(key) : kindOf(key) === 'piece-v1' ? key : [])),
      )
      const ofPiece = yield* byPiece(
        bound.flatMap((key) => (kindOf(key) === 'opaque' ? [] : (nameOf(key).split(':')[0] ?? []))),
      )
      const others = keys.filter((key) => !isBound(key))
      const known = yield* byAlias(others)
      const own = yield* objectsOfHandles(
        others.filter((key) => ['sha256', 'dag-pb'].includes(kindOf(key))).map(nameOf),
      )

      const found = new Map<string, readonly NamedObject[]>()
      for (const key of bound) {
        const name = nameOf(key)
        const object = named.get(kindOf(key) === 'piece-v1' ? key : name) ?? ofPiece.get(name)
        if (object !== undefined) found.set(key, [{ object, view: 'bytes' }])
      }
      for (const key of others) {
        const aliases = known.get(key) ?? []
        const object = ['sha256', 'dag-pb'].includes(kindOf(key)) ? own.get(nameOf(key)) : undefined
        // When it was staged is of interest only beside others.
        const since = object === undefined || aliases.length === 0 ? 0 : ((yield* firstFileOf.get(object)) ?? 0)
        const choices = choicesOf(key, aliases, object === undefined ? undefined : { object, since })
        if (choices.length > 0) found.set(key, choices)
      }
      return found
    },
  }
}

function kindOf(key: string): string {
  return partsOf(key)[0]
}

function nameOf(key: string): string {
  return partsOf(key)[1]
}
