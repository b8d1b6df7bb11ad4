import type { OpenUploadKind, OpenUploadRecord } from '../open-upload-records.ts'

export interface OpenUploadRow {
  readonly id: string
  readonly principal: string
  readonly tier: string
  readonly kind: OpenUploadKind
  readonly reservation: string
  readonly size_bytes: number | null
  readonly durable_bytes: number
  readonly head: string
  readonly metadata: string
  readonly place: string
  readonly writer: string | null
  readonly cid: string | null
  readonly expires_at: number
}

export function openUploadFromRow(row: OpenUploadRow): OpenUploadRecord {
  const { id, principal, tier, kind, head, metadata, place } = row
  return {
    id,
    principal,
    tier,
    kind,
    head,
    metadata,
    place,
    reservationId: row.reservation,
    sizeBytes: row.size_bytes ?? undefined,
    durableBytes: row.durable_bytes,
    writer: row.writer ?? undefined,
    cid: row.cid ?? undefined,
    expiresAt: row.expires_at,
  }
}
