import type { ContentView, ObjectHandle } from './content-records.ts'
import type { FileRecord, FolderFacts } from './file-record.ts'

/** An object that a folder needs, and how many of its entries lead to it. */
export interface FolderMember {
  readonly object: ObjectHandle
  readonly uses: number
}

/** What a folder has in it that is stored already. */
export interface FolderCommit extends FolderFacts {
  /** The objects of its files, and those with blocks of directories that it does not bring itself; each once. */
  readonly members: readonly FolderMember[]
  /** Members that were sent for it: the principal's own files of them end as `composed`. */
  readonly taken: readonly ObjectHandle[]
}

/**
 * Nothing was recorded. `gone`: members that the principal may not use, or that are not stored any more. `private`: members that
 * only the principal has, in a folder that is public.
 */
export interface UnusableMembers {
  readonly outcome: 'unusable_members'
  readonly gone: readonly ObjectHandle[]
  readonly private: readonly ObjectHandle[]
}

/** What a key names for whoever makes a folder. */
export type FoundMember =
  | {
      readonly outcome: 'found'
      readonly object: ObjectHandle
      /** How many bytes the object has. */
      readonly sizeBytes: number
      readonly view: ContentView
      /** The import profile by which a `dag-pb:` key names the object; undefined where it does not name it by an import. */
      readonly profile: string | undefined
      /** True where a file or a folder of the principal has it, so that it is not charged again. */
      readonly isOwn: boolean
      /** True where everybody is served it. */
      readonly isPublic: boolean
    }
  | { readonly outcome: 'missing' }

/**
 * Folders whose files are stored already.
 *
 * A folder is a file whose object has the blocks of its directories. The objects of its files are its members: they are kept, served and
 * found by their blocks for as long as a folder is live that has them, to whom that is served, whatever becomes of their own files.
 * `UploadCommit.folder` records one. It is charged its own object and the members that the principal has not got, each once; it counts as
 * stored with all its members.
 */
export interface FolderRecords {
  /** What the keys name, in their order: own files and members of own folders, and what is public. */
  find(request: {
    readonly principal: string
    readonly keys: readonly string[]
    readonly now: number
  }): Promise<readonly FoundMember[]>
  /** The members of the folder that has this object, each with its size. */
  membersOf(object: ObjectHandle): Promise<readonly (FolderMember & { readonly sizeBytes: number })[]>
  /** Live files that are CARs of other DAGs than files, of which nobody has counted what is in them; those after a sequence, in order. */
  uncounted(request: { readonly after: number; readonly limit: number }): Promise<readonly FileRecord[]>
  /** Says what is in a file that is a folder by itself. */
  setCounted(request: { readonly file: number; readonly files: number; readonly bytes: number }): Promise<void>
}
