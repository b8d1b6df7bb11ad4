import { type BlockedName, blockedNameOf, blockedNameOfMultihash, keysOf } from '../blocked-name.ts'
import type { BlockedObject, ObjectHandle, TakedownReach, TakedownRecord } from '../record-store.ts'
import { prepareContentReads } from './content-reads.ts'
import { mapEach, type Sql, type Steps } from './sql.ts'

export interface TakedownRow {
  readonly id: number
  readonly name: BlockedName
  readonly cid: string
  readonly reason: string
  readonly blocked_at: number
  readonly blocked_by: string
  readonly deletes: number
  readonly lifted_at: number | null
}

interface NamedPiece {
  readonly handle: ObjectHandle
  readonly size_bytes: number
  readonly piece_root: Buffer | null
}

const SHA2_256 = '1220'

/** An upload that was held against the takedowns of a revision; without one, it was held against none. */
export interface HeldAgainstTakedowns {
  readonly takedownRevision?: number | undefined
}

/** True when an upload was held against other takedowns than those of `revision`. */
export function haveTakedownsChanged({ takedownRevision }: HeldAgainstTakedowns, revision: number): boolean {
  return takedownRevision !== undefined && takedownRevision !== revision
}

/** The condition that an object is taken down as a whole. */
export const IS_TAKEN_DOWN =
  'EXISTS (SELECT 1 FROM takedown_objects WHERE takedown_objects.object = objects.id AND is_whole = 1)'

/** The condition that an object, or something in it, is taken down. */
export function isTouchedByTakedown(object: string): string {
  return `EXISTS (SELECT 1 FROM takedown_objects WHERE takedown_objects.object = ${object})`
}

/** Takedowns and what they reach. For reads and writes alike. */
export function prepareTakedownReads(db: Sql) {
  const content = prepareContentReads(db)
  const revision = db.prepare<[], number>("SELECT revision FROM moderation_revisions WHERE name = 'takedowns'").pluck()
  const changedSince = db.prepare<[number], TakedownRow>('SELECT * FROM takedowns WHERE revision > ? ORDER BY revision')
  const holding = db.prepare<[number, number], TakedownRow>(
    'SELECT * FROM takedowns WHERE lifted_at IS NULL AND id < ? ORDER BY id DESC LIMIT ?',
  )
  const byName = db.prepare<[string], TakedownRow>('SELECT * FROM takedowns WHERE name = ? AND lifted_at IS NULL')
  const names = db.prepare<[number], BlockedName>('SELECT name FROM takedown_names WHERE takedown = ?').pluck()
  const objects = db.prepare<[number], { object: ObjectHandle; is_whole: number }>(
    `SELECT objects.sha256 AS object, is_whole FROM takedown_objects JOIN objects ON objects.id = takedown_objects.object
     WHERE takedown = ?`,
  )
  const piece = db.prepare<[number], NamedPiece>(
    'SELECT sha256 AS handle, size_bytes, piece_root FROM objects WHERE id = ?',
  )
  const aliases = db.prepare<[number], string>('SELECT DISTINCT key FROM aliases WHERE object = ?').pluck()
  const roots = db
    .prepare<[number], Buffer>(
      'SELECT substr(digests, length(digests) - 31) FROM dags WHERE object = ? AND digests IS NOT NULL',
    )
    .pluck()
  const opaque = db.prepare<[number], string>('SELECT name FROM names WHERE object = ?').pluck()
  const heldByBlocked = db
    .prepare<[Uint8Array], number>(
      `SELECT 1 FROM blocks JOIN dags ON dags.id = blocks.dag JOIN takedown_objects ON takedown_objects.object = dags.object
       WHERE multihash = ? AND is_whole = 1 LIMIT 1`,
    )
    .pluck()
  const isTakenDown = db
    .prepare<[number], number>('SELECT 1 FROM takedown_objects WHERE object = ? AND is_whole = 1 LIMIT 1')
    .pluck()

  /** Every name that is known for an object: of its bytes, of the DAGs that were made of them, and those that it was staged under. */
  function* namesOfObject(object: number): Steps<BlockedName[]> {
    const known = yield* piece.get(object)
    if (known === undefined) return []
    const found = new Set<BlockedName>()
    if (!known.handle.startsWith('piece:')) found.add(blockedNameOf(`sha256:${known.handle}`))
    if (known.piece_root !== null) {
      const root = known.piece_root.toString('hex')
      found.add(`piece:${root}:${known.size_bytes}`)
      if ((yield* content.objectNamedBy(`piece-v1:${root}`)) === object) found.add(`piece-v1:${root}`)
    }
    for (const key of yield* aliases.all(object)) found.add(blockedNameOf(key))
    for (const root of yield* roots.all(object)) {
      found.add(blockedNameOfMultihash(Buffer.concat([Buffer.from(SHA2_256, 'hex'), root])))
    }
    for (const name of yield* opaque.all(object)) found.add(name.startsWith('piece-v1:') ? name : `opaque:${name}`)
    return [...found]
  }

  function* reachOf(row: TakedownRow): Steps<TakedownReach> {
    const reached = yield* objects.all(row.id)
    return {
      takedown: takedownFromRow(row),
      names: yield* names.all(row.id),
      objects: reached.map(({ object, is_whole }): BlockedObject => ({ object, isWhole: is_whole === 1 })),
    }
  }

  function* currentRevision(): Steps<number> {
    return (yield* revision.get()) ?? 0
  }

  return {
    *haveChanged(upload: HeldAgainstTakedowns): Steps<boolean> {
      return upload.takedownRevision !== undefined && haveTakedownsChanged(upload, yield* currentRevision())
    },

    namesOfObject,
    revision: currentRevision,
    byName: (name: BlockedName): Steps<TakedownRow | undefined> => byName.get(name),

    /** Needs one state of the records for all its statements. */
    *changes({ since }: { since: number }): Steps<{ revision: number; changed: TakedownReach[] }> {
      const now = yield* currentRevision()
      return { revision: now, changed: now === since ? [] : yield* mapEach(yield* changedSince.all(since), reachOf) }
    },

    *list({ before, limit }: { before?: number; limit: number }): Steps<TakedownRecord[]> {
      return (yield* holding.all(before ?? Number.MAX_SAFE_INTEGER, limit)).map(takedownFromRow)
    },

    /** Needs one state of the records for all its statements. */
    *namesOf(handle: ObjectHandle): Steps<BlockedName[]> {
      const object = yield* content.objectOfHandle(handle)
      return object === undefined ? [] : yield* namesOfObject(object)
    },

    /** Needs one state of the records for all its statements. */
    *hasBlock(multihash: Uint8Array): Steps<boolean> {
      if ((yield* heldByBlocked.get(multihash)) !== undefined) return true
      for (const key of keysOf(blockedNameOfMultihash(multihash))) {
        for (const { object } of yield* content.objectsEverNamedBy(key)) {
          if ((yield* isTakenDown.get(object)) !== undefined) return true
        }
      }
      return false
    },
  }
}

export function takedownFromRow(row: TakedownRow): TakedownRecord {
  return {
    id: row.id,
    name: row.name,
    cid: row.cid,
    reason: row.reason,
    blockedAt: row.blocked_at,
    blockedBy: row.blocked_by,
    isDeleted: row.deletes === 1,
    liftedAt: row.lifted_at,
  }
}
