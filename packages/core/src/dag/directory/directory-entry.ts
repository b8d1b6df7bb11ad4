import type { CID } from 'multiformats/cid'

/** What a path of a directory leads to. Paths have `/` between names, and none before the first or after the last. */
export type DirectoryEntry = FileEntry | FolderEntry | SymlinkEntry

/** A file that is imported already. */
export interface FileEntry {
  readonly path: string
  readonly kind: 'file'
  /** The root of the file, of any codec and version. */
  readonly cid: CID
  /** The bytes of all blocks of the file: its Tsize. Of a raw block, the size of the file. */
  readonly dagBytes: number
  readonly sizeBytes: number
}

/** A folder, which may be empty. Parent folders of an entry need no entry of their own. */
export interface FolderEntry {
  readonly path: string
  readonly kind: 'folder'
}

/** A symbolic link. Its target is stored as it is and never followed. */
export interface SymlinkEntry {
  readonly path: string
  readonly kind: 'symlink'
  readonly target: string
}
