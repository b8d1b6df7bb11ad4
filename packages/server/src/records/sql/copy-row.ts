import type { CopyRecord, CopyState } from '../record-store.ts'

/** A row of `copies`, as the engine gives it. */
export interface CopyRow {
  readonly id: number
  readonly piece: number
  readonly prover: string
  readonly state: CopyState
  readonly attempts: number
  readonly rejections: number
  readonly next_at: number
  readonly data_set_id: string | null
  readonly piece_id: string | null
  readonly parked_at: number | null
  readonly stored_at: number | null
  readonly proved_at: number | null
  readonly retrievable_at: number | null
  readonly ended_at: number | null
  readonly cause: string | null
}

export function copyFromRow(row: CopyRow): CopyRecord {
  return {
    id: row.id,
    piece: row.piece,
    prover: row.prover,
    state: row.state,
    attempts: row.attempts,
    rejections: row.rejections,
    nextAt: row.next_at,
    dataSetId: row.data_set_id,
    pieceId: row.piece_id,
    parkedAt: row.parked_at,
    storedAt: row.stored_at,
    provedAt: row.proved_at,
    retrievableAt: row.retrievable_at,
    endedAt: row.ended_at,
    cause: row.cause,
  }
}
