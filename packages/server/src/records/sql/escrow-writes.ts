import { HOUR_MS } from '@lade/core/time'
import type { EscrowChange, EscrowState, OnchainDealName } from '../record-store.ts'
import { prepareEscrowReads, scanMark } from './escrow-reads.ts'
import { preparePieceWrites } from './piece-writes.ts'
import type { Sql, Steps } from './sql.ts'

/** After an undone transaction about a deal the next one is an hour later, then two, up to a day. */
const RETRY_MS = HOUR_MS
const MAX_RETRY_MS = 24 * HOUR_MS

/** What the contract holds. Each function runs inside the caller's transaction of the records. */
export function prepareEscrowWrites(db: Sql) {
  const { scannedTo } = prepareEscrowReads(db)
  const { restate } = preparePieceWrites(db)
  const setMark = db.prepare<[string, string]>(
    'INSERT INTO marks (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  )
  const insert = db.prepare<{ contract: string; onchainId: string; microUsdc: number; now: number }>(
    `INSERT INTO escrows (contract, onchain_id, state, final_state, paid_in, paid_out, returned, check_at, failures)
     VALUES (:contract, :onchainId, 'proposed', 'proposed', :microUsdc, 0, 0, :now, 0)`,
  )
  const move = db.prepare<{ contract: string; onchainId: string; state: EscrowState; now: number }>(
    `UPDATE escrows SET state = :state, final_state = :state, check_at = :now
     WHERE contract = :contract AND onchain_id = :onchainId`,
  )
  const accept = db.prepare<{ contract: string; onchainId: string; endsAt: number; bondMicroUsdc: number }>(
    'UPDATE escrows SET ends_at = :endsAt, bond = :bondMicroUsdc WHERE contract = :contract AND onchain_id = :onchainId',
  )
  const end = db.prepare<{ contract: string; onchainId: string; endsAt: number }>(
    'UPDATE escrows SET ends_at = :endsAt WHERE contract = :contract AND onchain_id = :onchainId',
  )
  const extend = db.prepare<{ contract: string; onchainId: string; extraMs: number; microUsdc: number; now: number }>(
    `UPDATE escrows SET ends_at = ends_at + :extraMs, paid_in = paid_in + :microUsdc, check_at = :now
     WHERE contract = :contract AND onchain_id = :onchainId`,
  )
  const payOut = db.prepare<{ contract: string; onchainId: string; microUsdc: number; bondMicroUsdc: number }>(
    `UPDATE escrows SET paid_out = paid_out + :microUsdc, bond_released = bond_released + :bondMicroUsdc
     WHERE contract = :contract AND onchain_id = :onchainId`,
  )
  const giveBack = db.prepare<{ contract: string; onchainId: string; microUsdc: number; bondMicroUsdc: number }>(
    `UPDATE escrows SET returned = returned + :microUsdc, bond_forfeited = bond_forfeited + :bondMicroUsdc
     WHERE contract = :contract AND onchain_id = :onchainId`,
  )
  const check = db.prepare<OnchainDealName & { state: EscrowState; nextAt: number | null }>(
    'UPDATE escrows SET state = :state, check_at = :nextAt WHERE contract = :contract AND onchain_id = :onchainId',
  )
  const isFree = db
    .prepare<[string, string], number>(
      'SELECT 1 FROM escrows WHERE contract = ? AND onchain_id = ? AND action_tx IS NULL AND check_at IS NOT NULL',
    )
    .pluck()
  const begin = db.prepare<[number, string, string]>(
    'UPDATE escrows SET action_tx = ? WHERE contract = ? AND onchain_id = ?',
  )
  const succeed = db.prepare<{ tx: number; at: number }>(
    'UPDATE escrows SET action_tx = NULL, failures = 0, check_at = :at WHERE action_tx = :tx',
  )
  const failuresOf = db.prepare<[number], number>('SELECT failures FROM escrows WHERE action_tx = ?').pluck()
  const fail = db.prepare<{ tx: number; at: number }>(
    'UPDATE escrows SET action_tx = NULL, failures = failures + 1, check_at = :at WHERE action_tx = :tx',
  )
  const release = db.prepare<[number]>('UPDATE escrows SET action_tx = NULL WHERE action_tx = ?')
  const pieceOf = db
    .prepare<[string, string], number>(
      'SELECT copies.piece FROM onchain_deals JOIN copies ON copies.id = onchain_deals.copy WHERE onchain_id = ? AND contract = ?',
    )
    .pluck()

  /** The deals of files are active only while the chain says that somebody has accepted them. */
  function* restatePieceOf({ contract, onchainId }: OnchainDealName, now: number): Steps<void> {
    for (const piece of yield* pieceOf.all(onchainId, contract)) yield* restate(piece, now)
  }

  function* change(contract: string, { onchainId, ...of }: EscrowChange, now: number): Steps<void> {
    const deal = { contract, onchainId }
    switch (of.kind) {
      case 'proposed':
        yield* insert.run({ ...deal, microUsdc: of.microUsdc, now })
        return
      case 'accepted':
        yield* accept.run({ ...deal, endsAt: of.endsAt, bondMicroUsdc: of.bondMicroUsdc })
        yield* move.run({ ...deal, state: 'active', now })
        return
      case 'ending':
        yield* end.run({ ...deal, endsAt: of.endsAt })
        yield* move.run({ ...deal, state: 'ending', now })
        return
      case 'extended':
        yield* extend.run({ ...deal, extraMs: of.extraMs, microUsdc: of.microUsdc, now })
        return
      case 'withdrawn':
        yield* giveBack.run({ ...deal, microUsdc: of.microUsdc, bondMicroUsdc: 0 })
        yield* move.run({ ...deal, state: 'withdrawn', now })
        return
      case 'settled':
      case 'slashed':
        yield* move.run({ ...deal, state: of.kind, now })
        return
      case 'paidOut':
        yield* payOut.run({ ...deal, microUsdc: of.microUsdc, bondMicroUsdc: of.bondMicroUsdc })
        return
      case 'returned':
        yield* giveBack.run({ ...deal, microUsdc: of.microUsdc, bondMicroUsdc: of.bondMicroUsdc })
        return
    }
  }

  return {
    *apply(request: {
      contract: string
      after: number | undefined
      to: number
      changes: readonly EscrowChange[]
      now: number
    }): Steps<boolean> {
      const { contract, after, to, changes, now } = request
      if ((yield* scannedTo(contract)) !== after) return false
      for (const one of changes) yield* change(contract, one, now)
      // Whether a new one was accepted meanwhile is read next, so that the deal of its file does not go back and forth.
      const moved = changes.filter(({ kind }) => kind !== 'proposed').map((one) => one.onchainId)
      for (const onchainId of new Set(moved)) yield* restatePieceOf({ contract, onchainId }, now)
      yield* setMark.run(scanMark(contract), String(to))
      return true
    },

    *checked(request: {
      contract: string
      onchainId: string
      state: EscrowState
      nextAt: number | null
      now: number
    }): Steps<void> {
      const { now, ...read } = request
      yield* check.run(read)
      yield* restatePieceOf(read, now)
    },

    /** Whether a transaction about this deal may begin. */
    *isFree({ contract, onchainId }: OnchainDealName): Steps<boolean> {
      return (yield* isFree.get(contract, onchainId)) !== undefined
    },

    *begin(tx: number, { contract, onchainId }: OnchainDealName): Steps<void> {
      yield* begin.run(tx, contract, onchainId)
    },

    /** What came of a transaction about a deal: it is looked at again now, or later when it was undone. Nothing happens for any other. */
    *end(tx: number, { succeeded, now }: { succeeded: boolean; now: number }): Steps<void> {
      const failures = yield* failuresOf.get(tx)
      if (failures === undefined) return
      if (succeeded) yield* succeed.run({ tx, at: now })
      else yield* fail.run({ tx, at: now + Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures) })
    },

    /** A transaction about a deal can take effect no more. */
    *release(tx: number): Steps<void> {
      yield* release.run(tx)
    },
  }
}
