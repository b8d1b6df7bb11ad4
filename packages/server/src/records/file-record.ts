import type { ObjectHandle } from './content-records.ts'

/** Who may download a file: anyone (`public`), or its owner and holders of a share link (`private`). */
export type Visibility = 'public' | 'private'

/** Why a file is no longer served. `composed`: it is a part of a composed file now. */
export type FileEnd = 'expired' | 'removed' | 'composed'

/** One caller's staging of an object. Never deleted, only ended, so that `/p/` can tell 410 from 404. */
export interface FileRecord {
  /** Grows with every file of the store; the order of staging. */
  readonly sequence: number
  readonly principal: string
  /**
   * The canonical content key: `opaque:<id>`, or whichever verified id it was staged under, `sha256:<hex>`; the piece key
   * where that is not known.
   */
  readonly key: string
  /** The cid as the first request sent it. */
  readonly cid: string
  readonly object: ObjectHandle
  /** Null for a composed object that nobody has read as a whole. */
  readonly sha256: string | null
  readonly sizeBytes: number
  /** The root of the piece tree; null while the bytes were last verified before pieces were recorded. */
  readonly pieceRoot: string | null
  readonly contentType: string
  readonly filename: string | null
  readonly visibility: Visibility
  /** The user's email; null for sponsored files. */
  readonly owner: string | null
  readonly sponsored: boolean
  readonly verified: boolean
  readonly termDays: number
  readonly uploadedAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
  readonly end: FileEnd | null
  readonly dealId: string
  /** What is in it, where it is a folder. */
  readonly folder?: FolderFacts
}

/** What is in a folder. */
export interface FolderFacts {
  readonly files: number
  /** The sizes of these files together. A file that is in it twice counts twice. */
  readonly bytes: number
  /** Stored for it beside its own object: the objects of its files, each once. Where it is 0, its own object has all of its blocks. */
  readonly memberBytes: number
}

/** A file before it is recorded. */
export interface NewFile extends Omit<FileRecord, 'sequence' | 'endedAt' | 'end' | 'pieceRoot' | 'object' | 'folder'> {
  /** Of a sponsored file: the sha2-256 of the secret that claims it, in hex. It is kept with the file, and never shown. */
  readonly claimDigest?: string | undefined
}
