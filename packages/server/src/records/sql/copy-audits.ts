import type { AuditRecord } from '../record-store.ts'
import { type AuditResult, decodeAuditResults, encodeAuditResults, KEPT_AUDITS } from './audit-results.ts'
import { forEach, type Sql, type Steps } from './sql.ts'

/** One audit as it is recorded. */
export type NewAudit = Omit<AuditRecord, 'prover' | 'pieceRoot' | 'pieceSizeBytes' | 'seed'> & { readonly seed: string }

interface KeptRow {
  readonly results: Buffer
  readonly seed: Buffer
  readonly proof: Buffer | null
}

/** A row of an older version. */
interface OldRow {
  readonly at: number
  readonly seed: string
  readonly passed: number
  readonly cause: string | null
  /** JSON. */
  readonly proof: string | null
}

interface CopyRow {
  readonly copy: number
  readonly prover: string
  readonly root: Buffer
  readonly pieceSizeBytes: number
}

/** The last audits of a copy, newest first, with the seed and the proof of the last one. */
interface CopyAudits {
  readonly results: readonly AuditResult[]
  readonly seed: Buffer
  readonly proof: Buffer | null
}

/** Audits of copies, for reads and writes alike. */
export function prepareCopyAudits(db: Sql) {
  const kept = db.prepare<[number], KeptRow>('SELECT results, seed, proof FROM copy_audits WHERE copy = ?')
  const oldOf = db.prepare<[number, number], OldRow>(
    'SELECT at, seed, passed, cause, proof FROM audits WHERE copy = ? ORDER BY id DESC LIMIT ?',
  )
  const keep = db.prepare<[number, Buffer, Buffer, Uint8Array | null]>(
    `INSERT INTO copy_audits (copy, results, seed, proof) VALUES (?, ?, ?, ?)
     ON CONFLICT (copy) DO UPDATE SET results = excluded.results, seed = excluded.seed, proof = excluded.proof`,
  )
  const dropOld = db.prepare<[number]>('DELETE FROM audits WHERE copy = ?')
  const copiesOfOld = db
    .prepare<[number], number>('SELECT copy FROM audits WHERE copy > 0 ORDER BY copy, id LIMIT ?')
    .pluck()
  const copiesOfFile = db.prepare<[number], CopyRow>(
    `SELECT copies.id AS copy, copies.prover, pieces.piece_root AS root, pieces.size_bytes AS "pieceSizeBytes"
     FROM pieces JOIN copies ON copies.piece = pieces.id
     WHERE pieces.id IN (SELECT piece FROM deal_pieces WHERE file = ?) ORDER BY copies.id DESC`,
  )

  /** Undefined for a copy that was never audited. */
  function* auditsOf(copy: number): Steps<(CopyAudits & { readonly hasOld: boolean }) | undefined> {
    const row = yield* kept.get(copy)
    const old = yield* oldOf.all(copy, KEPT_AUDITS)
    const results = row === undefined ? [] : decodeAuditResults(row.results)
    const [newest] = old
    if (newest === undefined) return row && { results, seed: row.seed, proof: row.proof, hasOld: false }
    const isOldLast = newest.at > (results[0]?.at ?? Number.NEGATIVE_INFINITY)
    const merged = [...old.map(({ at, passed, cause }) => ({ at, passed: passed === 1, cause })), ...results]
    return {
      results: merged.toSorted((one, other) => other.at - one.at).slice(0, KEPT_AUDITS),
      ...(isOldLast || row === undefined ? lastOf(newest) : row),
      hasOld: true,
    }
  }

  return {
    /** Keeps an audit as the last one of its copy. */
    *record({ copy, at, seed, passed, cause, proof }: NewAudit): Steps<void> {
      const before = yield* auditsOf(copy)
      const results = encodeAuditResults([{ at, passed, cause }, ...(before?.results ?? [])])
      yield* keep.run(copy, results, Buffer.from(seed, 'hex'), proof)
      if (before?.hasOld === true) yield* dropOld.run(copy)
    },

    /** Moves audits of an older version, of so many rows at most; answers of how many copies. */
    *moveOld({ limit }: { limit: number }): Steps<number> {
      const copies = new Set(yield* copiesOfOld.all(limit))
      yield* forEach(copies, function* (copy) {
        const audits = yield* auditsOf(copy)
        if (audits !== undefined) {
          yield* keep.run(copy, encodeAuditResults(audits.results), audits.seed, audits.proof)
        }
        yield* dropOld.run(copy)
      })
      return copies.size
    },

    /** Needs one state of the records for all its statements. */
    *ofFile({ file, limit }: { file: number; limit: number }): Steps<readonly AuditRecord[]> {
      const found: AuditRecord[] = []
      for (const { copy, prover, root, pieceSizeBytes } of yield* copiesOfFile.all(file)) {
        const audits = yield* auditsOf(copy)
        for (const [index, result] of (audits?.results ?? []).entries()) {
          const { seed, proof } = index === 0 && audits !== undefined ? audits : { seed: null, proof: null }
          const piece = { pieceRoot: root.toString('hex'), pieceSizeBytes }
          found.push({ copy, prover, ...piece, ...result, seed: seed?.toString('hex') ?? null, proof })
        }
      }
      return found.toSorted((one, other) => other.at - one.at).slice(0, limit)
    },
  }
}

function lastOf({ seed, proof }: OldRow): Pick<CopyAudits, 'seed' | 'proof'> {
  return { seed: Buffer.from(seed, 'hex'), proof: proof === null ? null : Buffer.from(proof, 'utf8') }
}
