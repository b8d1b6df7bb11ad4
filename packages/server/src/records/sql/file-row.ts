import { sha256Of } from '../object-handle.ts'
import type { FileCommit, FileEnd, FileRecord, FolderFacts, ObjectHandle, Visibility } from '../record-store.ts'

/** What every query of files selects from: a file beside its object. */
export const FILE_ROWS = 'files JOIN objects ON objects.id = files.object'

/** The columns of a {@link FileRow}. */
export const FILE_COLUMNS = 'files.*, objects.sha256 AS handle, objects.size_bytes, objects.piece_root'

/** A row of `files` with its object, as the engines give it. */
export interface FileRow {
  readonly sequence: number
  readonly object: number
  readonly principal: string
  readonly name: string
  readonly cid: string
  readonly handle: ObjectHandle
  readonly size_bytes: number
  readonly piece_root: Buffer | null
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
  readonly end: 'expired' | 'removed' | null
  readonly deal_id: string
  readonly charged_day: string
  readonly charged_bytes: number
  readonly composed_into: number | null
  readonly folder_files: number | null
  readonly folder_bytes: number | null
  readonly member_bytes: number
}

const OPAQUE = 'opaque:'

/** The opaque id of a content key; empty for a key that is verified. */
export function opaqueNameOf(key: string): string {
  return key.startsWith(OPAQUE) ? key.slice(OPAQUE.length) : ''
}

function canonicalKeyOf(name: string, handle: ObjectHandle): string {
  if (name !== '') return `${OPAQUE}${name}`
  return sha256Of(handle) === null ? handle : `sha256:${handle}`
}

/** The key of a row's file. */
export function keyOfRow({ name, handle }: Pick<FileRow, 'name' | 'handle'>): string {
  return canonicalKeyOf(name, handle)
}

/** How a row has ended. What became a part of another file has a column for that. */
export function endOf(row: Pick<FileRow, 'end' | 'composed_into'>): FileEnd | null {
  return row.composed_into === null ? row.end : 'composed'
}

/** What is in the folder that a row is; undefined for other files. */
export function folderFactsOf({ folder_files, folder_bytes, member_bytes }: FileRow): FolderFacts | undefined {
  return folder_files === null
    ? undefined
    : { files: folder_files, bytes: folder_bytes ?? 0, memberBytes: member_bytes }
}

/** What is stored for a file: its own object, and what is in it where it is a folder. */
export function storedBytesOf({ size_bytes, member_bytes }: Pick<FileRow, 'size_bytes' | 'member_bytes'>): number {
  return size_bytes + member_bytes
}

function factsOf({ files, bytes, memberBytes }: FolderFacts): FolderFacts {
  return { files, bytes, memberBytes }
}

/** The file that a commit recorded, as a read of it gives it. */
export function fileFromCommit({ file, content, folder }: FileCommit, sequence: number): FileRecord {
  const key = canonicalKeyOf(opaqueNameOf(file.key), file.sha256)
  const { claimDigest: _, ...recorded } = file
  return {
    ...recorded,
    key,
    object: file.sha256,
    pieceRoot: content.pieceRoot,
    sequence,
    endedAt: null,
    end: null,
    ...(folder !== undefined && { folder: factsOf(folder) }),
  }
}

export function fileFromRow(row: FileRow): FileRecord {
  const folder = folderFactsOf(row)
  return {
    sequence: row.sequence,
    principal: row.principal,
    key: canonicalKeyOf(row.name, row.handle),
    cid: row.cid,
    object: row.handle,
    sha256: sha256Of(row.handle),
    sizeBytes: row.size_bytes,
    pieceRoot: row.piece_root?.toString('hex') ?? null,
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
    end: endOf(row),
    dealId: row.deal_id,
    ...(folder !== undefined && { folder }),
  }
}
