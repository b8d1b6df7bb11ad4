import type { PutFolderOptions } from '../folder-options.ts'
import type { PutContext } from '../put/job.ts'
import type { OwnFiles } from '../put/own-files.ts'
import type { TaskGroup } from '../put/task-group.ts'
import type { FolderMeter } from './folder-meter.ts'
import type { KeptBytes } from './kept-bytes.ts'
import type { SourceFile } from './source-item.ts'

/** One put of a folder: what was asked for, read and with its defaults, and what keeps it together. */
export interface FolderJob extends PutContext {
  /** What it was called with. */
  readonly options: PutFolderOptions
  /** The headers that say how the folder is kept, and the files that are sent for it. */
  readonly keeping: Readonly<Record<string, string>>
  /** The header by which an account can claim it. */
  readonly claiming: Readonly<Record<string, string>>
  readonly concurrency: number
  readonly overDays: boolean
  readonly beforePart: (() => Promise<void>) | undefined
  readonly own: OwnFiles
  readonly meter: FolderMeter
  readonly kept: KeptBytes
  readonly group: TaskGroup
  /** Of the group. */
  readonly signal: AbortSignal
}

/** A file that the service does not have. */
export interface MissingFile {
  readonly cid: string
  readonly source: SourceFile
}
