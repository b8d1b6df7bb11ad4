import type { ContentView, ObjectHandle } from '../record-store.ts'
import { FILE_COLUMNS, FILE_ROWS, type FileRow, opaqueNameOf } from './file-row.ts'
import { damagedRecords, isIntact, type SealedRow } from './seals.ts'
import type { Sql, Steps } from './sql.ts'

/** An object that a key can mean, and how it answers to it. */
export interface NamedObject {
  readonly object: number
  readonly view: ContentView
}

/** Bytes by what is known of them. */
export interface KnownBytes {
  readonly sha256: string | null
  readonly pieceRoot: string
  readonly sizeBytes: number
}

/** A name that verification found, and the place in the order of staging that it has since then. */
export interface Alias extends NamedObject, SealedRow {
  readonly since: number
}

/** The object that a key means by itself, and when it was staged first. */
interface OwnObject {
  readonly object: number
  readonly since: number
}

/** What aliases are read from, and their columns. */
export const ALIAS_ROWS = 'aliases JOIN objects ON objects.id = object'
export const ALIAS_COLUMNS = 'object, view, since, seal, piece_root, size_bytes'

/** How an opaque id, or a piece key that is bound, leads to its object. */
export const NAME_ROLE = 'name'

/** The condition of a piece root that is bound as `:root`, so that it uses the index of heads. */
export const HAS_PIECE_ROOT = 'piece_root = :root AND substr(piece_root, 1, 6) = substr(:root, 1, 6)'

/** Finds what a content key means: its objects, and a principal's live file of them. For reads and writes alike. */
export function prepareContentReads(db: Sql) {
  // The row is asked, too, since an index that leads to another one must not pass for it.
  const rowOfHandle = db.prepare<[ObjectHandle], { readonly id: number; readonly handle: ObjectHandle | null }>(
    `SELECT entry.id, stored.sha256 AS handle FROM objects AS entry LEFT JOIN objects AS stored ON stored.id = entry.id
     WHERE entry.sha256 = ?`,
  )
  const rowOfName = db.prepare<[string], SealedRow & { readonly object: number }>(
    'SELECT object, seal, piece_root, size_bytes FROM names JOIN objects ON objects.id = object WHERE name = ?',
  )
  const objectOfPiece = db
    .prepare<[{ root: Buffer; sizeBytes: number }], number>(
      `SELECT id FROM objects WHERE ${HAS_PIECE_ROOT} AND size_bytes = :sizeBytes`,
    )
    .pluck()
  const firstOfRoot = db
    .prepare<[{ root: Buffer }], number | null>(`SELECT MIN(id) FROM objects WHERE ${HAS_PIECE_ROOT}`)
    .pluck()
  const handleOf = db.prepare<[number], ObjectHandle>('SELECT sha256 FROM objects WHERE id = ?').pluck()
  const allAliases = db.prepare<[string], Alias>(
    `SELECT ${ALIAS_COLUMNS} FROM ${ALIAS_ROWS} WHERE key = ? ORDER BY since, object`,
  )
  const keptAliases = db.prepare<[string], Alias>(
    `SELECT ${ALIAS_COLUMNS} FROM ${ALIAS_ROWS} WHERE key = ? AND place <> 'none' ORDER BY since, object`,
  )
  const firstFileOf = db.prepare<[number], number | null>('SELECT MIN(sequence) FROM files WHERE object = ?').pluck()
  const olderCar = db
    .prepare<[string, number], number>(
      `SELECT 1 FROM aliases
       WHERE key = ? AND view = 'car' AND since < (SELECT MIN(sequence) FROM files WHERE files.object = ?) LIMIT 1`,
    )
    .pluck()
  const live = db.prepare<[string, number, string], FileRow>(
    `SELECT ${FILE_COLUMNS} FROM ${FILE_ROWS}
     WHERE principal = ? AND object = ? AND name = ? AND ended_at IS NULL`,
  )

  function* objectOfHandle(handle: ObjectHandle): Steps<number | undefined> {
    const row = yield* rowOfHandle.get(handle)
    if (row === undefined || row.handle === handle) return row?.id
    throw damagedRecords(`the index leads from ${handle} to ${row.handle}`)
  }

  function* objectOfName(name: string): Steps<number | undefined> {
    const row = yield* rowOfName.get(name)
    if (row === undefined || isIntact(name, NAME_ROLE, row)) return row?.object
    throw damagedRecords(`the name ${name} leads to other bytes`)
  }

  /** The object that a key means by itself; an alias may mean others. */
  function* objectNamedBy(key: string): Steps<number | undefined> {
    const [kind, name] = partsOf(key)
    switch (kind) {
      case 'sha256':
        return yield* objectOfHandle(name)
      case 'opaque':
        return yield* objectOfName(name)
      case 'piece': {
        const [root = '', sizeBytes] = name.split(':')
        return yield* objectOfPiece.get({ root: Buffer.from(root, 'hex'), sizeBytes: Number(sizeBytes) })
      }
      case 'piece-v1': {
        // A key that was bound before older bytes turned out to have the same root is under its name.
        const bound = yield* objectOfName(key)
        return bound ?? (yield* firstOfRoot.get({ root: Buffer.from(name, 'hex') })) ?? undefined
      }
      default:
        return undefined
    }
  }

  function* objects(key: string, aliases: typeof allAliases): Steps<readonly NamedObject[]> {
    const [kind, name] = partsOf(key)
    const own = yield* kind === 'dag-pb' ? objectOfHandle(name) : objectNamedBy(key)
    if (kind === 'opaque' || kind === 'piece' || kind === 'piece-v1') {
      return own === undefined ? [] : [{ object: own, view: 'bytes' }]
    }
    const others = yield* aliases.all(key)
    return choicesOf(key, others, own === undefined ? own : { object: own, since: (yield* firstFileOf.get(own)) ?? 0 })
  }

  /**
   * The objects that a key can mean, the first choice first. Those that have no bytes any more, of which there may be many,
   * are left out where that is cheap to see: no file of theirs is open.
   */
  const objectsNamedBy = (key: string) => objects(key, keptAliases)

  return {
    objectNamedBy,
    objectsNamedBy,
    /** The same, and all that are without bytes. */
    objectsEverNamedBy: (key: string) => objects(key, allAliases),
    objectOfHandle,
    /** True when a row of this name leads to other bytes than it did: that there is no file under it cannot be said. */
    *isDamagedName(key: string): Steps<boolean> {
      return (yield* allAliases.all(key)).some((alias) => !isIntact(key, alias.view, alias))
    },
    handleOf: (object: number): Steps<ObjectHandle | undefined> => handleOf.get(object),

    /** The object of these bytes, by their sha2-256 where it is known, else by their piece. */
    *objectOfBytes({ sha256, pieceRoot, sizeBytes }: KnownBytes): Steps<number | undefined> {
      const object = sha256 === null ? undefined : yield* objectOfHandle(sha256)
      return object ?? (yield* objectOfPiece.get({ root: Buffer.from(pieceRoot, 'hex'), sizeBytes }))
    },

    /** True when a CAR was known by this key, as its root, before the first file of this object. */
    *hasOlderCar(key: string, object: number): Steps<boolean> {
      return (yield* olderCar.get(key, object)) !== undefined
    },

    /** The object that the key is bound to, unless it is called by one of these. */
    *boundElsewhere(key: string, handles: readonly ObjectHandle[]): Steps<ObjectHandle | undefined> {
      const [kind] = partsOf(key)
      if (kind !== 'opaque' && kind !== 'piece-v1') return undefined
      const object = yield* objectNamedBy(key)
      const bound = object === undefined ? undefined : yield* handleOf.get(object)
      return bound === undefined || handles.includes(bound) ? undefined : bound
    },

    /** The principal's file of this object that has not been ended; its term may be over. */
    openFile: (principal: string, object: number, key: string): Steps<FileRow | undefined> =>
      live.get(principal, object, opaqueNameOf(key)),

    /** The principal's file under this key that has neither been ended nor reached the end of its term. */
    *liveFile(principal: string, key: string, now: number): Steps<FileRow | undefined> {
      for (const { object } of yield* objectsNamedBy(key)) {
        const row = yield* live.get(principal, object, opaqueNameOf(key))
        if (row !== undefined && row.expires_at > now) return row
      }
      return undefined
    },
  }
}

/** The objects that a key can mean, the first choice first, of its aliases in their order and what it means by itself. */
export function choicesOf(key: string, aliases: readonly Alias[], own: OwnObject | undefined): readonly NamedObject[] {
  // A damaged row counts as none, so that the next upload of the bytes brings one that is intact.
  const others = aliases.filter((alias) => isIntact(key, alias.view, alias))
  const files = others.filter(({ view }) => view !== 'car')
  const wholes: (NamedObject & { readonly since: number })[] = others.filter(({ view }) => view === 'car')
  // A block and the CARs that it is the root of stand in for the same DAG: what was staged first stays.
  if (own !== undefined) wholes.push({ ...own, view: 'bytes' })
  wholes.sort((one, other) => one.since - other.since)
  // The root of a file names the file before itself, and other bytes name themselves.
  return key.startsWith('dag-pb:') ? [...files, ...wholes] : [...wholes, ...files]
}

/** The kind of a key, and what it says behind that. */
export function partsOf(key: string): [kind: string, name: string] {
  const colon = key.indexOf(':')
  return [key.slice(0, colon), key.slice(colon + 1)]
}
