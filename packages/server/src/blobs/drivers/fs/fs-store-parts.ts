import type { Files } from './files.ts'
import type { FsPendingDirectory } from './fs-pending-directory.ts'
import type { FsShards } from './fs-shards.ts'
import type { Syncs } from './syncs.ts'

/** The parts of a store on disk that its operations share. */
export interface FsStoreParts {
  readonly files: Files
  readonly syncs: Syncs
  /** The directory of the store. */
  readonly dir: string
  readonly shards: FsShards
  readonly pending: FsPendingDirectory
}
