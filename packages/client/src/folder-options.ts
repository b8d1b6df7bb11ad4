import type { UploadResult } from '@lade/core/wire'
import type { CallOptions } from './call-options.ts'
import type { PutOptions, PutState } from './put-options.ts'

/** Something in a folder. Paths have `/` between names, none before the first or after the last, and are below the folder. */
export type FolderItem =
  | { readonly path: string; readonly file: Blob }
  /** Only an empty folder needs an item of its own. */
  | { readonly path: string; readonly kind: 'folder' }
  /** Stored as a UnixFS symlink, and never followed. */
  | { readonly path: string; readonly kind: 'symlink'; readonly target: string }

/**
 * A folder: in Node its path; everywhere what is in it; in browsers also the `files` of an `<input webkitdirectory>`, whose paths are in the
 * files themselves. `droppedItems` makes items of what is dropped on a page.
 */
export type FolderSource = string | URL | Iterable<FolderItem | File> | AsyncIterable<FolderItem | File>

/** The part of a `DataTransfer` that `droppedItems` needs. */
export interface DroppedTransfer {
  readonly items: ArrayLike<{
    readonly kind: string
    getAsFile(): File | null
    webkitGetAsEntry?(): unknown
  }>
}

/** What was dropped on a page. */
export type DroppedItem =
  | { readonly kind: 'file'; readonly name: string; readonly file: File }
  | { readonly kind: 'folder'; readonly name: string; readonly items: readonly FolderItem[] }

export interface PutFolderOptions
  extends CallOptions,
    Pick<PutOptions, 'visibility' | 'termDays' | 'overDays' | 'claim' | 'beforePart'> {
  /** The name of the folder; null for none. @default the last part of a path, or the folder that was chosen in a browser */
  readonly filename?: string | null | undefined
  /** Of a path: takes files and folders whose names begin with a dot, too. @default false */
  readonly hidden?: boolean | undefined
  /** Of a path: called for what is left out. */
  readonly onLeftOut?: ((path: string, because: 'hidden' | 'special') => void) | undefined
  /** Requests side by side, 1 to 16. @default 4 */
  readonly concurrency?: number | undefined
  /** Called at most every 50 ms, and at every change of phase. An error that it throws ends the put with that error. */
  readonly onProgress?: ((progress: FolderProgress) => void) | undefined
  /**
   * Keeps the CIDs of the files by their size and times, so that the next put of the folder reads only what changed, and which files were sent
   * for a folder that is not made yet, so that they are not files by themselves in the end. One for each folder.
   */
  readonly state?: PutState | undefined
}

/** How far the put of a folder has come. No number ever becomes smaller, and no phase comes back. */
export interface FolderProgress {
  readonly phase: 'listing' | 'hashing' | 'sending' | 'done'
  /** Files of the folder, so far while it is being listed. */
  readonly files: number
  readonly sizeBytes: number
  /** Bytes whose CIDs are known. */
  readonly hashedBytes: number
  /** What the service does not have. It may turn out to be more. */
  readonly toSend: { readonly files: number; readonly bytes: number }
  readonly sent: { readonly files: number; readonly bytes: number }
}

/** A file, an empty folder or a symlink of a folder that was put. */
export type PutEntry = { readonly path: string } & (
  | { readonly kind: 'file'; readonly cid: string; readonly sizeBytes: number }
  | { readonly kind: 'folder' }
  | { readonly kind: 'symlink'; readonly target: string }
)

/** A folder that is stored: one file of its owner, with `kind` `folder`. */
export interface PutFolderResult extends UploadResult {
  readonly files: number
  /** Files that were sent now. A file that is there more than once is sent once. */
  readonly sentFiles: number
  readonly sentBytes: number
  /** All other files: the service had them. */
  readonly foundFiles: number
  /** What is in it, in the order in which it was found. */
  readonly entries: readonly PutEntry[]
}

export interface ReadFolderOptions extends CallOptions {
  /** A path in the folder. @default the folder itself */
  readonly path?: string | undefined
}

/** What is at a path, or below it. */
export type FolderNode = {
  /** The names that lead to it from where the reading began. They are as the folder has them: `..` and names with a slash may be among them. */
  readonly names: readonly string[]
  readonly cid: string
} & (
  | { readonly kind: 'file' /** Undefined where no block says it. */; readonly sizeBytes: number | undefined }
  | { readonly kind: 'folder' }
  | { readonly kind: 'symlink'; readonly target: string }
)

export interface EntriesOptions extends CallOptions {
  /** A path in the folder. @default the folder itself */
  readonly path?: string | undefined
  /** Entries a page, 1 to 1000. @default 100 */
  readonly limit?: number | undefined
}
