import type { DamageKind, ObjectHandle, SealPlace } from '../record-store.ts'
import { PART_ROLE } from './composition-reads.ts'
import { NAME_ROLE } from './content-reads.ts'
import { prepareForMany, type StatementOfMany } from './many.ts'
import { partName, type SealedBytes, sealOf } from './seals.ts'
import type { Sql, Steps } from './sql.ts'

const NO_OBJECT = 0

export type IntegrityWrites = ReturnType<typeof prepareIntegrityWrites>

/** What bytes are verified by, and known damage. Each function runs inside the caller's transaction. */
export function prepareIntegrityWrites(db: Sql) {
  const deleteOfMany = (table: string): StatementOfMany<number, unknown> =>
    prepareForMany<number>(db, NO_OBJECT, (objects) => `DELETE FROM ${table} WHERE object IN (${objects})`)
  const blobOf = db
    .prepare<[ObjectHandle], number>(
      `SELECT id FROM objects WHERE sha256 = ? AND place = 'blob' AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id)`,
    )
    .pluck()
  const setChunks = db.prepare<[number, Uint8Array]>(
    'INSERT INTO chunk_digests (object, digests) VALUES (?, ?) ON CONFLICT (object) DO UPDATE SET digests = excluded.digests',
  )
  const dropChunks = deleteOfMany('chunk_digests')
  const hasChunks = deleteOfMany('blobs_without_chunks')
  const setDamaged = db.prepare<[{ object: ObjectHandle; kind: DamageKind; now: number }]>(
    `INSERT INTO damaged (object, kind, noticed_at)
     SELECT id, :kind, ${db.dialect.whole(':now')} FROM objects WHERE sha256 = :object AND place <> 'none'
     ON CONFLICT (object) DO UPDATE SET kind = excluded.kind`,
  )
  const clear = deleteOfMany('damaged')
  const clearByHandle = db.prepare<[ObjectHandle]>(
    'DELETE FROM damaged WHERE object = (SELECT id FROM objects WHERE sha256 = ?)',
  )

  const unsealedAliases = db.prepare<[string, number], SealedBytes & { key: string; object: number; view: string }>(
    `SELECT key, object, view, piece_root, size_bytes FROM aliases JOIN objects ON objects.id = object
     WHERE seal IS NULL AND key > ? ORDER BY key LIMIT ?`,
  )
  const sealAlias = db.prepare<[string | null, string, number, string]>(
    'UPDATE aliases SET seal = ? WHERE key = ? AND object = ? AND view = ?',
  )
  const unsealedNames = db.prepare<[string, number], SealedBytes & { name: string }>(
    `SELECT name, piece_root, size_bytes FROM names JOIN objects ON objects.id = object
     WHERE seal IS NULL AND name > ? ORDER BY name LIMIT ?`,
  )
  const sealName = db.prepare<[string | null, string]>('UPDATE names SET seal = ? WHERE name = ?')
  const unsealedWholes = db
    .prepare<[number, number], number>(
      'SELECT DISTINCT whole FROM parts WHERE seal IS NULL AND whole > ? ORDER BY whole LIMIT ?',
    )
    .pluck()
  const bytesOf = db.prepare<[number], SealedBytes>('SELECT piece_root, size_bytes FROM objects WHERE id = ?')
  const partsOf = db.prepare<[number], SealedBytes & { position: number }>(
    'SELECT position, piece_root, size_bytes FROM parts JOIN objects ON objects.id = part WHERE whole = ?',
  )
  const sealPart = db.prepare<[string | null, number, number]>(
    'UPDATE parts SET seal = ? WHERE whole = ? AND position = ?',
  )

  function* sealParts(whole: number): Steps<void> {
    const bytes = yield* bytesOf.get(whole)
    for (const part of yield* partsOf.all(whole)) {
      if (bytes !== undefined) {
        yield* sealPart.run(sealOf(partName(bytes, part.position), PART_ROLE, part), whole, part.position)
      }
    }
  }

  function* recordChunks(object: number, digests: Uint8Array): Steps<void> {
    yield* setChunks.run(object, digests)
    yield* hasChunks.run([object])
  }

  return {
    /** Records the digests of the chunks of an object that is a blob. */
    recordChunks,
    /** Forgets damage, since verified bytes are in its place. */
    *bytesAreRight(object: number): Steps<void> {
      yield* clear.run([object])
    },
    /** Forgets what was known of the bytes of objects that are not kept any more. */
    *forgetBytes(objects: readonly number[]): Steps<void> {
      yield* dropChunks.run(objects)
      yield* hasChunks.run(objects)
      yield* clear.run(objects)
    },
    *setChunkDigests({ sha256, digests }: { sha256: string; digests: Uint8Array }): Steps<void> {
      const object = yield* blobOf.get(sha256)
      if (object !== undefined) yield* recordChunks(object, digests)
    },
    *setDamaged(request: { object: ObjectHandle; kind: DamageKind; now: number }): Steps<void> {
      yield* setDamaged.run(request)
    },
    /** Seals rows of an older version, as they are. Answers where to go on; undefined when all were looked at. */
    *sealRows({ after, limit }: { after: SealPlace; limit: number }): Steps<SealPlace | undefined> {
      const aliases = yield* unsealedAliases.all(after.alias, limit)
      for (const row of aliases) yield* sealAlias.run(sealOf(row.key, row.view, row), row.key, row.object, row.view)
      const names = yield* unsealedNames.all(after.name, limit)
      for (const row of names) yield* sealName.run(sealOf(row.name, NAME_ROLE, row), row.name)
      const wholes = yield* unsealedWholes.all(after.whole, limit)
      for (const whole of wholes) yield* sealParts(whole)
      if (aliases.length < limit && names.length < limit && wholes.length < limit) return undefined
      return {
        // Rows of one key may be on both sides of the limit.
        alias: aliases.at(-2)?.key ?? after.alias,
        name: names.at(-1)?.name ?? after.name,
        whole: wholes.at(-1) ?? after.whole,
      }
    },
    *clearDamaged(object: ObjectHandle): Steps<void> {
      yield* clearByHandle.run(object)
    },
  }
}
