import type { PutSource } from '../options.ts'
import type { KnownSource } from '../platform/known-source.ts'

/** A file of a folder that can be read, more than once. */
export interface SourceFile {
  readonly kind: 'file'
  readonly path: string
  readonly sizeBytes: number
  /** As `KnownSource.fingerprint`. */
  readonly fingerprint: string | undefined
  /** What a put of the file alone takes. */
  readonly source: PutSource
  open(): Promise<KnownSource>
  /** All bytes of a small file where there is a faster way than to open it; undefined where there is none now, or it has changed. */
  readAtOnce?(): Promise<Uint8Array<ArrayBuffer> | undefined>
}

/** Something in a folder that is put. */
export type SourceItem =
  | SourceFile
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }

/** A folder that is about to be listed. */
export interface OpenedFolder {
  readonly name: string | undefined
  readonly items: AsyncIterable<SourceItem> | Iterable<SourceItem>
}

/** What of a folder on disk is taken. */
export interface WalkOptions {
  readonly hidden: boolean
  readonly onLeftOut: ((path: string, because: 'hidden' | 'special') => void) | undefined
}
