import type { Reconciliation } from '../record-store.ts'
import { type NewAudit, prepareCopyAudits } from './copy-audits.ts'
import { READ_DEALS_OF_ENDED_COPIES } from './escrow-reads.ts'
import { preparePieceReads } from './piece-reads.ts'
import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'

export type CopyWrites = ReturnType<typeof prepareCopyWrites>

/** What is recorded of an audit. */
export interface AuditedRequest {
  readonly audit: NewAudit
  readonly nextAt: number
  readonly isFinal: boolean
  readonly isRetrievable: boolean
  readonly revision?: number
}

/** Whether a copy that ends is in its prover's data set, or may be. One that was stored without a data set has no piece id. */
const HAS_TO_BE_REMOVED = "CASE WHEN state = 'adding' OR piece_id IS NOT NULL THEN 1 ELSE 0 END"

/** Copies at provers. Each function runs inside the caller's transaction. */
export function prepareCopyWrites(db: Sql) {
  const { isNeeded } = preparePieceReads(db)
  const audits = prepareCopyAudits(db)
  const { markUnreconciled, restate } = preparePieceWrites(db)
  const insertCopy = db.prepare<
    [{ piece: number; prover: string; state: 'pending' | 'stored'; storedAt: number | null; now: number }]
  >(
    `INSERT INTO copies (piece, prover, state, attempts, next_at, stored_at, to_remove, onchain)
     VALUES (:piece, :prover, :state, 0, :now, :storedAt, 0, 0) ON CONFLICT DO NOTHING`,
  )
  // A placeholder stands beside a column before it is asked whether it is NULL, which tells PostgreSQL no type.
  const release = db.prepare<[{ piece: number; copy: number | null; now: number }]>(
    `UPDATE copies SET state = 'released', attempts = 0, next_at = :now, ended_at = :now, to_remove = ${HAS_TO_BE_REMOVED}
     WHERE piece = :piece AND ended_at IS NULL AND (id = :copy OR :copy IS NULL)`,
  )
  // What its deal on the chain holds may come back now.
  const readDealsAgain = db.prepare<[{ piece: number; now: number }]>(READ_DEALS_OF_ENDED_COPIES)
  const revisionOf = db.prepare<[number], number>('SELECT revision FROM pieces WHERE id = ?').pluck()
  const wantedOf = db
    .prepare<[number], number | null>(
      `SELECT MAX(COALESCE(car_copies, copies_wanted)) FROM deal_pieces JOIN deals ON deals.file = deal_pieces.file
       WHERE piece = ? AND closed_at IS NULL`,
    )
    .pluck()
  const setReconciled = db.prepare<[{ id: number; nextAt: number | null; wanted: number }]>(
    'UPDATE pieces SET unsettled_at = :nextAt, wanted = :wanted, revision = revision + 1 WHERE id = :id',
  )
  const markShort = db.prepare<[{ now: number }]>(
    `UPDATE pieces SET unsettled_at = :now, revision = revision + 1
     WHERE is_short = 1 AND (unsettled_at IS NULL OR unsettled_at > :now)`,
  )
  const setParked = db
    .prepare<[{ copy: number; now: number }], number>(
      `UPDATE copies SET state = 'parked', attempts = 0, next_at = :now, parked_at = :now
       WHERE id = :copy AND state = 'pending' RETURNING piece`,
    )
    .pluck()
  const setPendingAgain = db
    .prepare<[{ copy: number; now: number }], number>(
      `UPDATE copies SET state = 'pending', attempts = 0, next_at = :now
       WHERE id = :copy AND state = 'parked' RETURNING piece`,
    )
    .pluck()
  const delay = db.prepare<[number, number]>(
    'UPDATE copies SET attempts = attempts + 1, next_at = ? WHERE id = ? AND (ended_at IS NULL OR to_remove = 1)',
  )
  const setFailed = db
    .prepare<[{ copy: number; cause: string; now: number }], number>(
      `UPDATE copies SET state = 'failed', ended_at = :now, cause = :cause, proved_at = NULL, attempts = 0, next_at = :now,
         to_remove = ${HAS_TO_BE_REMOVED}
       WHERE id = :copy AND ended_at IS NULL RETURNING piece`,
    )
    .pluck()
  const setRemoved = db.prepare<[number]>('UPDATE copies SET to_remove = 0 WHERE id = ?')
  const auditedPiece = db.prepare<[number], { piece: number; revision: number }>(
    'SELECT piece, revision FROM copies JOIN pieces ON pieces.id = piece WHERE copies.id = ? AND ended_at IS NULL',
  )
  const { whole } = db.dialect
  const setAudited = db
    .prepare<[{ copy: number; at: number; passed: number; nextAt: number; isRetrievable: number }], number>(
      `UPDATE copies SET proved_at = CASE ${whole(':passed')} WHEN 1 THEN ${whole(':at')} END,
         retrievable_at = CASE ${whole(':isRetrievable')} WHEN 1 THEN ${whole(':at')} ELSE retrievable_at END,
         attempts = CASE ${whole(':passed')} WHEN 1 THEN 0 ELSE attempts + 1 END, next_at = :nextAt
       WHERE id = :copy AND ended_at IS NULL RETURNING piece`,
    )
    .pluck()

  function* fail({ copy, cause, now }: { copy: number; cause: string; now: number }): Steps<boolean> {
    const piece = yield* setFailed.get({ copy, cause, now })
    if (piece === undefined) return false
    yield* readDealsAgain.run({ piece, now })
    yield* markUnreconciled(piece, now)
    yield* restate(piece, now)
    return yield* isNeeded(piece)
  }

  /** Whether a failed audit says anything about the prover. */
  function* isFinding(copy: number, revision: number | undefined): Steps<boolean> {
    const found = yield* auditedPiece.get(copy)
    if (found === undefined || (revision !== undefined && revision !== found.revision)) return false
    return yield* isNeeded(found.piece)
  }

  /** Writes down when to look at the piece again, and how many copies it wants; with the copies changed already. */
  function* reconciled(id: number, nextAt: number | null): Steps<void> {
    const wanted = (yield* wantedOf.get(id)) ?? 0
    yield* setReconciled.run({ id, nextAt, wanted })
  }

  return {
    fail,
    reconciled,
    moveOldAudits: audits.moveOld,

    *reconcile(reconciliation: Reconciliation & { readonly now: number }): Steps<void> {
      const { piece, revision, add, addStored = [], release: released, nextAt, failure, now } = reconciliation
      const current = yield* revisionOf.get(piece)
      if (current === undefined || (revision !== undefined && revision !== current)) return
      for (const copy of released) yield* release.run({ piece, copy, now })
      if (released.length > 0) yield* readDealsAgain.run({ piece, now })
      let added = 0
      const copies = [
        ...add.map((prover) => ({ prover, state: 'pending', storedAt: null }) as const),
        ...addStored.map((prover) => ({ prover, state: 'stored', storedAt: now }) as const),
      ]
      for (const copy of copies) added += (yield* insertCopy.run({ piece, ...copy, now })).changes
      yield* reconciled(piece, nextAt)
      yield* restate(piece, now, failure ?? (added > 0 ? null : undefined))
    },

    /** Releases all copies of a piece. */
    *releaseAll(piece: number, now: number): Steps<void> {
      yield* release.run({ piece, copy: null, now })
      yield* readDealsAgain.run({ piece, now })
    },

    *markAllUnreconciled({ now }: { now: number }): Steps<void> {
      yield* markShort.run({ now })
    },

    *parked({ copy, now }: { copy: number; now: number }): Steps<boolean> {
      const piece = yield* setParked.get({ copy, now })
      if (piece !== undefined) yield* restate(piece, now)
      return piece !== undefined
    },

    *parkAgain({ copies, now }: { copies: readonly number[]; now: number }): Steps<void> {
      for (const copy of copies) {
        const piece = yield* setPendingAgain.get({ copy, now })
        if (piece !== undefined) yield* restate(piece, now)
      }
    },

    *retryLater({ copy, nextAt }: { copy: number; nextAt: number }): Steps<void> {
      yield* delay.run(nextAt, copy)
    },

    *removed({ copy }: { copy: number; now: number }): Steps<void> {
      yield* setRemoved.run(copy)
    },

    *audited({ audit, nextAt, isFinal, isRetrievable, revision }: AuditedRequest): Steps<boolean> {
      const { copy, at, passed, cause } = audit
      if (!passed && !(yield* isFinding(copy, revision))) return false
      yield* audits.record(audit)
      const audited = { copy, at, passed: passed ? 1 : 0, nextAt, isRetrievable: isRetrievable ? 1 : 0 }
      const piece = yield* setAudited.get(audited)
      if (piece !== undefined) yield* restate(piece, at)
      if (!passed && isFinal) yield* fail({ copy, cause: cause ?? 'audit', now: at })
      return true
    },
  }
}
