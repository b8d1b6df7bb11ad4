import type { FileEnd, FileRecord, Visibility } from '../../record-store.ts'

/** What every query of files selects from: a file beside its object. */
export const FILE_ROWS = 'files JOIN objects ON objects.id = files.object'

/** The columns of a {@link FileRow}. */
export const FILE_COLUMNS = 'files.*, objects.sha256, objects.size_bytes'

/** A row of `files` with its object, as SQLite gives it. */
export interface FileRow {
  readonly sequence: number
  readonly object: number
  readonly principal: string
  readonly name: string
  readonly cid: string
  readonly sha256: string
  readonly size_bytes: number
  readonly content_type: string
  readonly filename: string | null
  readonly visibility: Visibility
  readonly owner: string | null
  readonly sponsored: number
  readonly verified: number
  readonly term_days: number
  readonly uploaded_at: number
  readonly expires_at: number
  readonly ended_at: number | null
  readonly end: FileEnd | null
  readonly deal_id: string
}

const OPAQUE = 'opaque:'

/** The opaque id of a content key; empty for a key that is a digest. */
export function opaqueNameOf(key: string): string {
  return key.startsWith(OPAQUE) ? key.slice(OPAQUE.length) : ''
}

export function fileFromRow(row: FileRow): FileRecord {
  return {
    sequence: row.sequence,
    principal: row.principal,
    key: row.name === '' ? `sha256:${row.sha256}` : `${OPAQUE}${row.name}`,
    cid: row.cid,
    sha256: row.sha256,
    sizeBytes: row.size_bytes,
    contentType: row.content_type,
    filename: row.filename,
    visibility: row.visibility,
    owner: row.owner,
    sponsored: row.sponsored === 1,
    verified: row.verified === 1,
    termDays: row.term_days,
    uploadedAt: row.uploaded_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at,
    end: row.end,
    dealId: row.deal_id,
  }
}
