import { CHUNK_DIGEST_BYTES } from '@lade/node/hashing/chunk-digests'
import type { BlobWithoutChunks, DamagedObject, DamageKind, InlinePage, ObjectHandle } from '../record-store.ts'
import type { Sql, Steps } from './sql.ts'

interface PlacedRow {
  readonly sha256: string
  readonly sizeBytes: number
  readonly place: 'inline' | 'blob' | 'none'
  readonly bytes: Buffer | null
}

/** Reads of what bytes are verified by, and of known damage. */
export function prepareIntegrityReads(db: Sql) {
  // SQL counts bytes from 1.
  const chunkDigests = db
    .prepare<[number, number, string], Buffer>(
      `SELECT substr(digests, 1 + ?, ?) FROM chunk_digests
       WHERE object = (SELECT id FROM objects WHERE sha256 = ?)`,
    )
    .pluck()
  const withoutChunks = db.prepare<[number, number], BlobWithoutChunks>(
    `SELECT object AS number, sha256, size_bytes AS "sizeBytes" FROM blobs_without_chunks JOIN objects ON objects.id = object
     WHERE object > ? ORDER BY object LIMIT ?`,
  )
  const withoutChunksCount = db.prepare<[], number>('SELECT COUNT(*) FROM blobs_without_chunks').pluck()
  const placed = db.prepare<[string, string, number], PlacedRow>(
    `SELECT sha256, size_bytes AS "sizeBytes", place, coalesce(inline, inline_v1) AS bytes FROM objects
     WHERE sha256 > ? AND sha256 < ? ORDER BY sha256 LIMIT ?`,
  )
  const damageOf = db
    .prepare<[ObjectHandle], DamageKind>(
      'SELECT kind FROM damaged WHERE object = (SELECT id FROM objects WHERE sha256 = ?)',
    )
    .pluck()
  const damaged = db.prepare<[number], DamagedObject>(
    `SELECT sha256 AS object, kind, noticed_at AS "noticedAt" FROM damaged JOIN objects ON objects.id = object
     ORDER BY noticed_at, object LIMIT ?`,
  )
  const damagedCount = db.prepare<[], number>('SELECT COUNT(*) FROM damaged').pluck()

  return {
    *chunkDigests(request: { sha256: string; from: number; count: number }): Steps<Uint8Array | undefined> {
      const { sha256, from, count } = request
      return yield* chunkDigests.get(from * CHUNK_DIGEST_BYTES, count * CHUNK_DIGEST_BYTES, sha256)
    },
    withoutChunks: ({ afterObject, limit }: { afterObject: number; limit: number }): Steps<BlobWithoutChunks[]> =>
      withoutChunks.all(afterObject, limit),
    *withoutChunksCount(): Steps<number> {
      return (yield* withoutChunksCount.get()) ?? 0
    },
    *inlineObjects({ after, before, limit }: { after: string; before: string; limit: number }): Steps<InlinePage> {
      const rows = yield* placed.all(after, before, limit)
      const objects = rows
        .filter(({ place }) => place === 'inline')
        .map(({ sha256, sizeBytes, bytes }) => ({ sha256, sizeBytes, bytes: bytes ?? new Uint8Array() }))
      return { objects, last: rows.at(-1)?.sha256 }
    },
    damageOf: (object: ObjectHandle): Steps<DamageKind | undefined> => damageOf.get(object),
    damaged: ({ limit }: { limit: number }): Steps<DamagedObject[]> => damaged.all(limit),
    *damagedCount(): Steps<number> {
      return (yield* damagedCount.get()) ?? 0
    },
  }
}
